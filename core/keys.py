"""Keys of rows that come in an address or a form."""

_LONGEST = 18  # digits that a column of 64 bits always holds


def typed_key(text: str) -> int | None:
    """The key; None for any other text, and for a number that no row can have."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _LONGEST else None
