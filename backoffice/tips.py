"""Tips for a demo: three lines on the overview for each person, until that person puts them away."""

import datetime as dt
from collections.abc import Callable
from typing import NamedTuple

from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from approvals.models import Approval
from audit.models import AuditEvent
from branches.models import FIRST
from branches.seeing import narrowed, own_branch
from catalogue.models import PriceRule
from core.access import StaffRequest, staff_only
from core.rights import Right
from drawers.models import DrawerDay, Payment
from purchases.models import Order, OrderEvent
from staff.events import SIGN_IN
from staff.models import User

_SHOWN = 3


def _has_signed(person: User, since: dt.datetime) -> bool:
    return DrawerDay.objects.filter(signed_by=person, signed_at__gte=since).exists()


def _has_decided(person: User, since: dt.datetime) -> bool:
    return Approval.objects.filter(decided_by=person, decided_at__gte=since).exists()


def _has_priced(_person: User, since: dt.datetime) -> bool:
    return PriceRule.objects.filter(changed_at__gte=since).exists()


def _has_acted(person: User, since: dt.datetime) -> bool:
    return OrderEvent.objects.filter(actor=person, at__gte=since).exists()


def _has_sold(person: User, since: dt.datetime) -> bool:
    return Order.objects.filter(placed_by=person, created_at__gte=since).exists()


def _has_given_back(person: User, since: dt.datetime) -> bool:
    return Payment.objects.filter(given_by=person, given_at__gte=since).exists()


class _Line(NamedTuple):
    """A line: the right that it takes, its words, and its page: the name, and what follows the address.

    `is_done`: whether the person has done it since the first sign-in; None for a tip that only shows something.
    """

    right: Right
    words: str | Promise
    page: str
    query: str = ""
    is_done: Callable[[User, dt.datetime], bool] | None = None


# The first three that a person may do are shown. A new price makes a waiting sale void, so the decision comes before
# the prices.
_TIPS = [
    _Line(Right.SIGN_DAYS, _("Sign yesterday's closing of the drawers."), "drawer_day", is_done=_has_signed),
    _Line(
        Right.APPROVE_ORDERS,
        _("Decide about the sale that waits for a second person."),
        "approval_list",
        is_done=_has_decided,
    ),
    _Line(
        Right.CHANGE_PRICES, _("See which price rose, then change a price rule."), "price_changes", is_done=_has_priced
    ),
    _Line(
        Right.RESOLVE_ORDERS,
        _("Look after the orders that need attention."),
        "order_list",
        "?status=attention",
        is_done=_has_acted,
    ),
    _Line(Right.VIEW_CREDIT, _("See who owes the shop money, and since when."), "credit_list"),
    _Line(
        Right.BUY,
        _("Sell phone credit: choose a tile, check, sell."),
        "counter",
        "?q=081298220145+10",
        is_done=_has_sold,
    ),
    _Line(
        Right.GIVE_BACK,
        _("Give a customer the money of a failed sale back."),
        "refund_list",
        is_done=_has_given_back,
    ),
    _Line(Right.HANDLE_COMPLAINTS, _("Tell a customer whether it has arrived."), "arrived", "?q=081298220145"),
    _Line(Right.VIEW_AUDIT, _("Read in the activity log what people did."), "audit_list"),
    _Line(Right.VIEW_STATEMENT, _("Follow the balance through the month."), "statement"),
    _Line(Right.VIEW_ORDERS, _("Look through a month of orders."), "order_list"),
    _Line(Right.VIEW_PRODUCT, _("Look at what the shop sells, and at which price."), "catalogue"),
    _Line(Right.VIEW_BILLS, _("See which bills are due, and which are paid."), "bill_list"),
]


class Tip(NamedTuple):
    """One of the lines."""

    words: str | Promise
    url: str
    is_done: bool


def tips_for(person: User) -> list[Tip]:
    """The lines for this person, the done ones ticked; none after the person put them away, and none in a real shop."""
    if not person.has_tips:
        return []
    # The month of the demo is made before anybody signs in.
    first = AuditEvent.objects.filter(kind=SIGN_IN.key, person=person).order_by("pk").first()
    lines = [line for line in _TIPS if person.has_perm(line.right)][:_SHOWN]
    return [
        Tip(
            line.words,
            _address(line.page) + line.query,
            bool(first and line.is_done and line.is_done(person, first.at)),
        )
        for line in lines
    ]


def _address(name: str) -> str:
    """The address of a page; for yesterday's closing, that of a branch where it is not signed yet, if there is one."""
    if name != "drawer_day":
        return reverse(name)
    yesterday = timezone.localdate() - dt.timedelta(days=1)
    days = narrowed(DrawerDay.objects.filter(day=yesterday)).order_by("-signed_at", "branch")
    day = days.first() or DrawerDay(day=yesterday, branch_id=own_branch() or FIRST)
    return day.get_absolute_url()


@staff_only()
@require_POST
def put_away(request: StaffRequest) -> HttpResponse:
    """Show this person no tips any more, on any device."""
    User.objects.filter(pk=request.user.pk).update(has_tips=False)
    return redirect("overview")
