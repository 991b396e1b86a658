"""How one subject stands that the shop rests on (`doctor.py`)."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext_lazy

from core.looks import LookChoices


class Verdict(LookChoices):
    """How a subject stands."""

    OK = "ok", "circle-check", "good", gettext_lazy("All right")
    LOOK = "look", "alert-triangle", "warn", gettext_lazy("Look at it")
    BAD = "bad", "alert-triangle", "bad", gettext_lazy("Wrong")


@dataclass(frozen=True)
class Finding:
    """How one subject stands, what was seen, and what to do about it; in the language of its reader."""

    subject: str
    verdict: Verdict
    seen: str
    advice: str = ""
