"""The text of the one field: a number, then a letter for the shelf, then a denomination or words; or a name."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum

from catalogue.destinations import GAME_ZONE, PHONE
from core.notation import as_if_typed, at_home, in_groups, split_number

# The number of a bill, a meter or a card: the fewest digits in one piece, the most in groups, and the longest group.
_LEAST_IN_ONE, _MOST_IN_GROUPS, _LONGEST_GROUP = 8, 11, 5
_LONGEST_PHONE = 13
# The most digits of a number, and the fewest with which a word after it is another number: 10.000.000 is an amount.
_LONGEST, _LEAST_OF_ANOTHER = 20, 9
# A phone number with a character in it that is not a digit, such as the letter O.
_WRONG_SIGN = re.compile(
    r"(?:\+?62|0)8[\d.\- ]*(?:(?<=\d)([a-z])[\w.\-]*|(o)[\w.\-]*\d[\w.\-]*)(?:\s.*)?", re.ASCII | re.IGNORECASE
)
_DIGITS = re.compile(r"\d[\d.\-]*")
_NAME_AND_AMOUNT = re.compile(r"(\D{2,}?)((?:\s[pdt]\s*)?[1-9].*)", re.IGNORECASE)
_LETTER_OF_A_SHELF = re.compile(r"([pdtlba])(?:\s+(.*)|(\d.*)|)", re.IGNORECASE | re.DOTALL)
# The number of a bill with the letter at once behind it: "0812345b".
_LETTER_AT_ONCE = re.compile(r"\s*(\+?[\d.\-() ]*\d{2})b\s*", re.ASCII | re.IGNORECASE)
# "S10.0812…", as it is sent to a server by SMS: the number says whose 10 it is.
_BY_SMS = re.compile(r"\s*(?:s|i|x|t|a|ax|sm)?(\d{1,3})\.(?=0?8\d{8}|628\d{8})(\d+)\s*", re.IGNORECASE)
# After words: a meter or an account in one piece (10.000.000 is an amount), a zone after it, or groups of four.
_IN_ONE_PIECE = re.compile(r"\d{11,20}|(?!\d*0000$)\d{8,10}|[1-9]\d{5,11}[.-]\d{3,6}")
_ZONE, _GROUP, _LAST_GROUP = re.compile(r"\(?\d{4,5}\)?"), re.compile(r"\d{4}"), re.compile(r"\d{3,4}")
# Only the account of a game is written so: 12345678 (2001), 12345678/2001.
_ACCOUNT_AND_ZONE = re.compile(
    r"(?<![^\s])(?:([1-9]\d{3,11})\s*\(\s*(\d{3,6})\s*\)|([1-9]\d{5,11})\s*/\s*(\d{3,6}))(?![^\s,;])", re.ASCII
)
_ZONE_AMONG_WORDS = re.compile(r"\((\d{3,6})\)|(\d{4,5})", re.ASCII)
_GROUPS_OF_A_METER = 3
_METERS = range(11, 13)
_TOKENS_AND_BILLS = range(11, 14)


class Shelf(StrEnum):
    """A tab. Its letter, typed after the number, opens it."""

    CREDIT = "p"
    DATA = "d"
    CALLS = "t"
    POWER = "l"
    BILL = "b"
    ALL = "a"


@dataclass(frozen=True)
class Typed:
    """The field's text. `number`: its digits as typed, "" for a name or words; `words`: the text after it.

    `zone`: the zone of a game, if the number can only be an account with a zone: "12345678 (2001)".
    """

    text: str
    number: str = ""
    is_phone: bool = False
    shelf: Shelf | None = None
    words: str = ""
    zone: str = ""

    @classmethod
    def read(cls, text: str) -> Typed:
        """The text in its parts; an incomplete number counts as a number, too."""
        text = as_if_typed(text)
        if bill := _bill_at_once(text):
            return bill
        if by_sms := _BY_SMS.fullmatch(text):
            number, words = by_sms[2], by_sms[1]
        else:
            number, words = split_number(text)
        zone = ""
        if pair := _account_and_zone(text, number):
            number, zone, words = pair
        is_phone = bool(number) and not zone and len(at_home(number)) <= _LONGEST_PHONE
        if not number:
            number, words = _split_after_words(text) or _split_digits(text)
        shelf = None
        if number and (match := _LETTER_OF_A_SHELF.fullmatch(words.strip())):
            shelf, words = Shelf(match[1].lower()), match[2] or match[3] or ""
        return cls(text, number, is_phone, shelf, words.strip(), zone)

    @property
    def wrong_sign(self) -> str:
        """The letter that stands where a phone number has digits; "" without one."""
        match = None if self.bare else _WRONG_SIGN.fullmatch(self.text.strip())
        return (match[1] or match[2]) if match else ""

    @property
    def strange_prefix(self) -> str:
        """The first digits of a number that looks like a phone number but has no operator; "" for all others."""
        return self.bare[:4] if self.bare.startswith("0") and not self.is_phone else ""

    @property
    def bare(self) -> str:
        """The number as it would be stored; "" while it is not complete."""
        if self.zone:
            return GAME_ZONE.read(self.number)
        if not self.is_phone:
            digits = re.sub(r"\D", "", self.number)
            return digits if len(digits) >= _LEAST_IN_ONE else ""
        return PHONE.read(self.number)

    @property
    def has_several_numbers(self) -> bool:
        """Whether it holds more than one number; each has to be typed separately."""
        others = [re.sub(r"\D", "", word) for word in re.split(r"[\s,;]+", self.words)]
        longest = max(len(digits) for digits in [*others, ""])
        return bool(self.number) and (longest >= _LEAST_OF_ANOTHER or len(re.sub(r"\D", "", self.number)) > _LONGEST)

    @property
    def shown(self) -> str:
        """The complete number in groups of four, an account with its zone as games show it; "" while not complete."""
        return self.number if self.zone else in_groups(self.bare, " ")

    @property
    def may_be_meter(self) -> bool:
        """Whether a token may be sold for it."""
        return not self.zone and len(self.bare) in _METERS

    @property
    def has_amount_alone(self) -> bool:
        """Whether only digits follow the number: an amount, or the zone of a game."""
        return bool(self.words) and not any(letter.isalpha() for letter in self.words)

    @property
    def name_and_amount(self) -> tuple[str, str]:
        """A name and the amount after it, without a number: "sari 10" → "sari", "10"; twice "" if it is not both."""
        match = None if self.number else _NAME_AND_AMOUNT.fullmatch(self.words)
        return (match[1].strip(), match[2].strip()) if match else ("", "")

    @property
    def zone_in_words(self) -> str:
        """The only word after an account that may be its zone; "" for none, or several."""
        zones = [other.zone for other in self.with_zones]
        return zones[0] if len(zones) == 1 else ""

    @property
    def with_zones(self) -> list[Typed]:
        """The text with one of its words as the account's zone: "12345678 2001 mlbb 86", "12345678 mlbb 86 (2001)"."""
        words, others = self.words.split(), []
        if self.is_phone or self.zone:
            return []
        for at, word in enumerate(words):
            match = _ZONE_AMONG_WORDS.fullmatch(word)
            if match and GAME_ZONE.read(number := f"{self.number} ({match[1] or match[2]})"):
                rest = " ".join([*words[:at], *words[at + 1 :]])
                others.append(replace(self, number=number, zone=match[1] or match[2], words=rest))
        return others

    @property
    def may_be_name(self) -> bool:
        """Whether it may be a customer's name: words without digits."""
        return not self.number and not self.wrong_sign and not any(letter.isdigit() for letter in self.words)

    @property
    def offers_power(self) -> bool:
        """Whether it may be an electricity number: then both token and bill are offered."""
        return not self.zone and len(self.bare) in _TOKENS_AND_BILLS

    def on(self, shelf: Shelf) -> str:
        """The text that opens another tab for this number."""
        return f"{self.shown if self.zone else self.bare or self.number} {shelf.value} "


def _bill_at_once(text: str) -> Typed | None:
    """A complete number with B directly behind it, as its bill; None for everything else."""
    match = _LETTER_AT_ONCE.fullmatch(text)
    if not match or _BY_SMS.fullmatch(match[1]):
        return None
    bill = Typed.read(f"{match[1]} {Shelf.BILL}")
    is_whole = bill.shelf is Shelf.BILL and bill.bare and not (bill.words or bill.zone)
    return replace(bill, text=text) if is_whole else None


def _account_and_zone(text: str, phone: str) -> tuple[str, str, str] | None:
    """An account with its zone, the zone, and all other words; None for a phone number, or without an account."""
    match = None if phone.startswith(("0", "+")) or PHONE.read(phone) else _ACCOUNT_AND_ZONE.search(text)
    if not match:
        return None
    zone = match[2] or match[4]
    return f"{match[1] or match[3]} ({zone})", zone, " ".join(f"{text[: match.start()]} {text[match.end() :]}".split())


def _split_after_words(text: str) -> tuple[str, str] | None:
    """A number after words, and all other words: "mlbb 86 12345678 2001" → "12345678 2001", "mlbb 86"."""
    words = text.split()
    start = next((at for at, word in enumerate(words) if at and _IN_ONE_PIECE.fullmatch(word)), 0)
    end = start + 1
    if start and len(words[start]) < _MOST_IN_GROUPS and end + 1 == len(words) and _ZONE.fullmatch(words[end]):
        end += 1
    elif not start and _LAST_GROUP.fullmatch(words[-1] if words else ""):
        start, end = len(words) - 1, len(words)
        while start > 1 and end - start < _GROUPS_OF_A_METER and _GROUP.fullmatch(words[start - 1]):
            start -= 1
        start = start if end - start == _GROUPS_OF_A_METER else 0
    return (" ".join(words[start:end]), " ".join([*words[:start], *words[end:]])) if start else None


def _split_digits(text: str) -> tuple[str, str]:
    """A number at the start of the text, and the words after it: "1234 5678 901 50" → "1234 5678 901", "50"."""
    words = text.split()
    taken: list[str] = []
    count = 0
    for word in words:
        digits = len(re.sub(r"\D", "", word))
        if not _DIGITS.fullmatch(word) or (taken and digits > _LONGEST_GROUP):
            break
        taken.append(word)
        count += digits
        if count >= _MOST_IN_GROUPS or (len(taken) == 1 and count >= _LEAST_IN_ONE):
            break
    # A few digits before words are not a number: "86 diamonds".
    if len(taken) < len(words) and count < _LEAST_IN_ONE:
        return "", text
    return " ".join(taken), " ".join(words[len(taken) :])
