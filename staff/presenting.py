"""People, their standing and their browsers as the pages show them."""

import datetime as dt
import re
from typing import NamedTuple
from urllib.parse import urlencode

from allauth.mfa.models import Authenticator
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _, gettext_lazy

from core.looks import LookChoices
from core.periods import Period
from core.rights import Right, Role
from staff.factor_store import EncryptedFactors
from staff.models import User
from staff.roles import role_of
from staff.services.factors import factors_of


class Standing(LookChoices):
    """The state of a person's account."""

    ACTIVE = "active", "circle-check", "good", gettext_lazy("Active")
    INVITED = "invited", "mail", "queued", gettext_lazy("Invited")
    APPROVED = "approved", "link", "warn", gettext_lazy("Approved, without a link")
    EXPIRED = "expired", "clock-off", "warn", gettext_lazy("Invitation expired")
    OFF = "off", "user-off", "off", gettext_lazy("Switched off")


def standing_of(person: User, *, link_until: dt.datetime | None, now: dt.datetime) -> Standing:
    """The state of this person's account at `now`; the person comes from `for_table()`.

    `link_until`: the end of the open link.
    """
    if not person.is_active:
        return Standing.OFF
    if person.has_joined:
        return Standing.ACTIVE
    if link_until and link_until > now:
        return Standing.INVITED
    # A second person's approval makes the account; the asker makes the link.
    return Standing.EXPIRED if person.had_link else Standing.APPROVED  # type: ignore[attr-defined]


def waiting_role_of(person: User) -> Role | None:
    """The provider's role for a person `for_table()`, if a second person still has to approve it; else None."""
    claimed = person.claimed  # type: ignore[attr-defined]
    waits = person.is_active and person.is_outside and claimed in Role.values and claimed != role_of(person)
    return Role(claimed) if waits else None


class ListOfDays(NamedTuple):
    """A list of a person's acts in some days. `name`: the name of its page, for scripts and tests."""

    name: str
    words: str
    url: str


def lists_of(person: User, period: Period, reader: User) -> list[ListOfDays]:
    """The lists of this person's acts in the period that the reader may open."""
    lists = (
        (Right.VIEW_ORDERS, "order_list", _("Orders"), "cashier", person.username),
        (Right.VIEW_SHIFTS, "shift_list", _("Shifts"), "cashier", person.pk),
        (Right.VIEW_AUDIT, "audit_list", _("Activity log"), "person", person.username),
    )
    return [
        ListOfDays(page, words, f"{reverse(page)}?{urlencode({field: key, 'days': period.value})}")
        for right, page, words, field, key in lists
        if reader.has_perm(right)
    ]


_FACTORS = {"totp": gettext_lazy("App"), "webauthn": gettext_lazy("Passkey")}


def factor_words(person: User) -> str:
    """The kinds of this person's second factors: "App · Passkey"; "" for none."""
    return " · ".join(str(words) for kind, words in _FACTORS.items() if kind in factors_of(person))


# The first match counts: each browser also carries the names of older ones.
_BROWSERS = [
    (r"Edg(e|A|iOS)?/", "Edge"),
    (r"OPR/|Opera", "Opera"),
    (r"SamsungBrowser/", "Samsung Internet"),
    (r"Firefox/|FxiOS/", "Firefox"),
    (r"Chrome/|CriOS/", "Chrome"),
    (r"Safari/", "Safari"),
]
_SYSTEMS = [
    (r"Android", "Android"),
    (r"iPhone", "iPhone"),
    (r"iPad", "iPad"),
    (r"Windows", "Windows"),
    (r"Mac OS X|Macintosh", "macOS"),
    (r"CrOS", "ChromeOS"),
    (r"Linux", "Linux"),
]


def device_words(agent: str) -> str:
    """The browser and the system of a User-Agent header: "Chrome · Android"."""
    names = [next((name for mark, name in kinds if re.search(mark, agent)), "") for kinds in (_BROWSERS, _SYSTEMS)]
    return " · ".join(name for name in names if name) or _("Unknown device")


class FactorLook:
    """One factor of a person: its kind, its name, and when it was added and last used."""

    def __init__(self, factor: Authenticator) -> None:
        self.pk = factor.pk
        self.is_passkey = factor.type == Authenticator.Type.WEBAUTHN
        self.icon = "fingerprint" if self.is_passkey else "device-mobile"
        self.name = str(factor.data["name"]) if self.is_passkey else _("Authenticator app")
        self.created_at = factor.created_at
        self.last_used_at = factor.last_used_at


def secret_code(person: User, secret: str) -> SafeString:
    """The secret as a picture that an authenticator app reads with the phone's camera."""
    return qr_code(secret_link(person, secret))


def secret_link(person: User, secret: str) -> str:
    """The secret as an `otpauth:` address, which opens an authenticator app on the same device."""
    return str(EncryptedFactors().build_totp_url(person, secret))


def in_fours(secret: str) -> str:
    """The secret in groups of four letters, as people type it; apps skip the spaces."""
    return " ".join(secret[start : start + 4] for start in range(0, len(secret), 4))


def qr_code(text: str) -> SafeString:
    """The text as a picture for the camera of a phone."""
    svg = EncryptedFactors().build_totp_svg(text)
    return SafeString(svg[svg.index("<svg") :])  # qrcode draws it; it contains no text of people
