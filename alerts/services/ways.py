"""The ways to people: the addresses of `ALERT_URLS`, those added on a page, and other lists of addresses.

Apprise sends to some hundred services.

An address holds a token or a password: it is never logged or shown, and stored only sealed.
"""

import datetime as dt
import ipaddress
import logging
import socket
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

import structlog
from apprise import Apprise, AppriseAsset, NotifyBase, NotifyFormat, NotifyType, OverflowMode
from apprise.plugins.email.base import NotifyEmail
from apprise.plugins.telegram import NotifyTelegram
from apprise.result import AppriseResultStatus
from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils.crypto import salted_hmac
from django.utils.functional import Promise
from django.utils.html import escape
from django.utils.translation import gettext as _, gettext_lazy

from alerts.errors import WayRefused
from alerts.events import ALERT_WAY_ADDED, ALERT_WAY_REMOVED
from alerts.models import AddedWay, AlertNotice
from alerts.services.refusals import NO_CONNECTION, why_refused
from audit.services import record
from core.bidi import visible
from core.sealing import Unreadable, sealed, unsealed
from shop.services import shop_name
from staff.models import User

log = structlog.get_logger()
Fault = AlertNotice.Fault

# The purpose under which the addresses are sealed
PURPOSE = "alerts.way"
# A message is given up after this many seconds in all, however slowly the other side answers.
DEADLINE_SECONDS = 20.0
# What a message gets after a look-up that took the whole deadline: apprise takes 0 for no limit.
_LEAST_SECONDS = 0.1
MOST_WAYS = 10
_ALWAYS = dt.datetime.min.replace(tzinfo=dt.UTC)


@dataclass(frozen=True, kw_only=True)
class Way:
    """One way to people. `key`: its name in the database; `name`: its name on pages.

    `host`: the server of a way that was added on a page, which has to be a public one at each sending. `since`: when
    that was; a message that was due before is not for it.
    """

    key: str
    name: str
    service: NotifyBase
    host: str = ""
    since: dt.datetime = _ALWAYS

    def send(self, title: str, text: str, *, look: NotifyType, table: str = "") -> Fault | None:
        """`try_to_send`, without the reason."""
        return self.try_to_send(title, text, look=look, table=table)[0]

    def try_to_send(
        self, title: str, text: str, *, look: NotifyType, table: str = ""
    ) -> tuple[Fault | None, str | Promise]:
        """Send one message within the deadline; the fault, None when the service has confirmed it, and why, in words.

        `table`: lines above the text whose columns are aligned by spaces; shown so where the service knows how.

        Apprise says yes, no, or nothing in time. No counts as failed, also when a server took the message and the
        connection broke before its answer: such a message comes again. Nothing in time: it may have arrived.
        """
        started = time.monotonic()
        if why := self._why_inside():
            return Fault.FAILED, why
        title, text, table = map(visible, (title, text, table))
        is_mail, body_format = isinstance(self.service, NotifyEmail), NotifyFormat.TEXT
        if table and (is_mail or isinstance(self.service, NotifyTelegram)):
            body_format = NotifyFormat.HTML
            text = f"<pre>{escape(table)}</pre>{'<br>'.join(escape(text).splitlines())}"
            title = title if is_mail else escape(title)  # a mail's subject is plain
        elif table:
            text = f"{table}\n\n{text}"
        apprise = Apprise()
        apprise.add(self.service)
        level = logging.DEBUG if is_mail else logging.WARNING  # where apprise keeps the server's answer
        left = max(_LEAST_SECONDS, DEADLINE_SECONDS - (time.monotonic() - started))
        result = apprise.notify(text, title, look, body_format=body_format, timeout=left, log_level=level)
        if result.status == AppriseResultStatus.SUCCESS:
            return None, ""
        if result.status == AppriseResultStatus.TIMEOUT:
            return Fault.NO_ANSWER, gettext_lazy(
                "No answer in time. Look whether the message arrived before you try again."
            )
        return Fault.FAILED, why_refused([entry.message for service in result for entry in service.logs()])

    def _why_inside(self) -> str | Promise:
        """Why nothing is sent: the name of its host may lead elsewhere than when the way was added; empty if not."""
        try:
            if self.host:
                refuse_inside(self.host)
        except WayRefused as refusal:
            return NO_CONNECTION if refusal.reason == "no_host" else WayRefused.texts[refusal.reason]
        return ""


def ways(addresses: Iterable[str] | None = None) -> list[Way]:
    """The ways of alerts, or those of `addresses`. An address that is not understood stops no other one."""
    if addresses is not None:
        return [way for way in map(way_to, addresses) if way]
    return list({way.key: way for way in (*ways(settings.ALERT_URLS), *_added_ways())}.values())


def _added_ways() -> Iterator[Way]:
    for row in AddedWay.objects.order_by("pk"):
        try:
            way = _added_way_to(unsealed(row.sealed_address, PURPOSE))
        except Unreadable:
            log.warning("way_is_unreadable", way=row.pk)
            continue
        if way:
            yield replace(way, name=f"{row}", since=row.added_at)


def _added_way_to(address: str) -> Way | None:
    """`way_to` for an address from a page, with the host in it; empty for a service with a host of its own."""
    way, host = way_to(address), ""
    if way and isinstance(way.service, NotifyEmail):
        host = way.service.smtp_host
    elif address.startswith(("https://", "jsons://")):
        host = urlsplit(address).hostname or ""
    return way and replace(way, host=host)


def way_to(address: str) -> Way | None:
    """The way that an apprise address names; None when it is not understood or reaches nobody."""
    asset = AppriseAsset(
        app_id=settings.SHOP_NAME, http_redirects=False, storage_mode="memory", service_timeout=DEADLINE_SECONDS
    )
    service = Apprise.instantiate(address, asset=asset)
    if service is None or (isinstance(service, NotifyEmail) and not service.targets):
        return None
    # Beyond the deadline, so that a slow answer is never taken for a no. For mail the first timeout is for answers,
    # too.
    service.socket_connect_timeout = service.socket_read_timeout = DEADLINE_SECONDS + 5
    service.overflow_mode = OverflowMode.TRUNCATE
    return Way(key=salted_hmac("alerts.way", address).hexdigest()[:16], name=str(service.service_name), service=service)


def send_to_all(
    title: str, text: str, *, table: str = "", on: list[Way] | None = None
) -> list[tuple[Way, str | Promise]]:
    """Send one message that is not an alert once on every way of alerts, or `on` these; logs the outcomes.

    Returns why each has not confirmed it, in words; empty if it has. All ways are used at once, so that together they
    take one deadline at most.
    """
    used, title = ways() if on is None else on, f"[{shop_name()}] {title}"

    def send(way: Way) -> tuple[Fault | None, str | Promise]:
        return way.try_to_send(title, text, look=NotifyType.INFO, table=table)

    with ThreadPoolExecutor(max_workers=max(1, len(used))) as pool:
        outcomes = list(pool.map(send, used))
    for way, (fault, _why) in zip(used, outcomes, strict=True):
        log.info("message_sent", way=way.name, fault=fault.value if fault else None)
    return [(way, why) for way, (_fault, why) in zip(used, outcomes, strict=True)]


def add_way(address: str, *, name: str, host: str = "", actor: User) -> Fault | None:
    """Send a test to this apprise address, then keep it under this name.

    `host`: the server that the person named, if the service has none of its own; it has to be a public one. Returns
    None, or the fault of a test that may have arrived. Raises `WayRefused`; nothing is kept then.
    """
    if host:
        refuse_inside(host)
    way = _added_way_to(address)
    if way is None:
        raise WayRefused("not_understood")
    if way.key in {known.key for known in ways()}:
        raise WayRefused("known")
    if AddedWay.objects.count() >= MOST_WAYS:
        raise WayRefused("too_many")
    text = _("This is a test by %(name)s. Alerts arrive here.") % {"name": actor.username}
    fault = way.send(f"[{shop_name()}] {_('Test')}", text, look=NotifyType.INFO)
    if fault == Fault.FAILED:
        raise WayRefused("failed")
    row = AddedWay(name=name, service=way.name, way=way.key, sealed_address=sealed(address, PURPOSE), added_by=actor)
    try:
        with transaction.atomic():
            row.save()
            record(ALERT_WAY_ADDED, actor=actor, subject=f"{row}")
    except IntegrityError as same:  # twice at once
        raise WayRefused("known") from same
    log.info("way_added", way=way.name, by=actor.pk)
    return fault


def take_way_away(way: AddedWay, *, actor: User) -> None:
    """Delete the way with its address. Messages that wait for it are never sent."""
    with transaction.atomic():
        count, _rows = AddedWay.objects.filter(pk=way.pk).delete()
        if count:
            record(ALERT_WAY_REMOVED, actor=actor, subject=f"{way}")
    log.info("way_removed", way=way.service, by=actor.pk)


def refuse_inside(host: str) -> None:
    """Raise `WayRefused` unless every address of this host is public: a page must not reach the shop's own network.

    A name server that does not answer within the deadline counts as "no_host".
    """
    try:
        addresses = _addresses_of(host)
    except (OSError, UnicodeError) as fault:
        raise WayRefused("no_host") from fault
    if not all(ipaddress.ip_address(address.partition("%")[0]).is_global for address in addresses):
        raise WayRefused("inside")


def _addresses_of(host: str) -> list[str]:
    """The addresses of this host; OSError without any, also (TimeoutError) when none has come within the deadline.

    The system's look-up knows no deadline, so a thread waits for it, which nobody joins.
    """
    answer: Future[list[Any]] = Future()

    def look_up() -> None:
        try:
            answer.set_result(socket.getaddrinfo(host, None, proto=socket.IPPROTO_TCP))
        except Exception as fault:  # raised again where the answer is read
            answer.set_exception(fault)

    threading.Thread(target=look_up, name="host-look-up", daemon=True).start()
    return [str(address[0]) for *_rest, address in answer.result(timeout=DEADLINE_SECONDS)]
