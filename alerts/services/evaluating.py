"""Open alerts when their reason arises, and close them when it is gone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import structlog
from django.db import connection
from django.utils import timezone

from alerts.kinds import KINDS
from alerts.kinds.kind import AlertKind, Now, Reason
from alerts.models import Alert

log = structlog.get_logger()

_EVALUATION_LOCK = 7_310_002


def evaluate_alerts() -> None:
    """Open an alert for each reason that stands, close those whose reason is gone. Safe at any time, by anyone.

    Who comes while another evaluates leaves it to that one. A kind that fails keeps its alerts as they are, and stops
    no other.
    """
    with _alone() as is_ours:
        if not is_ours:
            return
        now, standing = Now(), list(Alert.objects.open())
        for kind in KINDS.values():
            try:
                _evaluate(kind, now, [alert for alert in standing if alert.kind == kind.code])
            except Exception:
                log.exception("alert_kind_failed", kind=kind.code)


def _evaluate(kind: AlertKind, now: Now, standing: list[Alert]) -> None:
    reasons = kind.reasons(now)
    if {reason.key for reason in reasons} - {alert.key for alert in standing}:
        # Somebody may have settled it meanwhile: what is new is read again before anybody is notified.
        reasons = kind.reasons(Now())
    keep_alerts(kind.code, reasons, standing)


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


def keep_alerts(code: str, reasons: list[Reason], standing: Iterable[Alert] | None = None) -> None:
    """Make the open alerts of the kind `code` those of `reasons`, keeping the ones that stand.

    `standing`: those that are open, if they were read already; nobody else opens or closes any meanwhile.
    """
    open_ones = Alert.objects.open().filter(kind=code) if standing is None else standing
    known = {alert.key: alert for alert in open_ones}
    wanted = {reason.key: reason for reason in reasons}
    for key in known.keys() - wanted.keys():
        Alert.objects.filter(pk=known[key].pk).update(closed_at=timezone.now())
        log.info("alert_closed", kind=code, key=key)
    for key, reason in wanted.items():
        facts = {"severity": reason.severity, "facts": reason.facts}
        if key not in known:
            Alert.objects.create(kind=code, key=key, **facts)
            log.error("alert_opened", kind=code, key=key)
        elif (known[key].severity, known[key].facts) != (reason.severity, reason.facts):
            Alert.objects.filter(pk=known[key].pk).update(**facts)
