"""What an alert says: a title, the facts, and the next step; for pages, mail and messages alike."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.urls import reverse
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from backoffice.money import rupiah
from backoffice.times import clock
from balance.models import Alert, Difference

if TYPE_CHECKING:
    from staff.models import User

Kind = Alert.Kind

# Whom an alert of a kind concerns: those who hold this permission.
CONCERNS = {
    Kind.LOW_BALANCE: "balance.view_books",
    Kind.UNEXPLAINED_DIFFERENCE: "balance.view_difference",
    Kind.NOT_COMPARED: "balance.view_difference",
    Kind.CREDENTIALS_REFUSED: "purchases.view_order",
    Kind.UPSTREAM_UNREACHABLE: "purchases.view_order",
    Kind.ORDER_UNKNOWN: "purchases.view_order",
    Kind.PROCESS_SILENT: "purchases.view_order",
}

# The banner about the upstream says these to everybody, from their first second on.
_IN_BANNER = {Kind.CREDENTIALS_REFUSED, Kind.UPSTREAM_UNREACHABLE}
# So many are shown in full on every page.
_SHOWN = 2


@dataclass(frozen=True)
class AlertWords:
    """An alert in words. `url`: where its next step is, without the host; empty when that is outside these pages."""

    title: str
    facts: str
    next_step: str
    url: str = ""


@dataclass(frozen=True)
class ShownAlert:
    """An open alert as pages show it."""

    severity: str
    is_critical: bool
    words: AlertWords
    opened_at: dt.datetime


@dataclass(frozen=True)
class ShownAlerts:
    """The open alerts for the head of a page: the gravest in full, the others only counted."""

    shown: list[ShownAlert]
    more: int = 0
    more_are_critical: bool = False

    @classmethod
    def for_head(cls, user: User) -> ShownAlerts:
        """What concerns this person, without what the upstream's own banner says already."""
        found = [alert for alert in concerning(user) if alert.kind not in _IN_BANNER]
        shown, rest = found[:_SHOWN], found[_SHOWN:]
        return cls(
            shown=[
                ShownAlert(
                    severity=alert.get_severity_display(),
                    is_critical=alert.severity == Alert.Severity.CRITICAL,
                    words=in_words(alert),
                    opened_at=alert.opened_at,
                )
                for alert in shown
            ],
            more=len(rest),
            more_are_critical=any(alert.severity == Alert.Severity.CRITICAL for alert in rest),
        )


def concerning(user: User) -> list[Alert]:
    """The open alerts that concern this person, the gravest first."""
    kinds = [kind for kind, permission in CONCERNS.items() if user.has_perm(permission)]
    return list(Alert.objects.open().filter(kind__in=kinds))


def in_words(alert: Alert) -> AlertWords:
    """The alert's words, in the language that is active."""
    return _WRITERS[Kind(alert.kind)](alert.facts)


def _low_balance(facts: dict[str, Any]) -> AlertWords:
    left = _("%(amount)s are available; the alert is set to %(threshold)s.") % {
        "amount": rupiah(facts.get("available", 0)),
        "threshold": rupiah(facts.get("threshold", 0)),
    }
    if (hours := facts.get("hours_left")) is not None:
        left += " " + (
            _("At the usual pace that lasts for less than an hour.")
            if hours < 1
            else _("At the usual pace that lasts for %(hours)s hours.") % {"hours": number_format(hours, 1)}
        )
    return AlertWords(
        title=_("The balance is low."),
        facts=left,
        next_step=_("Top up in the upstream's dashboard."),
        url=reverse("balance"),
    )


def _difference(facts: dict[str, Any]) -> AlertWords:
    if "books_off_by" in facts:
        return _books_off(facts)
    if "amount" not in facts:
        return _undecided(facts)
    amount = int(facts["amount"])
    named = facts.get("candidates") or []
    if amount < 0:
        title = _("%(amount)s are missing at the upstream, and no order explains it.") % {"amount": rupiah(-amount)}
    else:
        title = _("%(amount)s too many are at the upstream, and no order explains it.") % {"amount": rupiah(amount)}
    words = _("Between %(start)s and %(end)s.") % {"start": _at(facts, "from_at"), "end": _at(facts, "to_at")}
    if facts.get("label") in Difference.Label.values:
        words = f"{Difference.Label(facts['label']).label}. {words}"
    if named:
        words += " " + _("Orders that may be behind it: %(ref_ids)s.") % {
            "ref_ids": ", ".join(candidate["ref_id"] for candidate in named[:5])
        }
    return AlertWords(
        title=title,
        facts=words,
        next_step=_("Look at it, ask the upstream, and take it into the books with the reason."),
        url=reverse("difference_detail", args=[facts["difference"]]),
    )


def _books_off(facts: dict[str, Any]) -> AlertWords:
    """The books are not what their orders and differences make: somebody changed rows behind the software's back."""
    return AlertWords(
        title=_("The books do not add up by %(amount)s.") % {"amount": rupiah(abs(facts["books_off_by"]))},
        facts=_("They are not what the orders and differences make; rows were changed in the database itself."),
        next_step=_("Keep the database as it is, and have somebody look into it."),
        url=reverse("balance"),
    )


def _undecided(facts: dict[str, Any]) -> AlertWords:
    """Something has certainly moved the balance, and which of several amounts hangs on orders of unknown outcome."""
    orders = [str(ref_id) for ref_id in facts.get("orders") or []]
    words = _("By how much is known when the open orders are; they are asked about first.")
    if amounts := facts.get("amounts"):
        words = (
            _("It is one of these amounts: %(amounts)s.") % {"amounts": ", ".join(map(rupiah, amounts))} + " " + words
        )
    if orders:
        words += " " + _("It waits for the outcome of %(ref_ids)s.") % {"ref_ids": ", ".join(orders[:5])}
    return AlertWords(
        title=_("Something moved the balance beside our orders."),
        facts=words,
        next_step=_("See which orders it waits for."),
        url=reverse("order_detail", args=[orders[0]]) if len(orders) == 1 else reverse("balance"),
    )


def _not_compared(facts: dict[str, Any]) -> AlertWords:
    return AlertWords(
        title=_("The books have not been compared with the upstream's balance for long."),
        facts=_("The last comparison that holds is of %(since)s; money that has gone missing since is not noticed.")
        % {"since": _at(facts, "since")},
        next_step=_("See what the comparison waits for; if it waits for nothing, ask whoever runs the server."),
        url=reverse("balance"),
    )


def _refusal(facts: dict[str, Any]) -> AlertWords:
    return AlertWords(
        title=_("The upstream refuses our account (%(code)s).") % {"code": facts.get("error_code", "?")},
        facts=_("Nothing is sent since %(since)s; new orders wait.") % {"since": _at(facts, "since")},
        next_step=_("Put the credentials, the account or the allowed IP address right in the upstream's dashboard."),
    )


def _silence(facts: dict[str, Any]) -> AlertWords:
    return AlertWords(
        title=_("The upstream cannot be reached."),
        facts=_("It has answered nothing since %(since)s; new orders wait.") % {"since": _at(facts, "since")},
        next_step=_("Check the shop's network; if that works, ask the upstream."),
    )


def _unknown_order(facts: dict[str, Any]) -> AlertWords:
    return AlertWords(
        title=_("The outcome of order %(ref_id)s has been unknown for long.") % {"ref_id": facts.get("ref_id", "?")},
        facts=_("%(amount)s may have been charged; sent at %(since)s.")
        % {"amount": rupiah(facts.get("amount", 0)), "since": _at(facts, "since")},
        next_step=_("Do not buy it again. Open it, and ask the upstream with its ref_id."),
        url=reverse("order_detail", args=[facts["ref_id"]]) if facts.get("ref_id") else "",
    )


def _silent_process(facts: dict[str, Any]) -> AlertWords:
    name = str(facts.get("process", "?"))
    means = {
        "worker": _("New orders wait; they are sent, later, by the sweep."),
        "background": _("Nobody asks about open orders, and the balance is not read."),
        "beat": _("Nothing is done by itself any more: no checks, no balance, no comparison."),
        "redis": _("Orders are stored and wait until it is back."),
    }
    return AlertWords(
        title=_("A process gives no sign of life: %(name)s.") % {"name": name},
        facts=means.get(name, ""),
        next_step=_("Whoever runs the server looks at its log and starts it again."),
    )


_WRITERS = {
    Kind.LOW_BALANCE: _low_balance,
    Kind.UNEXPLAINED_DIFFERENCE: _difference,
    Kind.NOT_COMPARED: _not_compared,
    Kind.CREDENTIALS_REFUSED: _refusal,
    Kind.UPSTREAM_UNREACHABLE: _silence,
    Kind.ORDER_UNKNOWN: _unknown_order,
    Kind.PROCESS_SILENT: _silent_process,
}


def _at(facts: dict[str, Any], name: str) -> str:
    return clock(dt.datetime.fromisoformat(facts[name])) if facts.get(name) else "–"
