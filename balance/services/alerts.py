"""The rules that open alerts, and close them when their reason is gone. Showing and sending is the pages' work."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field
from typing import Any

import structlog
from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from backoffice import health
from balance.engine import State
from balance.models import Alert, Difference, Reconciliation, Spending
from balance.services.account import latest_reading, upstream_account
from balance.services.ledger import available
from balance.services.numbers import one_moment, usual_spending_per_hour

log = structlog.get_logger()

UNREACHABLE_AFTER = dt.timedelta(minutes=2)
UNKNOWN_AFTER = dt.timedelta(minutes=15)
# The amount of a proven change is ordinarily known with the next reading or two.
UNDECIDED_AFTER = dt.timedelta(minutes=5)

_Kind, _Severity = Alert.Kind, Alert.Severity


@dataclass(frozen=True, kw_only=True)
class Reason:
    """Why an alert of a kind is to be open: which one (`key`), how grave, and what its text names."""

    key: str = ""
    severity: Alert.Severity = _Severity.WARNING
    facts: dict[str, Any] = field(default_factory=dict)


def evaluate_alerts() -> None:
    """Open an alert for each reason that stands, close those whose reason is gone. Safe at any time, by anyone."""
    now = timezone.now()
    with one_moment():
        low_balance = _low_balance(now)
    keep_alerts(_Kind.LOW_BALANCE, low_balance)
    keep_alerts(_Kind.UNEXPLAINED_DIFFERENCE, _unexplained_differences(now))
    keep_alerts(_Kind.CREDENTIALS_REFUSED, _refusal())
    keep_alerts(_Kind.UPSTREAM_UNREACHABLE, _silence(now))
    keep_alerts(_Kind.ORDER_UNKNOWN, _unknown_orders(now))
    evaluate_process_alerts()


def evaluate_process_alerts() -> None:
    """The one rule that also somebody else has to evaluate: with beat or the worker silent, no task of theirs runs."""
    keep_alerts(
        _Kind.PROCESS_SILENT,
        [Reason(key=name, severity=_Severity.CRITICAL, facts={"process": name}) for name in health.silent_processes()],
    )


def keep_alerts(kind: Alert.Kind, reasons: list[Reason]) -> None:
    """Make the open alerts of `kind` those of `reasons`, keeping the ones that stand."""
    standing = {alert.key: alert for alert in Alert.objects.filter(kind=kind, closed_at__isnull=True)}
    wanted = {reason.key: reason for reason in reasons}
    for key, alert in standing.items():
        if key not in wanted:
            Alert.objects.filter(pk=alert.pk, closed_at__isnull=True).update(closed_at=timezone.now())
            log.info("alert_closed", kind=str(kind), key=key)
    for key, reason in wanted.items():
        if key in standing:
            if (standing[key].severity, standing[key].facts) != (reason.severity, reason.facts):
                Alert.objects.filter(pk=standing[key].pk).update(severity=reason.severity, facts=reason.facts)
            continue
        try:
            with transaction.atomic():
                Alert.objects.create(kind=kind, key=key, severity=reason.severity, facts=reason.facts)
        except IntegrityError:
            continue  # opened by somebody else meanwhile; the database keeps it one
        log.error("alert_opened", kind=str(kind), key=key)


def _low_balance(now: dt.datetime) -> list[Reason]:
    """Below the threshold in rupiah, or less than so many hours of usual spending left."""
    left = available()
    if left is None:
        reading = latest_reading()
        if reading is None:
            return []
        left = reading.balance
    per_hour = usual_spending_per_hour(now)
    lasts_for = per_hour * settings.ALERT_LOW_BALANCE_HOURS if per_hour else 0
    threshold = max(settings.ALERT_LOW_BALANCE, round(lasts_for))
    if left >= threshold:
        return []
    hours = round(left / per_hour, 1) if per_hour else None
    return [Reason(facts={"available": left, "threshold": threshold, "hours_left": hours})]


def _unexplained_differences(now: dt.datetime) -> list[Reason]:
    reasons = [
        Reason(
            key=str(found.pk),
            severity=_Severity.CRITICAL if found.amount < 0 else _Severity.WARNING,
            facts={
                "difference": found.pk,
                "amount": found.amount,
                "label": found.label,
                "from_at": found.from_at.isoformat(),
                "to_at": found.to_at.isoformat(),
                "candidates": found.candidates,
            },
        )
        for found in Difference.objects.open().exclude(label=Difference.Label.TOPUP)
    ]
    row = Reconciliation.objects.filter(only=True).first()
    state = State.from_json(row.state) if row and row.state else None
    if state and state.changed_at and now - state.changed_at > UNDECIDED_AFTER:
        # Something has moved the balance; an order that waits for a person keeps us from knowing by how much.
        facts = {"to_at": state.changed_at.isoformat(), "amounts": state.undecided[:10], "orders": state.undecided_by}
        reasons.append(Reason(key="undecided", severity=_Severity.CRITICAL, facts=facts))
    return reasons


def _refusal() -> list[Reason]:
    account = upstream_account()
    if account.refused_since is None:
        return []
    facts = {"error_code": account.refused_code, "since": account.refused_since.isoformat()}
    return [Reason(severity=_Severity.CRITICAL, facts=facts)]


def _silence(now: dt.datetime) -> list[Reason]:
    since = upstream_account().unreachable_since
    if since is None or now - since < UNREACHABLE_AFTER:
        return []
    return [Reason(severity=_Severity.CRITICAL, facts={"since": since.isoformat()})]


def _unknown_orders(now: dt.datetime) -> list[Reason]:
    doubtful = Spending.objects.filter(charged__isnull=True, sent_at__lt=now - UNKNOWN_AFTER).order_by("sent_at")
    return [
        Reason(
            key=spending.ref_id,
            facts={"ref_id": spending.ref_id, "amount": spending.amount, "since": spending.sent_at.isoformat()},
        )
        for spending in doubtful[:200]
    ]
