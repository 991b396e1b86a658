"""Notify people of alerts on every way that is configured.

On each way people are notified of an alert once an hour at most, also when it comes and goes within minutes, and once
of its end, when it has lasted. All that is due goes into one message. A notice is claimed, then sent outside any
transaction, then noted. A failed message is tried again after 15 seconds. One without an answer in time may have
arrived: it is tried again after 10 minutes. Each time the wait doubles, up to an hour. So a server that takes messages
and confirms none gets three of them in the first hour, then one an hour, and one about an end.
"""

import datetime as dt

import structlog
from apprise import NotifyType
from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone, translation
from django.utils.translation import gettext as _, ngettext

from alerts.kinds import KINDS, in_words
from alerts.models import Alert, AlertNotice, Severity
from alerts.services.ways import Fault, Way, ways
from core import clock
from policies.services import is_between, policies
from shop.services import current_shop, shop_name

log = structlog.get_logger()

AGAIN_AFTER = dt.timedelta(hours=1)
# An end counts only when it has lasted this long.
OVER_AFTER = dt.timedelta(minutes=5)
_RETRY_AFTER = {Fault.FAILED: dt.timedelta(seconds=15), Fault.NO_ANSWER: dt.timedelta(minutes=10)}
_CLAIM = dt.timedelta(seconds=60)
_LOOKS = {Severity.CRITICAL: NotifyType.FAILURE, Severity.WARNING: NotifyType.WARNING}


def notify_people() -> None:
    """Send what is due on every configured way. Safe at any time, by anyone, at once."""
    for way in ways():
        _notify_by(way)


def _notify_by(way: Way) -> None:
    now = clock.now()
    notices = _claim(way, now)
    if not notices:
        return
    with translation.override(current_shop().language or settings.LANGUAGE_CODE):
        title, text, look = message_of([notice.alert for notice in notices])
    fault = way.send(title, text, look=look)
    opened = [notice.pk for notice in notices if notice.alert.closed_at is None]
    ended = [notice.pk for notice in notices if notice.alert.closed_at is not None]
    if fault != Fault.FAILED:
        AlertNotice.objects.filter(pk__in=opened).update(notified_at=now)
        AlertNotice.objects.filter(pk__in=ended).update(end_notified_at=now)
    if fault is None:
        AlertNotice.objects.filter(pk__in=opened + ended).update(not_before=None, failures=0, fault="")
        log.info("alerts_sent", way=way.name, opened=len(opened), ended=len(ended))
        return
    for notice in notices:
        _put_off(notice, fault, now)
    log.warning("alerts_not_confirmed", way=way.name, alerts=len(notices), fault=fault.value)


def _put_off(notice: AlertNotice, fault: Fault, now: dt.datetime) -> None:
    wait = min(_RETRY_AFTER[fault] * 2 ** min(notice.failures, 10), AGAIN_AFTER)
    AlertNotice.objects.filter(pk=notice.pk).update(not_before=now + wait, failures=F("failures") + 1, fault=fault)


def _claim(way: Way, now: dt.datetime) -> list[AlertNotice]:
    """The due notices on this way, for us alone until they are sent or `_CLAIM` has passed."""
    new = Alert.objects.open().filter(kind__in=KINDS).exclude(notices__way=way.key)
    AlertNotice.objects.bulk_create(
        [AlertNotice(alert=alert, way=way.key, service=way.name) for alert in new], ignore_conflicts=True
    )
    with transaction.atomic():
        notices = list(
            _due(way, now)
            .select_related("alert")
            .select_for_update(of=("self",), skip_locked=True)
            .order_by(F("alert__closed_at").asc(nulls_first=True), "alert__severity", "alert__opened_at", "pk")
        )
        AlertNotice.objects.filter(pk__in=[notice.pk for notice in notices]).update(not_before=now + _CLAIM)
    return notices


def _due(way: Way, now: dt.datetime) -> QuerySet[AlertNotice]:
    """Open alerts without a message within the hour, and lasting ends of alerts that people were notified of.

    An alert that opens again is a new row of the same kind and key. For an hour the message about the row before counts
    for it, unless an end was sent.
    """
    same = {"alert__kind": OuterRef("alert__kind"), "alert__key": OuterRef("alert__key")}
    heard = AlertNotice.objects.filter(way=way.key, notified_at__isnull=False, **same)
    is_settled = Q(failures=0) | Q(not_before__gt=now)
    heard_lately = heard.filter(is_settled, notified_at__gt=now - AGAIN_AFTER, end_notified_at__isnull=True)
    is_on = Alert.objects.filter(
        Q(closed_at__isnull=True) | Q(closed_at__gt=now - OVER_AFTER),
        kind=OuterRef("alert__kind"),
        key=OuterRef("alert__key"),
    )
    is_open = Q(alert__closed_at__isnull=True) & ~Q(Exists(heard_lately))
    has_ended = Q(alert__closed_at__gt=way.since, notified_at__isnull=False) & ~Q(Exists(is_on))
    heard_of_a_later_one = heard.filter(alert__gt=OuterRef("alert"))
    loud = Q(alert__severity=Severity.CRITICAL) if is_quiet(now) else Q()
    return AlertNotice.objects.filter(
        loud,
        is_open | (has_ended & ~Q(Exists(heard_of_a_later_one))),
        Q(not_before__isnull=True) | Q(not_before__lt=now),
        way=way.key,
        end_notified_at__isnull=True,
        alert__kind__in=KINDS,
    )


def is_quiet(now: dt.datetime) -> bool:
    """Whether the shop's quiet hours are on, which may pass midnight; then only critical alerts are sent."""
    held = policies()
    return is_between(held.quiet_from, held.quiet_to, timezone.localtime(now).time())


def message_of(alerts: list[Alert]) -> tuple[str, str, NotifyType]:
    """Title, text and look of one message about these alerts, the open ones first, in the language that is active."""
    first, more = alerts[0], len(alerts) - 1
    title = _title(first)
    if more:
        title += " " + ngettext("(and %(n)s more)", "(and %(n)s more)", more) % {"n": more}
    look = NotifyType.SUCCESS if first.closed_at else _LOOKS[Severity(first.severity)]
    return f"[{shop_name()}] {title}", "\n\n".join(map(_paragraph, alerts)), look


def _title(alert: Alert) -> str:
    title = in_words(alert).title
    return _("Over: %(title)s") % {"title": title} if alert.closed_at else title


def _paragraph(alert: Alert) -> str:
    if alert.closed_at:
        return f"✔ {_title(alert)}"
    words = in_words(alert)
    mark = "‼" if alert.severity == Severity.CRITICAL else "!"
    link = settings.SITE_URL.rstrip("/") + words.url if words.url and settings.SITE_URL else ""
    lines = [f"{mark} {alert.get_severity_display()}: {words.title}", words.facts, words.next_step, link]
    return "\n".join(line for line in lines if line)
