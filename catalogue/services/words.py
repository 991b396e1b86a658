"""The words of names and of searches, and people's own words (`search_words.toml`)."""

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

_FILE = Path(__file__).resolve().parents[1] / "search_words.toml"
_CHUNK = re.compile(r"\d+(?:[.,]\d+)*[a-z]*|[a-z][a-z0-9]*(?:[.'&-][a-z0-9]+|,\d+)*")
_OF_THOUSANDS = re.compile(r"(?<=\d)[.,](?=\d{3}(?!\d))")
_BETWEEN_DIGITS = re.compile(r"(?<=\d)[^a-z0-9]+(?=\d)")
_BEHIND_A_GAP = re.compile(r"\s\d")
_RUPIAH = re.compile(r"\b(?:rp|idr)\.?\s*(?=\d)")
# Shorter words are typed correctly, or mean something else.
_LETTERS_FOR_A_TYPO, _LETTERS_FOR_A_TYPO_IN_A_BEGINNING = 4, 5


@dataclass(frozen=True)
class Called:
    """The names of a brand or category in catalogues, and among people."""

    place: int
    names: tuple[str, ...]
    called: frozenset[str]

    def covers(self, name: str) -> bool:
        """Whether a brand or category of this (folded) name is meant."""
        return any(name == own or name.startswith(f"{own} ") for own in self.names)


@dataclass(frozen=True)
class SearchWords:
    """The content of `search_words.toml` in the form that the search uses."""

    brands: tuple[Called, ...]
    categories: tuple[Called, ...]
    little: frozenset[str]
    bills: frozenset[str]
    prices: frozenset[str]
    beside_prices: frozenset[str]
    earn: frozenset[str]
    beside_earn: frozenset[str]
    times: dict[str, int]
    units: dict[str, tuple[str, int]]
    validity: dict[str, int]
    one: frozenset[str]
    said: dict[str, int]


@lru_cache(maxsize=10_000)
def brand_called(name: str) -> tuple[Called, ...]:
    """The names of a brand with this name in the catalogue; the longest name first."""
    return _covering(search_words().brands, name)


@lru_cache(maxsize=1_000)
def category_called(name: str) -> tuple[Called, ...]:
    """The names of a category with this name in the catalogue; the longest name first."""
    return _covering(search_words().categories, name)


def _covering(entries: tuple[Called, ...], name: str) -> tuple[Called, ...]:
    plain = fold(name)
    covering = [entry for entry in entries if entry.covers(plain)]
    covering.sort(key=lambda entry: -max(len(own) for own in entry.names if plain.startswith(own)))
    return tuple(covering)


@cache
def search_words() -> SearchWords:
    """The words of `search_words.toml`, read once."""
    data = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return SearchWords(
        brands=_called(data["brand"]),
        categories=_called(data["category"]),
        little=frozenset(data["little"]["words"]),
        bills=frozenset(data["bills"]["words"]),
        prices=frozenset(data["prices"]["words"]),
        beside_prices=frozenset(data["prices"]["beside"]),
        earn=frozenset(data["prices"]["earn"]),
        beside_earn=frozenset(data["prices"]["beside_earn"]),
        times=data["times"],
        units={word: (unit, many) for unit, words in data["units"].items() for word, many in words.items()},
        validity=data["validity"],
        one=frozenset(data["one"]["words"]),
        said=data["said"],
    )


def _called(entries: Iterable[dict[str, list[str]]]) -> tuple[Called, ...]:
    return tuple(
        Called(place, tuple(fold(name) for name in entry["names"]), frozenset(joined(word) for word in entry["called"]))
        for place, entry in enumerate(entries)
    )


def fold(text: str) -> str:
    """The text in lower case, without accents."""
    if text.isascii():
        return text.lower()
    return "".join(c for c in unicodedata.normalize("NFKD", text.lower()) if not unicodedata.combining(c))


def joined(text: str) -> str:
    """Only the letters and digits, in lower case: "by.U" is byu, "kartu as" is kartuas."""
    return re.sub(r"[^a-z0-9]", "", fold(text))


def code_in(text: str) -> str:
    """A code in lower case without signs, except between digits: "TSEL-10" is tsel10, and "AXD1.5" is not axd15."""
    kept = _BETWEEN_DIGITS.sub(lambda match: "." if match[0] in {".", ","} else "-", fold(text))
    return re.sub(r"(?<!\d)[^a-z0-9]|[^a-z0-9](?!\d)", "", kept)


def has_amount_apart(text: str) -> bool:
    """Whether digits stand behind a gap: those of "tsel 1000" may be an amount; "pln pasca" is PLNPASCA."""
    return bool(_BEHIND_A_GAP.search(text))


def without_thousands(text: str) -> str:
    """The text without the signs of thousands: "tsel 10.000" is tsel 10000."""
    return _OF_THOUSANDS.sub("", text)


def chunks_of(text: str) -> list[str]:
    """The words and numbers of a text in lower case: "By.U Rp10.000 / 3GB" → by.u, 10.000, 3gb."""
    return _CHUNK.findall(_RUPIAH.sub("", fold(text)))


def says_bill(text: str) -> bool:
    """Whether a word says that a bill is meant, not something prepaid."""
    return not search_words().bills.isdisjoint(joined(chunk) for chunk in chunks_of(text))


def words_in(text: str) -> Iterator[str]:
    """The words by which a text is found: each word, and the parts of a word with dots or dashes."""
    for chunk in chunks_of(text):
        yield joined(chunk)
        if not chunk.isalnum():
            yield from re.findall(r"[a-z]+", chunk)


def has_one_typo(typed: str, word: str) -> bool:
    """Whether `typed` is the word or its beginning, with at most one letter wrong, missing, added or swapped.

    Another digit is no typing error: SPOTIFY1 and SPOTIFY2 are two products.
    """
    if len(typed) < _LETTERS_FOR_A_TYPO:
        return False
    if _is_near(typed, word):
        return True
    if len(typed) < _LETTERS_FOR_A_TYPO_IN_A_BEGINNING or len(word) <= len(typed):
        return False
    return any(_is_near(typed, word[: len(typed) + more]) for more in (0, 1, -1))


def _is_near(typed: str, word: str) -> bool:
    """Whether one change at most makes one the other: a letter added, removed, replaced, or two neighbours swapped.

    No change of a digit counts.
    """
    difference = len(typed) - len(word)
    if abs(difference) > 1:
        return False
    same = 0
    for letter, other in zip(typed, word, strict=False):
        if letter != other:
            break
        same += 1
    changed = typed[same : same + (difference >= 0)] + word[same : same + (difference <= 0)]
    if any(map(str.isdecimal, changed)):
        return False
    if difference == 1:
        return typed[same + 1 :] == word[same:]
    if difference == -1:
        return typed[same:] == word[same + 1 :]
    if typed[same + 1 :] == word[same + 1 :]:
        return True
    return typed[same : same + 2] == word[same : same + 2][::-1] and typed[same + 2 :] == word[same + 2 :]
