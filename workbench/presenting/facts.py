"""The facts of an audit event in words: their names and values are of the code, which readers do not know."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from django.utils.functional import Promise
from django.utils.text import Truncator
from django.utils.translation import gettext, pgettext, pgettext_lazy

from approvals.acts import act_named
from approvals.models import ApprovalState
from audit.acts import STEPS
from audit.kinds import Kind
from catalogue.services import terms_words
from catalogue.services.rules import Terms
from core.money import rupiah
from core.rights import Right, Role
from core.times import clock
from credit.methods import method_words
from staff.models import AccessLink

#: The name of a fact, or of a field before and after. A test walks the code for names that are not here.
NAMES: dict[str, Promise] = {
    "account": pgettext_lazy("audit", "Account no."),
    "act": pgettext_lazy("audit", "Step"),
    "address": pgettext_lazy("audit", "Address"),
    "affected": pgettext_lazy("audit", "Prices that change"),
    "alone": pgettext_lazy("audit", "Without a second person"),
    "amount": pgettext_lazy("audit", "Amount"),
    "approval_above": pgettext_lazy("audit", "Approval above"),
    "approved_by": pgettext_lazy("audit", "Approved by person no."),
    "asked_by": pgettext_lazy("audit", "Asked by person no."),
    "because": pgettext_lazy("audit", "Because"),
    "below_cost": pgettext_lazy("audit", "Of these below cost"),
    "by": pgettext_lazy("audit", "By"),
    "cap": pgettext_lazy("audit", "Cap"),
    "changes": pgettext_lazy("audit", "What has changed"),
    "content": pgettext_lazy("audit", "Content"),
    "counted": pgettext_lazy("audit", "Counted"),
    "demo": pgettext_lazy("audit", "Demo"),
    "difference": pgettext_lazy("audit", "Difference"),
    "drawer": pgettext_lazy("audit", "Drawer"),
    "due_days": pgettext_lazy("audit", "Days until due"),
    "due_on": pgettext_lazy("audit", "Due on"),
    "expected": pgettext_lazy("audit", "Expected"),
    "footer": pgettext_lazy("audit", "Footer"),
    "format": pgettext_lazy("audit", "Format"),
    "from": pgettext_lazy("audit", "From no."),
    "has_password": pgettext_lazy("audit", "Has a password"),
    "is_active": pgettext_lazy("audit", "Active"),
    "issuer": pgettext_lazy("audit", "Provider"),
    "kind": pgettext_lazy("audit", "Kind"),
    "kinds": pgettext_lazy("audit", "Kinds"),
    "known_device": pgettext_lazy("audit", "Known device"),
    "language": pgettext_lazy("audit", "Language"),
    "largest_loss": pgettext_lazy("audit", "Largest loss for one sale"),
    "left": pgettext_lazy("audit", "Left by the last shift"),
    "limits": pgettext_lazy("audit", "Limits"),
    "list": pgettext_lazy("audit", "List"),
    "logo": pgettext_lazy("audit", "Logo no."),
    "made_by": pgettext_lazy("audit", "Made by person no."),
    "method": pgettext_lazy("audit", "Given back by"),
    "name": pgettext_lazy("audit", "Name"),
    "number": pgettext_lazy("audit", "Print no."),
    "number_kind": pgettext_lazy("audit", "Kind of numbers"),
    "numbers": pgettext_lazy("audit", "Customers' numbers"),
    "open_link": pgettext_lazy("audit", "Open link"),
    "paper": pgettext_lazy("audit", "Paper"),
    "passkey": pgettext_lazy("audit", "By passkey"),
    "per_day": pgettext_lazy("audit", "Limit a day"),
    "per_order": pgettext_lazy("audit", "Limit an order"),
    "phone": pgettext_lazy("audit", "Phone"),
    "pin_limit": pgettext_lazy("audit", "Limit by PIN"),
    "purpose": pgettext_lazy("audit", "Link for"),
    "query": pgettext_lazy("audit", "Filter"),
    "reason": pgettext_lazy("audit", "Reason"),
    "result": pgettext_lazy("audit", "Result"),
    "rights": pgettext_lazy("audit", "Rights"),
    "role": pgettext_lazy("audit", "Role"),
    "rows": pgettext_lazy("audit", "Rows"),
    "says": pgettext_lazy("audit", "Role at the provider"),
    "seconds": pgettext_lazy("audit", "For seconds"),
    "sessions": pgettext_lazy("audit", "Sessions"),
    "sha256": pgettext_lazy("audit", "SHA-256"),
    "shift": pgettext_lazy("audit", "Shift"),
    "shifts": pgettext_lazy("audit", "Shifts"),
    "state": pgettext_lazy("audit", "State"),
    "sub": pgettext_lazy("audit", "ID at the provider"),
    "subject": pgettext_lazy("audit", "About"),
    "target": pgettext_lazy("audit", "Rule for"),
    "terms": pgettext_lazy("audit", "Rule"),
    "till": pgettext_lazy("audit", "Till"),
    "until": pgettext_lazy("audit", "Until"),
}
#: Why a try was refused; other events keep a person's own words under the same name.
REASONS: dict[str, Promise] = {
    "name_taken": pgettext_lazy("audit", "somebody has the name already"),
    "no_name": pgettext_lazy("audit", "no name that can be used"),
    "no_role": pgettext_lazy("audit", "no role in this shop"),
    "off": pgettext_lazy("audit", "account switched off"),
    "password": pgettext_lazy("audit", "wrong password"),
    "provider": pgettext_lazy("audit", "the provider did not answer"),
    "slow": pgettext_lazy("audit", "too many wrong codes"),
    "slow_password": pgettext_lazy("audit", "too many wrong passwords"),
    "stale": pgettext_lazy("audit", "another step was confirmed"),
    "used": pgettext_lazy("audit", "code used already"),
    "wrong": pgettext_lazy("audit", "wrong code"),
}
_TRIES = {Kind.FACTOR_FAILED, Kind.PASSWORD_REFUSED, Kind.SIGN_IN_FAILED}
_FACTORS: dict[str, Promise] = {
    "recovery_codes": pgettext_lazy("audit", "recovery codes"),
    "totp": pgettext_lazy("audit", "authenticator app"),
    "webauthn": pgettext_lazy("audit", "passkey"),
}
_VALUES: dict[str, dict[str, Promise]] = {
    "because": {
        "ended": pgettext_lazy("audit", "session ended"),
        "idle": pgettext_lazy("audit", "nobody did anything"),
        "more": pgettext_lazy("audit", "password sign-in for more"),
        "next": pgettext_lazy("audit", "next person"),
        "provider": pgettext_lazy("audit", "sign-in provider switched off"),
        "till": pgettext_lazy("audit", "till left"),
    },
    "by": {
        "migration": pgettext_lazy("audit", "an update of the app"),
        "oidc": pgettext_lazy("audit", "sign-in provider"),
        "password": pgettext_lazy("audit", "password"),
        "pin": pgettext_lazy("audit", "PIN"),
    },
    "kind": _FACTORS,
    "kinds": _FACTORS,
    "list": {
        "proof": pgettext_lazy("audit", "proof of a full history"),
        "story": pgettext_lazy("audit", "full history of an order"),
    },
    "numbers": {"whole": pgettext_lazy("audit", "whole")},
}
_CHOICES = {"purpose": AccessLink.Purpose, "role": Role, "says": Role, "state": ApprovalState}
_RUPIAH = {
    *("amount", "approval_above", "cap", "counted", "difference", "expected", "largest_loss", "left"),
    *("per_day", "per_order", "pin_limit"),
}
_LONGEST = 80


def name_words(name: str) -> str:
    """The fact's name in words; its own name without any."""
    return str(NAMES.get(name, name))


def value_words(name: str, value: Any, kind: str = "") -> str:
    """Its value in the reader's words; a long one is cut. `kind`: of the event."""
    return Truncator(_said(name, value, kind)).chars(_LONGEST)


def change_words(name: str, before: Any, after: Any) -> str:
    """A field's value before and now. For a list: all that came and all that went, since readers look for that."""
    if not (isinstance(before, list) and isinstance(after, list)):
        return f"{value_words(name, before)} → {value_words(name, after)}"
    came, went = ([one for one in here if one not in there] for here, there in ((after, before), (before, after)))
    moved = [f"+ {_said(name, one, '')}" for one in came] + [f"− {_said(name, one, '')}" for one in went]
    return ", ".join(moved) or pgettext("audit", "as before")


def _said(name: str, value: Any, kind: str) -> str:
    match value:
        case None | Mapping() if name == "terms":
            words = terms_words(Terms(**value) if value else None)
        case None:
            words = "–"
        case bool():
            words = pgettext("audit", "yes") if value else pgettext("audit", "no")
        case int() if name in _RUPIAH:
            words = rupiah(value)
        case Mapping() if name != "content":
            words = ", ".join(f"{name_words(key)}: {_said(key, one, kind)}" for key, one in value.items())
        case list():
            words = ", ".join(_said(name, one, kind) for one in value)
        case str():
            words = _coded(name, value, kind)
        case _:
            words = json.dumps(value, ensure_ascii=False)
    return words


def _coded(name: str, value: str, kind: str) -> str:
    if name == "act":
        return _act(value)
    if name == "rights" and value in Right:
        return str(Right(value).label)
    if name == "reason":
        return str(REASONS.get(value, value)) if kind in _TRIES else value
    if name == "until":
        with suppress(ValueError):
            return clock(dt.datetime.fromisoformat(value))
    if (choices := _CHOICES.get(name)) and value in choices.values:
        return str(choices(value).label)
    said = _VALUES.get(name, {}).get(value, value)
    return method_words(value) if name == "method" else str(said)


def _act(code: str) -> str:
    is_approved, name = code.startswith("approve:"), code.removeprefix("approve:")
    if act := act_named(name) if is_approved or name not in STEPS else None:
        return gettext("Approve: %(act)s") % {"act": act.label} if is_approved else str(act.label)
    return str(STEPS[name].words) if name in STEPS else name
