"""A receipt printer for tests: it knows the few commands of ESC/POS that our pages send."""

from collections.abc import Iterable
from dataclasses import dataclass, field

ESC, GS = 0x1B, 0x1D
# Command → how many bytes follow it. A length that the command itself gives is read below.
_LENGTHS = {
    (ESC, "@"): 0, (ESC, "a"): 1, (ESC, "E"): 1, (ESC, "M"): 1, (ESC, "t"): 1, (ESC, "2"): 0, (ESC, "3"): 1,
    (ESC, "p"): 3, (GS, "!"): 1, (GS, "V"): 1, (0x1C, "."): 0,
}  # fmt: skip


@dataclass
class Printout:
    """A printed paper. `lines`: the text of each line; `widths`: how many letters of normal width each line takes."""

    lines: list[str] = field(default_factory=list)
    widths: list[int] = field(default_factory=list)
    pictures: int = 0
    cuts: int = 0
    pulses: int = 0

    @property
    def text(self) -> str:
        """All text, with single spaces."""
        return " ".join(" ".join(self.lines).split())


def decode(sent: Iterable[int], *, codepage: str = "cp437") -> Printout:
    """Read the bytes of a job. Raises `ValueError` for a command that no page of ours should send."""
    data, out = bytes(sent), Printout()
    at, wide, text, width = 0, 1, b"", 0
    while at < len(data):
        byte = data[at]
        if byte in {ESC, GS, 0x1C}:
            name = chr(data[at + 1])
            if (byte, name) == (GS, "v"):  # GS v 0 m, width in bytes, height in rows, the rows
                columns, rows = (int.from_bytes(data[at + n : at + n + 2], "little") for n in (4, 6))
                out.pictures += 1
                at += 8 + columns * rows
                continue
            if (byte, name) not in _LENGTHS:
                raise ValueError(f"an unknown command at {at}: {data[at : at + 4]!r}")
            if (byte, name) == (GS, "!"):
                wide = (data[at + 2] >> 4) + 1
            out.cuts += (byte, name) == (GS, "V")
            out.pulses += (byte, name) == (ESC, "p")
            at += 2 + _LENGTHS[byte, name]
        elif byte == 0x0A:
            out.lines.append(text.decode(codepage))
            out.widths.append(width)
            at, text, width = at + 1, b"", 0
        else:
            if byte != 0x0D:
                text, width = text + data[at : at + 1], width + wide
            at += 1
    return out
