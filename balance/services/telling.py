"""Tell people about alerts by e-mail and webhook.

Each alert is told once an hour at most on each way, also when it comes and goes within minutes; its end once, when it
has lasted. All that is due goes into one message. Nothing is sent inside a transaction: what is due is claimed first,
then sent, then noted. What certainly failed is tried again, ever more seldom; what may have arrived counts as told.
"""

from __future__ import annotations

import datetime as dt
import json
import smtplib
import threading
from collections.abc import Callable

import structlog
from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from balance.alert_words import in_words
from balance.models import Alert, AlertNotice
from upstream.transport import Lost, NotSent, Transport

log = structlog.get_logger()

Channel = AlertNotice.Channel

AGAIN_AFTER = dt.timedelta(hours=1)
# An end is told when it has lasted for so long: what comes and goes is no all-clear.
OVER_AFTER = dt.timedelta(minutes=5)
# After a failure the next attempt waits, twice as long each time; the first one comes with the next beat.
_RETRY, _RETRY_AT_MOST = dt.timedelta(seconds=15), dt.timedelta(minutes=15)
# A message is given up after so many seconds in all, however slowly the other side answers.
DEADLINE_SECONDS = 20.0
_CLAIM = dt.timedelta(seconds=60)
_MOST_IN_A_MESSAGE = 20


class NotTold(Exception):
    """The message certainly did not get through; the text names the kind of fault, and no address."""


class MayBeTold(Exception):
    """Nobody said whether the message got through; the text as in `NotTold`."""


def channels() -> list[Channel]:
    """The ways to people that are configured."""
    configured = {
        Channel.EMAIL: bool(settings.ALERT_EMAILS),
        Channel.WEBHOOK: bool(settings.ALERT_WEBHOOK_URL),
    }
    return [channel for channel, is_there in configured.items() if is_there]


def tell_alerts() -> None:
    """Tell what is due on every configured way. Safe at any time, by anyone, at once."""
    for channel in channels():
        _tell_on(channel)


def _tell_on(channel: Channel) -> None:
    now = timezone.now()
    notices = _claim(channel, now)
    if not notices:
        return
    with translation.override(settings.LANGUAGE_CODE):
        subject, text = message_of([notice.alert for notice in notices])
    fault = ""
    try:
        _SENDERS[channel](subject, text)
    except NotTold as error:
        log.warning("alerts_not_told", channel=str(channel), alerts=len(notices), fault=str(error))
        for notice in notices:
            _put_off(notice, now, str(error))
        return
    except MayBeTold as error:
        fault = str(error)
    opened = [notice.pk for notice in notices if notice.alert.closed_at is None]
    ended = [notice.pk for notice in notices if notice.alert.closed_at is not None]
    done = {"claimed_until": None, "failures": 0, "fault": fault[:100]}
    AlertNotice.objects.filter(pk__in=opened).update(told_at=now, **done)
    AlertNotice.objects.filter(pk__in=ended).update(end_told_at=now, **done)
    log.info("alerts_told", channel=str(channel), opened=len(opened), ended=len(ended), fault=fault)


def _put_off(notice: AlertNotice, now: dt.datetime, fault: str) -> None:
    wait = min(_RETRY * 2 ** min(notice.failures, 10), _RETRY_AT_MOST)
    AlertNotice.objects.filter(pk=notice.pk).update(
        claimed_until=now + wait, failures=F("failures") + 1, fault=fault[:100]
    )


def _claim(channel: Channel, now: dt.datetime) -> list[AlertNotice]:
    """What is due on this way, for us alone until it is told or `_CLAIM` has passed."""
    fresh = Alert.objects.open().exclude(notices__channel=channel)
    AlertNotice.objects.bulk_create(
        [AlertNotice(alert=alert, channel=channel) for alert in fresh], ignore_conflicts=True
    )
    with transaction.atomic():
        notices = list(
            _due(channel, now)
            .select_related("alert")
            .select_for_update(of=("self",), skip_locked=True)
            .order_by("alert__severity", "alert__opened_at", "pk")
        )
        AlertNotice.objects.filter(pk__in=[notice.pk for notice in notices]).update(claimed_until=now + _CLAIM)
    return notices


def _due(channel: Channel, now: dt.datetime) -> QuerySet[AlertNotice]:
    """Open alerts of which people have not heard within the hour, and lasting ends of those they have heard of.

    An alert that opens again is a new one of the same kind and key: it is as good as told while the one before was
    told within the hour and its end was not.
    """
    same = {"kind": OuterRef("alert__kind"), "key": OuterRef("alert__key")}
    told = AlertNotice.objects.filter(
        channel=channel, alert__kind=OuterRef("alert__kind"), alert__key=OuterRef("alert__key"), told_at__isnull=False
    )
    heard_lately = told.filter(told_at__gt=now - AGAIN_AFTER, end_told_at__isnull=True)
    is_on = Alert.objects.filter(Q(closed_at__isnull=True) | Q(closed_at__gt=now - OVER_AFTER), **same)
    is_open = Q(alert__closed_at__isnull=True) & ~Q(Exists(heard_lately))
    has_ended = Q(alert__closed_at__isnull=False, told_at__isnull=False) & ~Q(Exists(is_on))
    heard_of_a_later_one = told.filter(alert__gt=OuterRef("alert"))
    return AlertNotice.objects.filter(
        is_open | (has_ended & ~Q(Exists(heard_of_a_later_one))),
        Q(claimed_until__isnull=True) | Q(claimed_until__lt=now),
        channel=channel,
        end_told_at__isnull=True,
    )


def message_of(alerts: list[Alert]) -> tuple[str, str]:
    """Subject and text of one message about these alerts, in the language that is active."""
    opened = [alert for alert in alerts if alert.closed_at is None]
    ended = [alert for alert in alerts if alert.closed_at is not None]
    title = in_words(opened[0]).title if opened else _("Over: %(title)s") % {"title": in_words(ended[0]).title}
    if len(alerts) > 1:
        more = len(alerts) - 1
        title += " " + ngettext("(and %(n)s more)", "(and %(n)s more)", more) % {"n": more}
    parts = [_paragraph(alert) for alert in (opened + ended)[:_MOST_IN_A_MESSAGE]]
    if left := len(alerts) - len(parts):
        parts.append(ngettext("… and %(n)s more alert.", "… and %(n)s more alerts.", left) % {"n": left})
    return f"[{settings.SHOP_NAME}] {title}", "\n\n".join(parts)


def _paragraph(alert: Alert) -> str:
    words = in_words(alert)
    if alert.closed_at is not None:
        return "✔ " + _("Over: %(title)s") % {"title": words.title}
    mark = "‼" if alert.severity == Alert.Severity.CRITICAL else "!"
    lines = [f"{mark} {alert.get_severity_display()}: {words.title}", words.facts, words.next_step]
    if words.url and settings.SITE_URL:
        lines.append(settings.SITE_URL.rstrip("/") + words.url)
    return "\n".join(line for line in lines if line)


# Words of the mail server by which it has not taken the message.
_REFUSALS = (smtplib.SMTPResponseException, smtplib.SMTPRecipientsRefused, smtplib.SMTPNotSupportedError)


def _send_mail(subject: str, text: str) -> None:
    """Reach the mail server first: until then, nothing can have been told."""
    server = get_connection()
    mail = EmailMessage(subject, text, settings.DEFAULT_FROM_EMAIL, settings.ALERT_EMAILS, connection=server)
    taken = threading.Event()

    def send() -> None:
        mail.send()
        taken.set()
        server.close()

    if fault := _fault_of(server.open):
        raise NotTold(_name(fault))
    fault = _fault_of(send)
    if fault is None or taken.is_set():
        return
    if isinstance(fault, OSError) and not isinstance(fault, _REFUSALS):
        raise MayBeTold(_name(fault))
    raise NotTold(_name(fault))


def _fault_of(work: Callable[[], object]) -> Exception | None:
    """What `work` raises, waited for until half the deadline: the mail library's own timeout starts with every byte."""
    faults: list[Exception] = []

    def run() -> None:
        try:
            work()
        except Exception as error:  # whatever the mail server does is told
            faults.append(error)

    thread = threading.Thread(target=run, name="mail", daemon=True)
    thread.start()
    thread.join(DEADLINE_SECONDS / 2)
    if thread.is_alive():
        return TimeoutError()
    return faults[0] if faults else None


def _name(fault: Exception) -> str:
    return "timeout" if isinstance(fault, TimeoutError) else type(fault).__name__


def _call_webhook(subject: str, text: str) -> None:
    """As Telegram's `sendMessage` takes it; others read `text`. The address holds a token and is never named."""
    message = {"text": f"{subject}\n\n{text}"[:4_000]}
    if settings.ALERT_WEBHOOK_CHAT_ID:
        message["chat_id"] = settings.ALERT_WEBHOOK_CHAT_ID
    transport = Transport(connect_timeout=DEADLINE_SECONDS / 4, read_timeout=DEADLINE_SECONDS * 3 / 4, name="webhook")
    try:
        answer = transport.post(
            settings.ALERT_WEBHOOK_URL, json.dumps(message).encode(), max_bytes=64 * 1024, fresh_connection=True
        )
    except NotSent:  # raised anew without its cause, which may name the address
        raise NotTold("connection") from None
    except Lost as error:
        raise MayBeTold(error.reason) from None
    if not 200 <= answer.status < 300:
        raise NotTold(f"HTTP {answer.status}")


_SENDERS: dict[Channel, Callable[[str, str], None]] = {
    Channel.EMAIL: _send_mail,
    Channel.WEBHOOK: _call_webhook,
}
