"""Customers' numbers: full for people who may see them, masked for everybody else. Only this module masks.

During a request this module knows the reader. Outside of a request (a command, the worker) numbers are whole, and code
that writes for a person says whether it masks them. A text of an erased customer, in a row that stays, is an
`ErasedText`: nobody sees it whole, whatever rights they have.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import parse_qsl, urlencode

from django.http import HttpRequest, HttpResponseBase
from django.utils.html import escape

from core.middleware import Middleware
from core.notation import at_home
from core.rights import Right

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from staff.models import User

BULLET = "•"
#: The names of a customer's number in the document and in our own rows.
FIELDS = frozenset({"destination"})
_FIRST, _LAST, _SHORT = 4, 3, 10
_IN_TEXT = re.compile(r"destination\\*[\"']?\s*[:=]\s*(?:\\*[\"']([^\"'\\]+)|([^\s\\\"',}&]+))")
_LETTER = re.compile(rf"[^\W_]|{BULLET}")
# The characters that may stand between two of its digits, and JSON's escape of a letter.
_BETWEEN = r"(?:[\s.\-()]|\\+u00(?:09|2[0-9de])){0,2}"
_ESCAPED = re.compile(r"\\+u([0-9a-fA-F]{4})")
# A number in typed text, or a part of one; the first alternative skips the ref_id of an order.
_TYPED = re.compile(r"\bB\d{6}-[2-9A-Z]{10}\b|(\+?\d[\d\s.\-]{5,}\d)")
_DIGITS_ALONE = re.compile(r"[\d\s.+\-()]+")
# An SN in quotes with what follows its first "/"; and the letters of the shortest name that is looked for in texts.
_QUOTED_SN = re.compile(r"(['\"])([^'\"/]*\d[^'\"/]*)/[^'\"]*\1")
_SHORTEST_NAME = 3
# The fields with people's own words, which may hold the number of anybody.
_NOTES = frozenset(
    {"reason", "note", "given_note", "words", "evidence", "closing_note", "below_cost", "decision_reason", "reference"}
)
# Digests of what stands beside them: who tries one number after another finds the one that was masked there.
_DIGESTS = frozenset({"sha256", "content_hash"})
# The filters of lists that name a number.
_OF_NUMBERS = frozenset({"q", "ends"})

_sees_whole: ContextVar[Callable[[], bool]] = ContextVar("sees_whole", default=lambda: True)


class ErasedText(str):
    """A text of an erased customer, in a row that stays. `seen`: the part that every reader sees.

    For services, and when it is stored, it is the whole text. A page that writes it shows `seen` by itself. `name`:
    for a number, the customer's name as the provider says it, which texts about the row may hold, too.
    """

    seen: str
    name: str

    def __new__(cls, whole: str, seen: str, name: str = "") -> Self:
        text = super().__new__(cls, whole)
        text.seen, text.name = seen, name
        return text

    def __getnewargs__(self) -> tuple[str, str, str]:  # type: ignore[override] # a copy needs all
        return str.__str__(self), self.seen, self.name

    def __html__(self) -> str:
        return escape(self.seen)


def still_seen(text: str) -> str:
    """The text; once its customer was erased, only the part that everybody may see."""
    return text.seen if isinstance(text, ErasedText) else text


def erased_number(number: str, *, name: str = "") -> str:
    """The number of an erased customer, masked for everybody; `name`: the provider's name for the customer."""
    return ErasedText(number, masked(number), name.strip())


def erased_serial(sn: str, number: str) -> str:
    """The SN of a sale to an erased customer, without the name that may follow its first "/"."""
    return ErasedText(sn, without(sn.partition("/")[0].strip(), [number]))


def erased_name(name: str) -> str:
    """The name of an erased customer; nobody sees any of it."""
    return ErasedText(name, BULLET * 3) if name else name


def may_take_whole(person: User) -> bool:
    """Whether this person may make a file with full numbers."""
    return person.has_perm(Right.VIEW_NUMBERS) or person.has_perm(Right.REVEAL_NUMBERS)


def sees_whole_numbers() -> bool:
    """Whether the present viewer sees full numbers."""
    return _sees_whole.get()()


def sees_whole(number: str) -> bool:
    """Whether the present viewer sees this number whole: nobody does once its customer was erased."""
    return not isinstance(number, ErasedText) and sees_whole_numbers()


@contextmanager
def whole_numbers() -> Iterator[None]:
    """Show whole numbers inside this block: for one answer to a person who asked to see a number."""
    token = _sees_whole.set(lambda: True)
    try:
        yield
    finally:
        _sees_whole.reset(token)


@contextmanager
def seen_by(person: Callable[[], User | AnonymousUser]) -> Iterator[None]:
    """Make this person the viewer inside this block; `person` is called at the first number."""
    token = _sees_whole.set(cache(lambda: person().has_perm(Right.VIEW_NUMBERS)))
    try:
        yield
    finally:
        _sees_whole.reset(token)


class NumbersMiddleware(Middleware):
    """Shows full numbers in an answer only to people with the right."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """The answer. The person is read at the first number, so that pages without numbers read no person."""
        with seen_by(lambda: request.user):
            return self.get_response(request)


def masked(number: str) -> str:
    """The number with its first 4 and last 3 letters or digits: "0812••••001"; a short number shows only the last 2.

    Group signs stay: "0812-••••-•001". A masked number stays as it is.
    """
    places = [match.start() for match in _LETTER.finditer(number)]
    hidden = places[_FIRST:-_LAST] if len(places) >= _SHORT else places[:-2] if len(places) > 2 else places
    letters = list(number)
    for place in hidden:
        letters[place] = BULLET
    return "".join(letters)


def as_seen(number: str) -> str:
    """The number as the viewer may see it."""
    return number if sees_whole(number) else masked(still_seen(number))


def without(text: str, numbers: Iterable[str]) -> str:
    """The text with these numbers masked, in every notation; for an erased customer the name, too."""
    for number in numbers:
        if pattern := _in_any_notation(number):
            text = pattern.sub(_masked_match, text)
        if isinstance(number, ErasedText):
            text = text.replace(number.name, BULLET * 3) if len(number.name) >= _SHORTEST_NAME else text
    return text


def text_as_seen(text: str, *numbers: str) -> str:
    """A text that may hold these numbers, as the viewer may see it.

    For an erased customer it hides all that follows the "/" of an SN in quotes, as incidents write it.
    """
    erased = _erased(numbers)
    seen = _QUOTED_SN.sub(r"\1\2\1", still_seen(text)) if erased else still_seen(text)
    return without(seen, erased if sees_whole_numbers() else numbers)


def _erased(numbers: Iterable[str]) -> list[str]:
    return [number for number in numbers if isinstance(number, ErasedText)]


def note_as_seen(text: str) -> str:
    """A person's note; for people who may not see numbers, everything that looks like one is masked."""
    return text if sees_whole_numbers() else masked_note(text)


def masked_note(text: str) -> str:
    """A person's note, in which everything that looks like a customer's number is masked."""
    return _TYPED.sub(lambda match: _masked_match(match) if match[1] else match[0], text)


def _masked_match(match: re.Match[str]) -> str:
    return masked(_unescaped(match[0]))


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)


@lru_cache(maxsize=512)
def _in_any_notation(number: str) -> re.Pattern[str] | None:
    """Finds the number with or without separators, plain or in JSON's escapes, a phone number with any prefix.

    None for a text without letters and digits, and for a masked number.
    """
    bare = "".join(_LETTER.findall(number))
    if not bare or BULLET in bare:
        return None
    core = re.sub(r"^0(?=8\d{7})", "", at_home(bare))
    prefix = rf"(?:(?:\+?(?:{_as_written('00')})?{_as_written('62')}|{_as_written('0')}){_BETWEEN})?"
    pattern = (prefix if core != bare else "") + _as_written(core)
    if len(core) < _SHORT - 1:  # these letters could be part of something else by chance
        pattern = rf"(?<![0-9A-Za-z]){pattern}(?![0-9A-Za-z])"
    return re.compile(pattern, re.IGNORECASE)


def _as_written(letters: str) -> str:
    """A pattern of these letters, each as it is or in JSON's escape, with separators or without."""
    return _BETWEEN.join(rf"(?:{re.escape(letter)}|\\+u{ord(letter):04x})" for letter in letters)


def numbers_in(value: Any) -> set[str]:
    """The customers' numbers in a JSON value, by the names of their fields; also in JSON that stands in a text."""
    if isinstance(value, Mapping):
        items = (item for name, item in value.items() if name in FIELDS and isinstance(item, str | int | float))
        own = {item if isinstance(item, str) else _digits_of(item) for item in items}
        return own.union(*(numbers_in(item) for item in value.values()))
    if isinstance(value, list | tuple):
        return set().union(*(numbers_in(item) for item in value))
    if not isinstance(value, str):
        return set()
    numbers = {quoted or bare for text in {value, _unescaped(value)} for quoted, bare in _IN_TEXT.findall(text)}
    return {number for number in numbers if re.search(r"\d", number)}


def _digits_of(number: float) -> str:
    """The digits of a number that came as a number of JSON: "81234567890" for 81234567890.0."""
    return f"{number:f}".partition(".")[0] if isinstance(number, float) else str(number)


def longest_first(numbers: Iterable[str]) -> list[str]:
    """These numbers in the order in which a text is masked: another one may begin a longer one."""
    return sorted(numbers, key=lambda number: (-len(number), number))


def masked_json(value: Any, *numbers: str) -> Any:
    """The JSON value with customers' numbers, and `numbers`, masked: by field, and at every other place."""
    return _masked(value, longest_first({number for number in numbers if number} | numbers_in(value)))


def json_as_seen(value: Any, *numbers: str) -> Any:
    """The JSON value as the viewer may see it."""
    if sees_whole_numbers() and not _erased(numbers):
        return value
    return masked_json(value, *numbers)


def _masked(value: Any, numbers: list[str]) -> Any:
    if isinstance(value, Mapping):
        seen = {name: _masked_field(name, item, numbers) for name, item in value.items()}
        return seen if seen == value else seen | dict.fromkeys(_DIGESTS & seen.keys(), BULLET * 3)
    if isinstance(value, list | tuple):
        return [_masked(item, numbers) for item in value]
    return without(value, numbers) if isinstance(value, str) else value


def _masked_field(name: object, value: Any, numbers: list[str]) -> Any:
    if name in FIELDS and isinstance(value, str | int | float):
        return masked(value if isinstance(value, str) else _digits_of(value))
    if name == "query" and isinstance(value, str):  # the filters of a list, as an address has them
        return urlencode([(key, _masked_filter(key, text)) for key, text in parse_qsl(value)])
    if name == "content" and isinstance(value, str):  # an approval's: JSON in a text
        return _masked_text(value, numbers)
    if name in _NOTES and isinstance(value, str):
        return masked_note(without(value, numbers))
    return _masked(value, numbers)


def _masked_text(text: str, numbers: list[str]) -> str:
    """An object of JSON in a text, with the same masks by field; any other text with these numbers masked."""
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        return without(text, numbers)
    return json.dumps(_masked(value, numbers), separators=(",", ":"), ensure_ascii=False)


def _masked_filter(name: str, text: str) -> str:
    """A filter's value, with a number or a part of one masked: a few digits at its end give a number away."""
    if name not in _OF_NUMBERS:
        return text
    return masked(text) if _DIGITS_ALONE.fullmatch(text) else masked_note(text)
