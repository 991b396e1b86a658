"""Rows that were sealed with a former SECRET_KEY, by kind. When there are none, SECRET_KEY_FALLBACKS can drop that key.

Each room that keeps sealed rows registers them in its `resealing.py`.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar, TypeVar

from django.utils.functional import Promise

from core.parts import FromRooms
from core.sealing import Opens


@dataclass
class Keys:
    """The keys that rows of a kind need: how many need the present key, and whose need a former or an unknown key."""

    present: int = 0
    former: list[str] = field(default_factory=list)
    none: list[str] = field(default_factory=list)


class SealedRows(ABC):
    """One kind of rows with sealed texts."""

    name: ClassVar[str]  # for programs
    words: ClassVar[Promise]
    moves_at_use: ClassVar[bool] = False  # only the person who knows the text can seal it again, by using it

    @abstractmethod
    def each(self) -> Iterator[tuple[str, Opens]]:
        """The owner of each row, and the key that opens it."""

    def reseal(self) -> int:
        """Seal the rows of a former key again, one by one, while people use them; returns how many."""
        return 0

    def keys(self) -> Keys:
        """The keys that all rows need."""
        keys = Keys()
        for whose, opens in self.each():
            if opens is Opens.PRESENT:
                keys.present += 1
            elif opens is Opens.FORMER:
                keys.former.append(whose)
            else:
                keys.none.append(whose)
        return keys


_KINDS: FromRooms[SealedRows] = FromRooms("resealing")
K = TypeVar("K", bound=SealedRows)


def register(kind: type[K]) -> type[K]:
    """Make a kind known: a decorator."""
    _KINDS.add(kind())
    return kind


def sealed_rows() -> list[SealedRows]:
    return sorted(_KINDS.all(), key=lambda kind: kind.name)
