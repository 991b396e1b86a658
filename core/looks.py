"""The look of a status or a kind: its words, its icon and its colour stand together, beside its value.

The icons are Tabler's, put into the page as SVG.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import structlog
from django.conf import settings
from django.db import models
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

log = structlog.get_logger()


class Look(NamedTuple):
    """One of Tabler's icons, and a colour as `status-…` in the style sheets names it."""

    icon: str
    colour: str


class LookChoices(models.TextChoices):
    """The parent of choices with a look: `PAID = "paid", "circle-check", "good", _("Paid")`."""

    look: Look

    def __new__(cls, value: str, icon: str = "", colour: str = "") -> LookChoices:
        """A member with its look; Django removes the label before this is called."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.look = Look(icon, colour)
        return member

    @property
    def badge(self) -> SafeString:
        """Icon, word and colour, for a page."""
        return badge(self.look, self.label)


@cache
def _icon_svg(name: str) -> SafeString:
    path: Path = settings.NODE_MODULES / "@tabler/icons/icons/outline" / f"{name}.svg"
    inner = re.sub(r"^.*?<svg.*?>|</svg>\s*$", "", path.read_text(), flags=re.DOTALL)
    shapes = re.sub(r"\s*\n\s*", "", inner).replace('<path stroke="none" d="M0 0h24v24H0z" fill="none" />', "")
    return mark_safe(  # noqa: S308 - our own icon package, and `name` comes from templates only
        '<svg class="icon" width="18" height="18" viewBox="0 0 24 24" fill="none" stroke="currentColor"'
        ' stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" focusable="false">'
        f"{shapes}</svg>"
    )


def icon(name: str) -> SafeString:
    """`{% icon "check" %}`: that Tabler icon inline, hidden from screen readers (the text beside it speaks)."""
    try:
        return _icon_svg(name)
    except FileNotFoundError:
        # The packages are being installed under a running shop; a missing icon must not cost the page.
        log.warning("icon_missing", icon=name)
        return SafeString()


def badge(look: tuple[str, str], words: object) -> SafeString:
    """Icon, words and colour of something's state; `look`: (icon, colour as `status-…` in the style sheets)."""
    name, colour = look
    return format_html('<span class="status status-{}">{}{}</span>', colour, icon(name), words)
