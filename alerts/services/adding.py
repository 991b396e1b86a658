"""Add a way to people on a page, and take one away. A way is tried with a message before it is kept."""

from __future__ import annotations

import ipaddress
import socket
from typing import TYPE_CHECKING

import structlog
from apprise import NotifyType
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from alerts.errors import WayRefused
from alerts.events import ALERT_WAY_ADDED, ALERT_WAY_REMOVED
from alerts.models import AddedWay
from alerts.services.ways import PURPOSE, Fault, way_to, ways
from audit.services import record
from core.sealing import sealed
from shop.services import shop_name

if TYPE_CHECKING:
    from staff.models import User

log = structlog.get_logger()

MOST_WAYS = 10


def add_way(address: str, *, name: str, host: str = "", actor: User) -> Fault | None:
    """Send a test to this apprise address, then keep it under this name.

    `host`: the server that the person named, where the service has none of its own; it has to be a public one. Returns
    None, or the fault of a test that may have arrived. Raises `WayRefused`; nothing is kept then.
    """
    if host:
        refuse_inside(host)
    way = way_to(address)
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
    """Delete it with its address. What waits to be sent on it is never sent."""
    with transaction.atomic():
        count, _rows = AddedWay.objects.filter(pk=way.pk).delete()
        if count:
            record(ALERT_WAY_REMOVED, actor=actor, subject=f"{way}")
    log.info("way_removed", way=way.service, by=actor.pk)


def refuse_inside(host: str) -> None:
    """Raise `WayRefused` unless every address of this host is a public one: a page must not reach the own network."""
    try:
        found = socket.getaddrinfo(host, None, proto=socket.IPPROTO_TCP)
    except (OSError, UnicodeError) as fault:
        raise WayRefused("no_host") from fault
    if not all(ipaddress.ip_address(str(address[0]).partition("%")[0]).is_global for *_rest, address in found):
        raise WayRefused("inside")
