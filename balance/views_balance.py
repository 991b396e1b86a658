"""The balance: what there is, whether it agrees with the upstream, what is expected, what has to be explained."""

from __future__ import annotations

import hashlib
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from backoffice.access import StaffRequest, staff_only
from backoffice.money import rupiah
from balance import services
from balance.chart import chart_of
from balance.errors import NotPossible
from balance.forms import ExpectedTopUpForm
from balance.models import ExpectedTopUp
from balance.presenting import Funds, shown_differences

# After a press of "refresh" the page looks for the answer every two seconds, for so many seconds.
_AWAITED = 20


@staff_only("balance.view_books")
@require_GET
def balance_home(request: StaffRequest) -> HttpResponse:
    """The balance, its curve, expected top-ups and open differences, as far as the person may see them."""
    return _home(request, ExpectedTopUpForm())


def _home(request: StaffRequest, form: ExpectedTopUpForm) -> HttpResponse:
    context = {**_now(request), "form": form}
    if request.user.has_perm("balance.view_entry"):
        curve = services.balance_curve()
        context |= {"curve": curve, "chart": chart_of(curve)}
    return render(request, "balance/balance.html", context)


@staff_only("balance.view_books")
@require_GET
def balance_live(request: StaffRequest) -> HttpResponse:
    """When to ask next, and the parts of the page that are not as it shows them (`seen`)."""
    context = _now(request)
    seen = request.GET.get("seen", "").split(".")
    context["is_new"] = context["version_now"] != seen[0]
    context["has_new_differences"] = context["version_differences"] != seen[-1]
    return render(request, "balance/balance.html#live", context)


def _now(request: StaffRequest) -> dict[str, Any]:
    """What keeps itself fresh: figures, state, expected top-ups and open differences, with names of their versions."""
    may_explain = request.user.has_perm("balance.view_difference")
    with services.one_moment():
        funds = Funds.now()
        position = services.position() if may_explain else None
        shown = shown_differences() if may_explain else []
        expected = _expected() if may_explain else []
    awaited = request.session.get("balance_awaits_until", 0) > timezone.now().timestamp()
    blocking = position.blocking if position else []
    return {
        "funds": funds,
        "position": position,
        "blocking": blocking[:10],
        "more_blocking": max(0, len(blocking) - 10),
        "differences": shown,
        "expected": expected,
        "version_now": _version(funds.balance, funds.available, funds.reading and funds.reading.pk, position),
        "version_differences": _version(
            [(s.difference.pk, s.proposed and s.proposed.pk) for s in shown],
            [(e.pk, e.difference_id, e.is_lapsed) for e in expected],
        ),
        "delay": 2 if awaited else 5 if blocking or funds.books.held else 20,
        "is_new": False,
        "has_new_differences": False,
    }


def _version(*facts: object) -> str:
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:12]


def _expected() -> list[ExpectedTopUp]:
    """Announced top-ups: those that wait, and the last that have arrived."""
    rows = ExpectedTopUp.objects.select_related("announced_by", "difference").filter(cancelled_at__isnull=True)
    return [*rows.filter(difference__isnull=True)[:50], *rows.filter(difference__isnull=False)[:3]]


@staff_only("balance.view_books")
@require_POST
def balance_read(request: StaffRequest) -> HttpResponse:
    """Have the balance read anew; the comparison follows by itself."""
    if services.request_balance_reading():
        request.session["balance_awaits_until"] = timezone.now().timestamp() + _AWAITED
        messages.success(request, _("Reading the balance…"))
    else:
        messages.error(request, _("The queue cannot be reached just now; it is done by itself a little later."))
    return redirect("balance")


@staff_only("balance.view_difference", "balance.acknowledge_difference")
@require_POST
def topup_announce(request: StaffRequest) -> HttpResponse:
    """Announce a top-up: when exactly this amount arrives, it is acknowledged by itself."""
    form = ExpectedTopUpForm(request.POST)
    if not form.is_valid():
        return _home(request, form)
    try:
        expected = services.announce_top_up(
            amount=form.cleaned_data["amount"], actor=request.user, note=form.cleaned_data["note"]
        )
    except NotPossible as refusal:
        messages.error(request, str(refusal))
    else:
        amount = rupiah(expected.amount)
        if expected.difference_id:
            messages.success(request, _("%(amount)s had arrived already and is acknowledged now.") % {"amount": amount})
        else:
            messages.success(request, _("%(amount)s is expected.") % {"amount": amount})
    return redirect("balance")


@staff_only("balance.view_difference", "balance.acknowledge_difference")
@require_POST
def topup_cancel(request: StaffRequest, pk: int) -> HttpResponse:
    """Withdraw an announced top-up that has not arrived."""
    expected = get_object_or_404(ExpectedTopUp, pk=pk)
    try:
        services.cancel_expected_top_up(expected, actor=request.user)
    except NotPossible as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, _("Withdrawn."))
    return redirect("balance")
