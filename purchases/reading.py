"""Reads a typed line as filters of the orders list: "50 ribu kasir 1 minggu lalu 02". Pure functions, both languages.

The search takes the words that are left.
"""

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from core.notation import split_number
from purchases.reading_days import days_at

_UNITS = {"rb": 1_000, "ribu": 1_000, "ribuan": 1_000, "k": 1_000, "thousand": 1_000}
_UNITS |= {"jt": 1_000_000, "juta": 1_000_000, "m": 1_000_000, "million": 1_000_000}
_ABOVE = ("di atas", "diatas", "lebih dari", "minimal", "over", "above", "more than", "at least", ">")
_BELOW = ("di bawah", "dibawah", "kurang dari", "maksimal", "under", "below", "less than", "at most", "<")
_ABOUT = (
    *("kira-kira", "kira kira", "kurang lebih", "sekitaran", "sekitar", "kisaran"),
    *("about", "around", "roughly", "approximately", "circa", "±", "~"),
)
# These are never searched for; the other words in `_ABOUT` may be part of a name: "sekitar pasar".
_VAGUE = ("kira-kira", "kira kira", "kurang lebih", "more or less", "roughly", "approximately", "circa", "±", "~")
_OR_SO = re.compile(r"(?<!\S)or so(?!\S)")
_BETWEEN = ("antara", "between")
_FROM = ("dari", "mulai", "from")
_TO = ("-", "–", "sampai", "hingga", "to", "s/d", "sd")
_AND = ("dan", "and")
_ENDS = re.compile(
    r"(?:(?:number|nomor|nomornya|no|hp) )?"
    r"(?:berakhiran|berakhir|akhirannya|akhiran|akhir|belakangnya|belakang|ujungnya|ujung|ends|ended|ending)"
    r"(?: (?:in|with|di|dengan|nomor))? (\d{1,12})(?!\S)"
)
#: What people say before a cashier's name.
CASHIER = ("kasir", "cashier", "oleh", "by")
# An amount after one of these is not a price.
_PROFIT = ("untung", "keuntungan", "laba", "profit", "margin")
_TITLES = {
    "cashier": CASHIER,
    "drawer": ("laci", "drawer"),
    "branch": ("cabang", "branch"),
    "customer": ("pelanggan", "customer"),
    "profit": _PROFIT,
}
# Beside filters these are never searched for.
_FILLERS = {"sold", "dijual", "terjual", "by", "oleh", "the", "yang", "which", "number", "nomor", "nomornya"}
# Words that only join others: if nothing else is left of a line, they are not searched for.
_LITTLE = {*_FILLERS, "dan", "and", "di", "pada", "on", "in", "dengan", "with", "untuk", "for"}
_LITTLE |= {"dari", "from", "transaksi", "pesanan", "order", "orders", "harga", "price"}
_LITTLE |= {"&", "+", "-"}
_WHOLE = r"[1-9]\d{0,2}(?:\.\d{3})+(?:,\d\d?)?|[1-9]\d{0,2}(?:,\d{3})+(?:\.\d\d?)?"
_AMOUNT = re.compile(rf"(?:rp\.?)?({_WHOLE}|\d+(?:[.,]\d+)?)(rb|ribu|ribuan|k|jt|juta)?")
_MONEY_BESIDE = re.compile(r"rp|rb|ribu|k$|jt|juta|^[1-9]\d{0,2}[.,]\d{3}")
_LEAST_WRITTEN_OUT, _MOST = 1_000, 10**12  # rupiah
# Digits without a unit: a price of five to seven digits is round, and the end of a number hardly ever is.
_PLAIN, _ROUND = re.compile(r"[1-9]\d{4,6}"), 500
_SOME = re.compile(r"(?<!\S)(\d+)-?an(?= ?(?:ribu|rb|juta|jt)(?!\S))", re.IGNORECASE)  # "50an ribu"
# Punctuation between words; not inside an amount, as in 50.000, 50,000 and Rp50.000,00.
_BETWEEN_WORDS = re.compile(r",-(?!\S)|;|(?<!\d),|,(?!\d)|[.:!?]+(?!\S)|(?<!\S)[\"“”'()]+|[\"“”'()]+(?![^\s,;.])")
# After a brand or a category, people leave out the thousands.
_SHORT_AMOUNTS = frozenset({5, 10, 15, 20, 25, 30, 40, 50, 60, 75, 80, 100, 150, 200, 250, 300, 500})
_SHORT_PRICES = frozenset(map(str, _SHORT_AMOUNTS))
_LONGEST_NAME = 5  # words
AMOUNTS = frozenset({"amount_from", "amount_to"})
# A single word is not read as a name of these, but searched for.
_OF_WORDS = {"customer", "product"}


def as_words(text: str) -> str:
    """The text without the punctuation between its words."""
    return " ".join(_BETWEEN_WORDS.sub(" ", _SOME.sub(r"\1", re.sub(r"\((\+?\d+)\)", r"\1 ", text))).split())


def name_key(name: str) -> str:
    """A name as `Names` keep it: in lower case, without spaces and punctuation."""
    return "".join(as_words(name).lower().split())


@dataclass(frozen=True)
class Names:
    """People's names for the values of filters: the filter → the name (`name_key`) → the value.

    A customer's name of one word counts only if it is the only word left.
    """

    of: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass
class _Line:
    words: list[str]
    today: dt.date
    found: dict[str, str] = field(default_factory=dict)
    rest: list[str] = field(default_factory=list)
    # The digits that were read as an ending though no word says so
    bare_ending: str = ""


def read_line(text: str, names: Names, *, today: dt.date, with_endings: bool = True) -> tuple[dict[str, str], str]:
    """The filters that the line names, and the remaining words. A line of one number, ref_id or SN names none.

    `with_endings`: digits may be the end of a number; not for people who may not see numbers.
    """
    number, others = split_number(as_words(text))
    line = _Line(_OR_SO.sub("", others.lower()).split(), today)
    has_others = len(line.words) > 1
    # A number, or a token in its groups; a date has dashes, too.
    if re.fullmatch(r"[\d\s-]*", others) and not (_take_days(line) and not line.words):
        price, end = line.words if len(line.words) == 2 and not number else ("", "")
        if with_endings and _is_plain_price(price) and re.fullmatch(r"\d{2,4}", end):
            return {**about(int(price)), "ends": end}, ""
        return {}, text
    about_what: list[str] = []
    while line.words:
        if (
            _take_days(line)
            or (with_endings and _take_named_ending(line))  # "ended" alone is a status
            or _take_name(line, names)
            or _leave_profit(line)
            or _take_between(line)
            or _take_limit(line)
            or _take_about(line)
            or _take_amount(line, is_behind_name="brand" in line.found or "category" in line.found)
            or (with_endings and _take_ending(line, has_others=has_others))
        ):
            about_what = []
        elif phrase := _phrase_at(line.words, (*_VAGUE, *_ABOUT)):
            del line.words[: len(phrase.split())]
            about_what += [] if phrase in _VAGUE else phrase.split()
        else:
            line.rest += [*about_what, line.words.pop(0)]
            about_what = []
    _take_plain_price(line)
    left = [word for word in line.rest if word not in _FILLERS or word in CASHIER]
    customer = names.of.get("customer", {}).get(left[0]) if len(left) == 1 else None
    if customer and "customer" not in line.found:
        line.found["customer"], line.rest = customer, []
    if not line.found:
        return {}, text
    rest = [] if _LITTLE.issuperset(line.rest) else [word for word in line.rest if word not in _FILLERS]
    return line.found, " ".join([*([number] if number else []), *rest])


def _take_name(line: _Line, names: Names) -> bool:
    """A cashier, brand, category, product, status or way to pay; the longest name counts."""
    for count in range(min(_LONGEST_NAME, len(line.words)), 0, -1):
        wanted = "".join(line.words[:count])
        for name, values in names.of.items():
            if name not in line.found and wanted in values and (count > 1 or name not in _OF_WORDS):
                line.found[name] = values[wanted]
                del line.words[:count]
                return True
    for name, titles in _TITLES.items():  # "kasir sari", "laci depan"; the word alone says nothing
        called = names.of.get(name, {})
        if name in line.found or line.words[0] not in titles:
            continue
        for count in range(_LONGEST_NAME, 0, -1):
            if value := called.get("".join(line.words[1 : 1 + count])):
                line.found[name] = value
                del line.words[: 1 + count]
                return True
    return False


def _leave_profit(line: _Line) -> bool:
    """ "untung di bawah 500": a profit is not a price, so the words stay together for the search."""
    behind = _Line(line.words[1:], line.today)
    if line.words[0] not in _PROFIT or not behind.words:
        return False
    if not (_take_between(behind) or _take_limit(behind) or _take_about(behind)):
        number = _number_at(behind.words)
        if not number:
            return False
        del behind.words[: number.count]
    count = len(line.words) - len(behind.words)
    line.rest.append(" ".join(line.words[:count]))
    del line.words[:count]
    return True


def _take_days(line: _Line) -> bool:
    days = days_at(line.words, line.today)
    if not days or not line.found.keys().isdisjoint({"days", "since", "until"}):
        return False
    line.found |= days[0]
    del line.words[: days[1]]
    return True


def _take_between(line: _Line) -> bool:
    """ "10rb - 20rb", "20-50 ribu", "antara 20rb dan 50rb", "from 20 to 50 thousand": from and to."""
    before = 1 if line.words[0] in {*_BETWEEN, *_FROM} else 0
    links = {*_TO, *_AND} if line.words[0] in _BETWEEN else {*_TO}
    words, joined = line.words[before:], 0
    if words and (parts := re.fullmatch(r"((?:rp\.?)?\d[\d.,]*[a-z]*)[-–]((?:rp\.?)?\d[\d.,]*[a-z]*)", words[0])):
        words, joined = [parts[1], "-", parts[2], *words[1:]], 2
    lower = _number_at(words)
    if not lower or "amount_from" in line.found or not {*words[lower.count : lower.count + 1]} & links:
        return False
    upper = _number_at(words[lower.count + 1 :])
    if not upper or not (upper.is_money or lower.is_money or before):
        return False
    # "20 sampai 50 ribu": one unit for both; "antara 20 dan 50" without any means thousands, too.
    unit = upper.unit or lower.unit or _UNITS["rb"]
    amounts = sorted(number.in_rupiah(unit) for number in (lower, upper))
    line.found |= {"amount_from": str(amounts[0]), "amount_to": str(amounts[1])}
    del line.words[: before + lower.count + 1 + upper.count - joined]
    return True


def _take_limit(line: _Line) -> bool:
    """ "di atas 100 ribu", "under 1 jt"."""
    for side, phrases in (("amount_from", _ABOVE), ("amount_to", _BELOW)):
        for phrase in phrases:
            parts = phrase.split()
            if line.words[: len(parts)] == parts and (number := _number_at(line.words[len(parts) :])):
                line.found[side] = str(number.in_rupiah())
                del line.words[: len(parts) + number.count]
                return True
    return False


def _take_about(line: _Line) -> bool:
    """ "sekitar 50 ribu", "~50rb"; a small number without a unit means thousands: "about 50"."""
    for phrase in _ABOUT:
        parts = phrase.split()
        words = line.words[len(parts) :]
        if phrase in {"±", "~"} and line.words[0].startswith(phrase) and line.words[0] != phrase:
            words = [line.words[0].removeprefix(phrase), *line.words[1:]]
        elif line.words[: len(parts)] != parts:
            continue
        if (number := _number_at(words)) and "amount_from" not in line.found:
            line.found |= about(number.in_rupiah(_UNITS["rb"]))
            line.words[:] = words[number.count :]
            return True
    return False


def _phrase_at(words: list[str], phrases: Sequence[str]) -> str:
    """The phrase with which the words begin; "" for none."""
    return next((phrase for phrase in phrases if words[: len(phrase.split())] == phrase.split()), "")


def about(amount: int) -> dict[str, str]:
    """The filters for a price within 10 % of this amount (rupiah)."""
    return {"amount_from": str(amount - amount // 10), "amount_to": str(amount + amount // 10)}


def _take_amount(line: _Line, *, is_behind_name: bool) -> bool:
    """An amount, read as a range around it: the customer's price differs from the amount in the product's name."""
    number = _number_at(line.words)
    if not number or "amount_from" in line.found:
        return False
    is_short = is_behind_name and not number.unit and number.value in _SHORT_AMOUNTS
    if not (number.is_money or is_short):
        return False
    amount = number.in_rupiah(_UNITS["rb"] if is_short else 1)
    line.found |= about(amount)
    del line.words[: number.count]
    return True


def _is_plain_price(word: str) -> bool:
    return bool(_PLAIN.fullmatch(word)) and int(word) % _ROUND == 0


def _take_plain_price(line: _Line) -> None:
    """ "52000 kemarin", "52000 kemarin 02": beside days or an ending, round digits are a price."""
    if line.found.keys().isdisjoint({"days", "since", "until", "ends"}) or AMOUNTS & line.found.keys():
        return
    for at, word in enumerate(line.rest):
        if _is_plain_price(word):
            line.found |= about(int(word))
            del line.rest[at]
            return


def plain_price(text: str, filters: Mapping[str, str]) -> str:
    """The digits that `read_line` took for a price, though they may be the end of a number; "" if there are none."""
    amounts = {name: value for name, value in filters.items() if name in AMOUNTS}
    words = as_words(text).split() if "ends" not in filters else []
    return next((word for word in words if _is_plain_price(word) and about(int(word)) == amounts), "")


@dataclass(frozen=True)
class _Number:
    """`unit`: in rupiah, 0 without one. `count`: how many words it takes. `is_money`: whether "rp", a unit or its
    thousands say so.
    """

    value: float
    unit: int
    count: int
    is_money: bool

    def in_rupiah(self, unit: int = 1) -> int:
        """The amount; `unit` applies to a small number without a unit of its own."""
        return round(self.value * (self.unit or (unit if self.value < _LEAST_WRITTEN_OUT else 1)))


def _number_at(words: list[str]) -> _Number | None:
    """The number with which the words begin, with its "rp" and unit; None without one."""
    if words[:1] == ["rp"]:
        behind = _number_at(words[1:])
        return replace(behind, count=behind.count + 1, is_money=True) if behind else None
    match = _AMOUNT.fullmatch(words[0]) if words else None
    if not match:
        return None
    digits, unit, count = match[1], match[2] or "", 1
    if not unit and len(words) > 1 and words[1] in _UNITS:
        unit, count = words[1], 2
    is_money = bool(unit or _MONEY_BESIDE.search(words[0]))
    value, scale = _value(digits, has_unit=bool(unit)), _UNITS.get(unit, 0)
    return _Number(value, scale, count, is_money) if 0 < value * (scale or 1) < _MOST else None


def _value(digits: str, *, has_unit: bool) -> float:
    """50.000, 50,000 and 50.000,00 are fifty thousand; 1,5 and 1.5 and, before a unit, 1,500 are one and a half."""
    if re.fullmatch(r"\d+,\d{3}", digits) and has_unit:
        return float(digits.replace(",", "."))
    if not re.fullmatch(_WHOLE, digits):
        return float(digits.replace(",", "."))
    whole, _, part = digits.partition("," if digits.find(".") in {1, 2, 3} else ".")
    return float(f"{re.sub('[.,]', '', whole)}.{part or 0}")


def _take_named_ending(line: _Line) -> bool:
    """ "akhiran 02", "number ended in 02"."""
    said = _ENDS.match(" ".join(line.words[:5]))
    if not said or ("ends" in line.found and not _is_price_after_all(line)):
        return False
    line.found["ends"] = said[1]
    del line.words[: len(said[0].split())]
    return True


def _take_ending(line: _Line, *, has_others: bool) -> bool:
    """ "…02"; two to four digits alone among other words. Of two, a usual amount in thousands is the price."""
    match = re.fullmatch(r"(…|\.\.\.?|\*)?(\d{2,4})", line.words[0])
    if not match or not (match[1] or has_others):
        return False
    if "ends" not in line.found or _is_price_after_all(line):
        line.found["ends"], line.bare_ending = match[2], "" if match[1] else match[2]
    elif not match[1] and _is_short_price(line, match[2]):
        line.found |= about(int(match[2]) * _UNITS["rb"])
    else:
        return False
    del line.words[0]
    return True


def _is_short_price(line: _Line, digits: str) -> bool:
    return digits in _SHORT_PRICES and AMOUNTS.isdisjoint(line.found)


def _is_price_after_all(line: _Line) -> bool:
    """ "50 last week 02": the digits that were read as an ending become the price, if they can be one."""
    if not _is_short_price(line, line.bare_ending):
        return False
    line.found |= about(int(line.bare_ending) * _UNITS["rb"])
    del line.found["ends"]
    line.bare_ending = ""
    return True
