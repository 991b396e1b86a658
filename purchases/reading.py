"""Reads a typed line as filters of the orders list: "50 ribu kasir 1 minggu lalu 02". Pure functions, both languages.

The search takes the words that are left.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from core.notation import split_number
from core.periods import Period

_PERIODS = {
    Period.TODAY: ("hari ini", "today"),
    Period.YESTERDAY: ("kemarin", "yesterday"),
    Period.DAYS_7: ("7 hari terakhir", "7 hari", "seminggu", "last 7 days", "7 days"),
    Period.WEEK: ("minggu ini", "this week"),
    Period.LAST_WEEK: ("1 minggu lalu", "seminggu lalu", "minggu lalu", "minggu kemarin", "1 week ago", "last week"),
    Period.DAYS_30: ("30 hari terakhir", "30 hari", "sebulan", "last 30 days", "30 days"),
    Period.MONTH: ("bulan ini", "this month"),
    Period.LAST_MONTH: ("1 bulan lalu", "bulan lalu", "bulan kemarin", "1 month ago", "last month"),
}
_UNITS = {"rb": 1_000, "ribu": 1_000, "ribuan": 1_000, "k": 1_000, "thousand": 1_000}
_UNITS |= {"jt": 1_000_000, "juta": 1_000_000, "m": 1_000_000, "million": 1_000_000}
_ABOVE = ("di atas", "diatas", "lebih dari", "minimal", "over", "above", "more than", "at least", ">")
_BELOW = ("di bawah", "dibawah", "kurang dari", "maksimal", "under", "below", "less than", "at most", "<")
_ENDS = ("berakhiran", "akhiran", "belakangnya", "belakang", "ends in", "ending in", "ending")
_CASHIER = ("kasir", "cashier", "oleh", "by")
_AMOUNT = re.compile(r"(?:rp\.?)?(\d{1,3}(?:\.\d{3})+|\d+(?:,\d+)?)(rb|ribu|ribuan|k|jt|juta)?")
_MONEY_BESIDE = re.compile(r"rp|rb|ribu|k$|jt|juta|\.\d{3}")
# Behind a brand or a category people leave the thousands out.
_SHORT_AMOUNTS = frozenset({5, 10, 15, 20, 25, 30, 40, 50, 60, 75, 80, 100, 150, 200, 250, 300, 500})
_LONGEST_NAME = 5  # words


@dataclass(frozen=True)
class Names:
    """What people call the values of a filter: the filter → the name without spaces, in small letters → the value."""

    of: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass
class _Line:
    words: list[str]
    found: dict[str, str] = field(default_factory=dict)
    rest: list[str] = field(default_factory=list)

    def take(self, *phrases: str) -> bool:
        """Whether one of the phrases comes next; it is taken then."""
        for phrase in phrases:
            parts = phrase.split()
            if self.words[: len(parts)] == parts:
                del self.words[: len(parts)]
                return True
        return False


def read_line(text: str, names: Names, *, with_endings: bool = True) -> tuple[dict[str, str], str]:
    """The filters that the line names, and the words that stay. A line of one number, ref_id or SN names none.

    `with_endings`: digits may be the end of a number; not for people who may not see numbers.
    """
    number, others = split_number(text)
    if re.fullmatch(r"[\d\s-]*", others):  # a number, or a token in its groups
        return {}, text
    line = _Line(others.lower().split())
    while line.words:
        if not (
            _take_name(line, names)
            or _take_period(line)
            or _take_limit(line)
            or _take_amount(line, is_behind_name="brand" in line.found or "category" in line.found)
            or (with_endings and _take_ending(line, has_others=len(line.found) + len(others.split()) > 1))
        ):
            line.rest.append(line.words.pop(0))
    if not line.found:
        return {}, text
    return line.found, " ".join([*([number] if number else []), *line.rest])


def _take_name(line: _Line, names: Names) -> bool:
    """A cashier, brand, category, status or way to pay; the longest name counts."""
    for count in range(min(_LONGEST_NAME, len(line.words)), 0, -1):
        wanted = "".join(line.words[:count])
        for name, values in names.of.items():
            if name not in line.found and wanted in values:
                line.found[name] = values[wanted]
                del line.words[:count]
                return True
    if line.words[0] in _CASHIER and len(line.words) > 1:  # "kasir sari"; the word alone says nothing
        cashiers = names.of.get("cashier", {})
        if any("".join(line.words[1 : 1 + count]) in cashiers for count in range(1, _LONGEST_NAME)):
            del line.words[0]
            return _take_name(line, Names({"cashier": cashiers}))
    return False


def _take_period(line: _Line) -> bool:
    for period, phrases in _PERIODS.items():
        if "days" not in line.found and line.take(*phrases):
            line.found["days"] = period.value
            return True
    return False


def _take_limit(line: _Line) -> bool:
    """ "di atas 100 ribu", "under 1 jt"."""
    for side, phrases in (("amount_from", _ABOVE), ("amount_to", _BELOW)):
        for phrase in phrases:
            parts = phrase.split()
            if line.words[: len(parts)] == parts and (amount := _amount_at(line.words[len(parts) :], is_sure=True)):
                line.found[side] = str(amount[0])
                del line.words[: len(parts) + amount[1]]
                return True
    return False


def _take_amount(line: _Line, *, is_behind_name: bool) -> bool:
    """An amount, about: the customer's price is not the product's. "10rb - 20rb" is from and to."""
    amount = _amount_at(line.words, is_sure=False, is_behind_name=is_behind_name)
    if not amount or "amount_from" in line.found:
        return False
    least, count = amount
    most, least = least + least // 10, least - least // 10
    if line.words[count : count + 1] in (["-"], ["sampai"], ["to"], ["s/d"]):
        upper = _amount_at(line.words[count + 1 :], is_sure=True)
        if upper:
            least, most, count = amount[0], upper[0], count + 1 + upper[1]
    line.found |= {"amount_from": str(least), "amount_to": str(most)}
    del line.words[:count]
    return True


def _amount_at(words: list[str], *, is_sure: bool, is_behind_name: bool = False) -> tuple[int, int] | None:
    """The amount that the first words say, in rupiah, and how many words they are; None for digits that may be others.

    `is_sure`: the words before say that it is money.
    """
    if words[:1] == ["rp"]:
        behind = _amount_at(words[1:], is_sure=True)
        return (behind[0], behind[1] + 1) if behind else None
    match = _AMOUNT.fullmatch(words[0]) if words else None
    if not match:
        return None
    digits, unit, count = match[1], match[2] or "", 1
    if not unit and len(words) > 1 and words[1] in _UNITS:
        unit, count = words[1], 2
    value = float(digits.replace(".", "").replace(",", "."))
    if not unit and is_behind_name and value in _SHORT_AMOUNTS:
        unit = "rb"
    if not (unit or is_sure or _MONEY_BESIDE.search(words[0])):
        return None
    amount = round(value * _UNITS.get(unit, 1))
    return (amount, count) if 0 < amount < 10**12 else None


def _take_ending(line: _Line, *, has_others: bool) -> bool:
    """ "akhiran 02", "…02"; two to four digits alone among other words."""
    for phrase in _ENDS:
        parts = phrase.split()
        behind = line.words[len(parts) : len(parts) + 1]
        if line.words[: len(parts)] == parts and behind and re.fullmatch(r"\d{1,12}", behind[0]):
            line.found["ends"] = behind[0]
            del line.words[: len(parts) + 1]
            return True
    match = re.fullmatch(r"(…|\.\.\.?|\*)?(\d{2,4})", line.words[0])
    if match and (match[1] or has_others) and "ends" not in line.found:
        line.found["ends"] = match[2]
        del line.words[0]
        return True
    return False
