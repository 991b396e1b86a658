"""One number in any notation: "0812…", "62812…", "+62 812…" and "0062812…" are the same. Pure functions."""

import re
import unicodedata

_COUNTRY = re.compile(r"^(?:00)?620?(?=8)")
_COUNTRY_APART = re.compile(r"(?<!\S)(\+?62)\s+(?=8\d\d)")
# A number that is being typed: enough of it to know the operator. 62.800 and 628000 are money.
_BEGINS_A_NUMBER = re.compile(r"(?:\+|00)62[.-]?8|(?!62\.?8\d?00$)62[.-]?8\d\d|08\d\d")
_IN_BRACKETS = re.compile(r"\((\+?62|0?8\d\d)\)")
_PART_OF_A_NUMBER = re.compile(r"\+?[\d.\-]+")
_LEAST_DIGITS = 10
_LONGEST_GROUP = 4


def bare(text: str) -> str:
    """The letters and digits of a text."""
    return "".join(letter for letter in text if letter.isalnum())


def without_marks(text: str) -> str:
    """The text without marks that nobody sees: phones and messengers put them around the numbers that people copy."""
    return "".join(sign for sign in text if unicodedata.category(sign) != "Cf")


def as_if_typed(text: str) -> str:
    """A pasted text as a person would type it: without marks that nobody sees, and each dash as "-"."""
    return "".join("-" if unicodedata.category(sign) == "Pd" else sign for sign in without_marks(text))


def out_of_brackets(text: str) -> str:
    """The text with the beginning of a phone number without its brackets: "(0812) 9000" → "0812 9000"."""
    return _IN_BRACKETS.sub(r"\1", text)


def has_digits(text: str) -> bool:
    """Whether a text may be a part of a number, or contain one."""
    return any(letter.isdigit() for letter in text)


def at_home(text: str) -> str:
    """The letters and digits of a number; a mobile number, or its beginning, in the national notation: 08…"""
    return _COUNTRY.sub("0", bare(text))


def is_same_number(number: str, other: str) -> bool:
    """Whether both are one number: separators, case, and the prefix of a mobile number do not count."""
    return _compared(number) == _compared(other)


def _compared(number: str) -> str:
    return at_home(number).removeprefix("0").lower()


def in_groups(number: str, between: str) -> str:
    """The number in groups of four: "0812-3456-7890"."""
    return between.join(number[at : at + 4] for at in range(0, len(number), 4))


def split_number(text: str) -> tuple[str, str]:
    """A phone number among words, as it was typed, and the words: "0812 9000 0001 10" → "0812 9000 0001", "10".

    After ten digits a space ends the number, unless the next group is as long as the last one, or one single digit
    after groups: a number with a digit too few must never be offered.
    """
    words = _COUNTRY_APART.sub(r"\1", out_of_brackets(text)).split()
    start = next((at for at, word in enumerate(words) if _BEGINS_A_NUMBER.match(word)), len(words))
    taken: list[str] = []
    for word in words[start:]:
        count = len(at_home("".join(taken)))
        in_groups_so_far = len(taken) > 1 and len(taken[-1]) <= _LONGEST_GROUP
        goes_on = count < _LEAST_DIGITS or (in_groups_so_far and len(word) in {len(taken[-1]), 1})
        if not _PART_OF_A_NUMBER.fullmatch(word) or (taken and not goes_on):
            break
        taken.append(word)
    return " ".join(taken), " ".join([*words[:start], *words[start + len(taken) :]])
