"""What to try in a demo: three lines on the overview for each of its people, until that person puts them away."""

from __future__ import annotations

import datetime as dt
from typing import NamedTuple

from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from core.access import StaffRequest, staff_only
from core.rights import Right
from staff.models import User

_SHOWN = 3
# What it takes, the words, and the page: its name, and what follows its address. The first three that a person may do
# are shown. A new price makes a waiting sale void, so the decision comes before the prices.
_TIPS: list[tuple[Right, str | Promise, str, str]] = [
    (Right.SIGN_DAYS, _("Sign yesterday's closing of the drawers."), "drawer_day", ""),
    (Right.APPROVE_ORDERS, _("Decide about the sale that waits for a second person."), "approval_list", ""),
    (Right.CHANGE_PRICES, _("See which price rose, then change a price rule."), "price_changes", ""),
    (Right.RESOLVE_ORDERS, _("Look after the orders that need attention."), "order_list", "?status=attention"),
    (Right.VIEW_CREDIT, _("See who owes the shop money, and since when."), "credit_list", ""),
    (Right.BUY, _("Sell phone credit: choose a tile, check, press Enter."), "counter", "?q=081298220145+10"),
    (Right.GIVE_BACK, _("Give a customer the money of a failed sale back."), "refund_list", ""),
    (Right.HANDLE_COMPLAINTS, _("Tell a customer whether it has arrived."), "arrived", "?q=081298220145"),
    (Right.VIEW_AUDIT, _("Read in the activity log what people did."), "audit_list", ""),
    (Right.VIEW_STATEMENT, _("Follow the balance through the month."), "statement", ""),
    (Right.VIEW_ORDERS, _("Look through a month of orders."), "order_list", ""),
    (Right.VIEW_PRODUCT, _("Look at what the shop sells, and at which price."), "catalogue", ""),
    (Right.VIEW_BILLS, _("See which bills are due, and which are paid."), "bill_list", ""),
]


class Tip(NamedTuple):
    """One of the lines."""

    words: str | Promise
    url: str


def tips_for(person: User) -> list[Tip]:
    """The lines for this person; none after they were put away, and for people of a real shop."""
    if not person.has_tips:
        return []
    may = [(words, name, more) for right, words, name, more in _TIPS if person.has_perm(right)]
    return [Tip(words, _address(name) + more) for words, name, more in may[:_SHOWN]]


def _address(name: str) -> str:
    yesterday = timezone.localdate() - dt.timedelta(days=1)
    return reverse(name, args=[yesterday.isoformat()] if name == "drawer_day" else [])


@staff_only()
@require_POST
def put_away(request: StaffRequest) -> HttpResponse:
    """Show this person no tips any more, on any device."""
    User.objects.filter(pk=request.user.pk).update(has_tips=False)
    return redirect("overview")
