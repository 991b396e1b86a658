"""What rooms above add to a room below, which cannot import them. Each room adds it in a module of a known name.

Such as parts of a page: the page names a place, and `ROOM/parts.py` says which template of the room stands there.
"""

from functools import cache
from typing import Generic, TypeVar

from django.utils.module_loading import autodiscover_modules

T = TypeVar("T")
_TEMPLATES: dict[str, list[str]] = {}


@cache
def discover(*modules: str) -> None:
    """Import these modules of every room that has them, once, in the order of INSTALLED_APPS."""
    autodiscover_modules(*modules)


class FromRooms(Generic[T]):
    """What every room adds in its module of this name, in the order of INSTALLED_APPS; read at the first use."""

    def __init__(self, module: str) -> None:
        self._module = module
        self._added: list[T] = []

    def add(self, part: T) -> T:
        """Add this; also a decorator of a function."""
        self._added.append(part)
        return part

    def all(self) -> list[T]:
        """Everything that the rooms have added."""
        discover(self._module)
        return self._added


def fill(place: str, template: str) -> None:
    """Have `template` stand at this place, with the page's context; several stand in the order of INSTALLED_APPS."""
    _TEMPLATES.setdefault(place, []).append(template)


def templates_at(place: str) -> list[str]:
    """The templates that stand at this place; none if no room fills it."""
    discover("parts")
    return _TEMPLATES.get(place, [])
