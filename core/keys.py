"""Keys of rows that come in an address or a form."""

from collections.abc import Iterable

_LONGEST = 18  # digits that a column of 64 bits always holds


def typed_key(text: str) -> int | None:
    """The key; None for any other text, and for a number that no row can have."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _LONGEST else None


def typed_keys(texts: Iterable[str]) -> list[int]:
    """The keys among these texts, in their order."""
    return [key for text in texts if (key := typed_key(text)) is not None]
