"""The page "Backups": the backups, and after a restore the checks before the shop opens."""

import datetime as dt
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.db.models import Q
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _, ngettext, pgettext_lazy
from django.views.decorators.http import require_GET, require_POST

from audit.acts import act
from backoffice.lost_orders import Group, shown_lost, waiting
from catalogue.models import CatalogueSync
from catalogue.rights import sees_cost
from core import clock
from core.access import StaffRequest, staff_only
from core.errors import Refused, refusal_shown
from core.kept_backups import (
    MOST_AT_RISK,
    copied_until,
    failed_backup,
    first_backup_since,
    folder_answers,
    has_copied_log,
    in_bucket,
    kept_backups,
    last_backup,
    last_bucket_drill,
    last_drill,
    seconds_at_risk,
    unreadable_backups,
)
from core.money import rupiah
from core.rights import Right
from gateway.models import UpstreamAccount
from gateway.services import latest_reading, open_restored, upstream_account
from purchases.models import Lack, LostOrder, Order
from purchases.states import OPEN, POLLED
from reconciliation.services import unexplained_differences
from staff.confirming import check_factor

OPEN_SHOP = act("open_restored", pgettext_lazy("audit", "Open the shop after a restore"), Right.CHANGE_POLICIES)
_SHOWN = 200
# A task tries each order every minute. An order that it has not tried within this time has a fault, and no longer keeps
# the shop closed.
_TAKING_IN = dt.timedelta(minutes=5)


class NotYet(Refused):
    """The shop cannot open yet: a needed fact is not known."""


class NotTakenIn(Refused):
    """Orders of the journal wait; the person who opens the shop has to confirm their exact number."""

    def __init__(self, group: Group) -> None:
        self._group = group

    def __str__(self) -> str:
        return words_of(self._group)


@staff_only(Right.CHANGE_POLICIES)
@require_GET
def backups_page(request: StaffRequest) -> HttpResponse:
    """The backups of BACKUP_TO, the newest first, or without it the last one by hand.

    After a restore also the orders of that time, and what keeps the shop closed.
    """
    account = upstream_account()
    context: dict[str, Any] = {"account": account, "folder": settings.BACKUP_TO, "backups": kept_backups()}
    if settings.BACKUP_TO:
        context["folder_is_silent"] = not folder_answers()
        context |= {"until": copied_until(), "at_risk": seconds_at_risk(), "most_at_risk": MOST_AT_RISK}
        context |= {"failed": failed_backup(), "bucket": in_bucket(), "bucket_name": settings.BACKUP_BUCKET}
        context |= {"bucket_drill": last_bucket_drill(), "first_since": first_backup_since()}
        context |= {"unreadable": ", ".join(unreadable_backups()), "has_log": has_copied_log()}
    elif by_hand := last_backup():
        context |= {"by_hand": by_hand, "backups": [by_hand]}
    if account.is_held:
        context["orders"] = _orders_of(account).filter(lost=None).select_related("product").order_by("-pk")[:_SHOWN]
        context["differences"] = unexplained_differences()
        context["waits_for"] = waits_for(account)
        if group := waiting():
            context |= {"waiting": group, "waiting_words": words_of(group)}
    context |= shown_lost() | {"sees_cost": sees_cost(request.user), "drill": last_drill()}
    return render(request, "backoffice/backups.html", context)


@staff_only(Right.CHANGE_POLICIES)
@require_POST
def open_shop(request: StaffRequest) -> HttpResponse:
    """Let a restored shop sell; while orders of the journal wait, only if the person confirms their number."""
    with refusal_shown(request):
        check_factor(request, act=OPEN_SHOP, content={})
        _require_known(without=request.POST.get("without", ""))
        open_restored(actor=request.user)
        messages.success(request, _("The shop is open: what waits is sent now."))
    return redirect("backups")


def _require_known(*, without: str) -> None:
    """Raise `NotYet` or `NotTakenIn` unless the shop may open; `without`: the number of waiting orders confirmed."""
    if reason := waits_for(upstream_account()):
        raise NotYet(reason)
    group = waiting()
    if group and without != str(group.count):
        raise NotTakenIn(group)


def words_of(group: Group) -> str:
    """The words about what may happen to the waiting orders when the shop opens without them."""
    words = ngettext(
        "%(n)s order of the journal, %(sum)s at most, is not taken in yet: it is in no books and no drawer. A customer "
        "who comes again for it may be sold it twice.",
        "%(n)s orders of the journal, %(sum)s at most, are not taken in yet: they are in no books and no drawer. A "
        "customer who comes again for one may be sold it twice.",
        group.count,
    )
    return words % {"n": group.count, "sum": rupiah(group.cost or 0)}


def waits_for(account: UpstreamAccount) -> str:
    """The reason why a restored shop may not open yet; "" when it may."""
    reading = latest_reading()
    if unasked := _orders_of(account).filter(status__in=POLLED, polls=0).count():
        words = ngettext(
            "The provider is still being asked about %(n)s open order: wait a moment.",
            "The provider is still being asked about %(n)s open orders: wait a moment.",
            unasked,
        )
        return words % {"n": unasked}
    if reading is None or account.restored_at is None or reading.sent_at < account.restored_at:
        return _("The balance has not been compared since the restore: wait for the next reading.")
    waiting_orders = LostOrder.objects.filter(order=None)
    if waiting_orders.filter(lacks=[], found_at__gt=clock.now() - _TAKING_IN).exists():
        return _("Orders of the journal are being taken in: wait a moment.")
    new_catalogue = CatalogueSync.objects.filter(result=CatalogueSync.Result.DONE, started_at__gte=account.restored_at)
    if waiting_orders.filter(lacks__contains=[Lack.PRODUCT]).exists() and not new_catalogue.exists():
        return _("Orders of the journal wait for products that the next catalogue may bring: wait until it is fetched.")
    return ""


def _orders_of(account: UpstreamAccount) -> Any:
    """The orders from before the restore that were open at that time."""
    were_open = Q(status__in=OPEN) | Q(final_at__gte=account.restored_at)
    return Order.objects.filter(were_open, created_at__lt=account.restored_at)
