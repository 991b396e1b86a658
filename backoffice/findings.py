"""A finding about one subject that the shop rests on (`doctor.py`), and the finding about sealed secrets."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.conf import settings
from django.utils.translation import gettext as _, gettext_lazy

from core.looks import LookChoices
from core.resealing import sealed_rows


class Verdict(LookChoices):
    """The verdict about a subject."""

    OK = "ok", "circle-check", "good", gettext_lazy("All right")
    PROVISIONAL = "provisional", "clock", "queued", gettext_lazy("Provisional")
    LOOK = "look", "alert-triangle", "warn", gettext_lazy("Look at it")
    BAD = "bad", "alert-triangle", "bad", gettext_lazy("Wrong")


@dataclass(frozen=True)
class Finding:
    """The verdict about one subject, what was seen, and what to do; in the language of its reader."""

    subject: str
    verdict: Verdict
    seen: str
    advice: str = ""


def sealed_secrets(subject: str) -> Iterator[Finding]:
    """The finding about rows that need a former key, or a key that is not in the settings, by kind."""
    kinds = [(kind, kind.keys()) for kind in sealed_rows()]
    former = ", ".join(f"{kind.words} {len(keys.former)}" for kind, keys in kinds if keys.former)
    none = ", ".join(f"{kind.words} {len(keys.none)}" for kind, keys in kinds if keys.none)
    if none:
        advice = _("Add the missing key to SECRET_KEY_FALLBACKS, or set these up again.")
        yield Finding(subject, Verdict.LOOK, _("no known key opens: %(rows)s") % {"rows": none}, advice)
    if former:
        advice = _("Run `./run manage reseal_secrets`; a PIN moves to the present key when its person uses it.")
        yield Finding(subject, Verdict.LOOK, _("a former key is needed by: %(rows)s") % {"rows": former}, advice)
    if not none and not former:
        advice = ""
        if settings.SECRET_KEY_FALLBACKS:
            advice = _("A day after the change of the key, empty SECRET_KEY_FALLBACKS and start again.")
        yield Finding(subject, Verdict.OK, _("the present key opens everything"), advice)
