"""Open alerts when their reason arises, and close them when it is gone."""

import datetime as dt
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import structlog
from django.db import connection
from django.db.models import functions
from django.utils import timezone

from alerts.kinds import KINDS
from alerts.kinds.kind import AlertKind, Now, Reason
from alerts.models import Alert, Evaluation
from core import clock

log = structlog.get_logger()

# A dead evaluator delays the others at most this long (seconds); an evaluation lasts milliseconds.
_TURN_SECONDS = 30
# beat asks for three evaluations in this time (seconds).
_LATE_SECONDS = 60
_TAKE_TURN = """
    INSERT INTO alerts_evaluation ("only", turn_until)
    VALUES (TRUE, clock_timestamp() + %(seconds)s * interval '1 second')
    ON CONFLICT ("only") DO UPDATE SET turn_until = excluded.turn_until
    WHERE alerts_evaluation.turn_until <= clock_timestamp()
    RETURNING turn_until
"""


def evaluate_alerts() -> None:
    """Open an alert for each reason that stands, close those whose reason is gone. Safe at any time, by anyone.

    A second caller does nothing while another evaluates. A kind that fails keeps its alerts as they are, and stops
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
                # Any fault: a kind reads other rooms, and a failure there must not silence the other kinds. The
                # log keeps it with its trace, again at each evaluation until it is fixed.
                log.exception("alert_kind_failed", kind=kind.code)


def is_evaluation_late() -> bool:
    """Whether nobody has evaluated for a minute."""
    lately = clock.now() - dt.timedelta(seconds=_LATE_SECONDS)
    return not Evaluation.objects.filter(turn_until__gt=lately).exists()


def _evaluate(kind: AlertKind, now: Now, standing: list[Alert]) -> None:
    reasons = kind.reasons(now)
    if {reason.key for reason in reasons} - {alert.key for alert in standing}:
        # Somebody may have settled it meanwhile: a new alert is read again before anybody is notified.
        reasons = kind.reasons(Now())
    keep_alerts(kind.code, reasons, standing)


@contextmanager
def _alone() -> Iterator[bool]:
    """Whether nobody else is evaluating. The turn is a row: a lock of the connection does not fit a pooler."""
    with connection.cursor() as cursor:
        cursor.execute(_TAKE_TURN, {"seconds": _TURN_SECONDS})
        row = cursor.fetchone()
    try:
        yield row is not None
    finally:
        if row:
            Evaluation.objects.filter(turn_until=row[0]).update(turn_until=functions.Now())


def keep_alerts(code: str, reasons: list[Reason], standing: Iterable[Alert] | None = None) -> None:
    """Make the open alerts of the kind `code` match `reasons`, keeping the ones that are still right.

    `standing`: the open alerts, if the caller has read them; nobody else opens or closes any meanwhile.
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
