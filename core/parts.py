"""Parts of a page that come from rooms above the page's own: the page names a place, those rooms fill it.

`ROOM/parts.py` says which template of the room stands where; it is read when the first page asks.
"""

from functools import cache

from django.utils.module_loading import autodiscover_modules

_TEMPLATES: dict[str, list[str]] = {}


def fill(place: str, template: str) -> None:
    """Have `template` stand at this place, with the page's context; several stand in the order of INSTALLED_APPS."""
    _TEMPLATES.setdefault(place, []).append(template)


def templates_at(place: str) -> list[str]:
    """The templates that stand at this place; none if no room fills it."""
    _discover()
    return _TEMPLATES.get(place, [])


@cache
def _discover() -> None:
    autodiscover_modules("parts")
