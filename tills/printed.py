"""What a receipt printer prints, as lines of data; `static/js/printer.js` makes the printer's commands of them."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

Line: TypeAlias = dict[str, Any]
Look: TypeAlias = Literal["", "bold", "tall", "big"]

# Signs of a page that no codepage of a receipt printer has: it would print "?" for them.
_PLAIN = str.maketrans({
    "–": "-", "—": "-", "‘": "'", "’": "'", "“": '"', "”": '"', "…": "...", "·": "-", "×": "x", "•": "*", "→": ">",
    "\N{NO-BREAK SPACE}": " ", "\N{NARROW NO-BREAK SPACE}": " ",
})  # fmt: skip


def text(words: str, *, look: Look = "", centred: bool = False) -> Line:
    """A paragraph. `look`: "tall" is bold and twice as high, "big" twice as high and wide."""
    return {"kind": "text", "text": words.translate(_PLAIN), "look": look, "centred": centred}


def pair(label: str, value: str, *, look: Look = "") -> Line:
    """A label at the left and its value at the right."""
    return {"kind": "pair", "label": label.translate(_PLAIN), "value": value.translate(_PLAIN), "look": look}


def rule() -> Line:
    """A line across the paper."""
    return {"kind": "rule"}


def cut() -> Line:
    """The end of a paper of several; behind the last one the printer cuts by itself."""
    return {"kind": "cut"}


def picture(address: str) -> Line:
    """A picture of ours, such as the shop's logo, in black and white."""
    return {"kind": "picture", "address": address}
