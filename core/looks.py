"""How a status or a kind looks: its words, its icon and its colour stand together, beside its value."""

from __future__ import annotations

from typing import NamedTuple

from django.db import models
from django.utils.safestring import SafeString

from core.icons import badge


class Look(NamedTuple):
    """One of Tabler's icons, and a colour as `status-…` in the style sheets names it."""

    icon: str
    colour: str


class LookChoices(models.TextChoices):
    """The parent of choices with a look: `PAID = "paid", "circle-check", "good", _("Paid")`."""

    look: Look

    def __new__(cls, value: str, icon: str = "", colour: str = "") -> LookChoices:
        """A member with its look; Django takes the label away before."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.look = Look(icon, colour)
        return member

    @property
    def badge(self) -> SafeString:
        """Icon, word and colour, for a page."""
        return badge(self.look, self.label)
