"""The rules that open alerts, and close them when their reason is gone. `telling` tells people."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import structlog
from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from backoffice import health
from balance.engine import State
from balance.models import Alert, Difference, Reconciliation, Spending
from balance.services.account import latest_reading, upstream_account
from balance.services.ledger import available, books
from balance.services.numbers import one_moment, usual_spending_per_hour
from balance.services.reconciling import books_off_by

log = structlog.get_logger()

UNREACHABLE_AFTER = dt.timedelta(minutes=2)
UNKNOWN_AFTER = dt.timedelta(minutes=15)
# The amount of a proven change is ordinarily known with the next reading or two.
UNDECIDED_AFTER = dt.timedelta(minutes=5)
# Ordinarily the books are compared for good every minute or two.
NOT_COMPARED_AFTER = dt.timedelta(minutes=15)
NOT_COMPARED_CRITICAL_AFTER = dt.timedelta(hours=1)
_EVALUATION_LOCK = 7_310_002

_Kind, _Severity = Alert.Kind, Alert.Severity


@dataclass(frozen=True, kw_only=True)
class Reason:
    """Why an alert of a kind is to be open: which one (`key`), how grave, and what its text names."""

    key: str = ""
    severity: Alert.Severity = _Severity.WARNING
    facts: dict[str, Any] = field(default_factory=dict)


Rule = Callable[[dt.datetime], list[Reason]]


def evaluate_alerts() -> None:
    """Open an alert for each reason that stands, close those whose reason is gone. Safe at any time, by anyone.

    Who comes while another evaluates leaves it to that one. A rule that fails keeps its alerts as they are, and stops
    no other.
    """
    with _alone() as is_ours:
        if not is_ours:
            return
        for kind, rule in _RULES.items():
            try:
                _evaluate(kind, rule)
            except Exception:
                log.exception("alert_rule_failed", kind=str(kind))


def _evaluate(kind: Alert.Kind, rule: Rule) -> None:
    reasons = rule(timezone.now())
    known = set(Alert.objects.open().filter(kind=kind).values_list("key", flat=True))
    if any(reason.key not in known for reason in reasons):
        # Somebody may have settled it while we looked: what is new is looked at again before anybody is told.
        reasons = rule(timezone.now())
    keep_alerts(kind, reasons)


@contextmanager
def _alone() -> Iterator[bool]:
    """Whether nobody else is evaluating. The lock belongs to the connection and ends with it, whatever happens."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [_EVALUATION_LOCK])
        is_ours = bool(cursor.fetchone()[0])
    try:
        yield is_ours
    finally:
        if is_ours:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [_EVALUATION_LOCK])


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
    with one_moment():
        left = available()
        if left is None:
            reading = latest_reading()
            left = reading.balance if reading else None
        per_hour = usual_spending_per_hour(now)
    if left is None:
        return []
    lasts_for = per_hour * settings.ALERT_LOW_BALANCE_HOURS if per_hour else 0
    threshold = max(settings.ALERT_LOW_BALANCE, round(lasts_for))
    if left >= threshold:
        return []
    hours = round(left / per_hour, 1) if per_hour else None
    return [Reason(facts={"available": left, "threshold": threshold, "hours_left": hours})]


def _unexplained_differences(now: dt.datetime) -> list[Reason]:
    with one_moment():
        found = list(Difference.objects.open().exclude(label=Difference.Label.TOPUP))
        row = Reconciliation.objects.filter(only=True).first()
        off_by = books_off_by()
    reasons = [
        Reason(
            key=str(difference.pk),
            severity=_Severity.CRITICAL if difference.amount < 0 else _Severity.WARNING,
            facts={
                "difference": difference.pk,
                "amount": difference.amount,
                "label": difference.label,
                "from_at": difference.from_at.isoformat(),
                "to_at": difference.to_at.isoformat(),
                "candidates": difference.candidates,
            },
        )
        for difference in found
    ]
    state = State.from_json(row.state) if row and row.state else None
    if state and state.changed_at and now - state.changed_at > UNDECIDED_AFTER:
        # Something has moved the balance; an order that waits for a person keeps us from knowing by how much.
        facts = {"to_at": state.changed_at.isoformat(), "amounts": state.undecided[:10], "orders": state.undecided_by}
        reasons.append(Reason(key="undecided", severity=_Severity.CRITICAL, facts=facts))
    if off_by:
        reasons.append(Reason(key="books", severity=_Severity.CRITICAL, facts={"books_off_by": off_by}))
    return reasons


def _not_compared(now: dt.datetime) -> list[Reason]:
    """The books were not compared for good for long; at first only if no other alert says why."""
    row = Reconciliation.objects.filter(only=True).first()
    since = (row.compared_at if row else None) or books().opened_at
    if since is None or now - since < NOT_COMPARED_AFTER:
        return []
    account = upstream_account()
    is_away = account.refused_since is not None or account.unreachable_since is not None
    if not is_away and account.last_answer_at and now - account.last_answer_at > NOT_COMPARED_AFTER:
        return []  # nobody has asked: we have only just been started, or a process is silent, which is told by itself
    is_critical = now - since >= NOT_COMPARED_CRITICAL_AFTER
    if not is_critical and (is_away or _was_away(now)):
        return []
    severity = _Severity.CRITICAL if is_critical else _Severity.WARNING
    return [Reason(severity=severity, facts={"since": since.isoformat()})]


def _was_away(now: dt.datetime) -> bool:
    """Whether the upstream is back so lately that a comparison could not be expected yet."""
    kinds = [_Kind.CREDENTIALS_REFUSED, _Kind.UPSTREAM_UNREACHABLE]
    return Alert.objects.filter(kind__in=kinds, closed_at__gt=now - NOT_COMPARED_AFTER).exists()


def _refusal(_now: dt.datetime) -> list[Reason]:
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


def _silent_processes(_now: dt.datetime) -> list[Reason]:
    return [
        Reason(key=name, severity=_Severity.CRITICAL, facts={"process": name}) for name in health.silent_processes()
    ]


_RULES: dict[Alert.Kind, Rule] = {
    _Kind.LOW_BALANCE: _low_balance,
    _Kind.UNEXPLAINED_DIFFERENCE: _unexplained_differences,
    _Kind.CREDENTIALS_REFUSED: _refusal,
    _Kind.UPSTREAM_UNREACHABLE: _silence,
    _Kind.NOT_COMPARED: _not_compared,  # after the two that may explain it
    _Kind.ORDER_UNKNOWN: _unknown_orders,
    _Kind.PROCESS_SILENT: _silent_processes,
}
