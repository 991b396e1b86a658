"""The balance: the figures, whether they agree with the upstream, expected top-ups, open differences."""

from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _, pgettext_lazy
from django.views.decorators.http import require_GET, require_POST

from audit.acts import act
from core.access import StaffRequest, staff_only
from core.errors import refusal_shown
from core.keys import typed_key
from core.live import Live, expect_news
from core.money import rupiah
from core.publish import publish
from core.rights import Right
from core.snapshot import snapshot
from core.together import read_together
from gateway.services import LimitUse, latest_reading, limit_use, next_number
from ledger import services as ledger
from ledger.chart import chart_of
from ledger.presenting import Funds
from purchases.models import Order
from reconciliation import services
from reconciliation.forms import ExpectedTopUpForm
from reconciliation.models import ExpectedTopUp, ReconciliationRun
from reconciliation.presenting import Result, open_questions, result_message, said_of_books, shown_from
from reconciliation.services.on_demand import reconcile_books
from staff.confirming import check_factor

ANNOUNCE = act("announce", pgettext_lazy("audit", "Announce a top-up"), Right.ACKNOWLEDGE_DIFFERENCES)
# With nothing under way the page asks this often (seconds).
_REST = 20
# In the session: the number at which this person asked for a reading. An older reading is not the answer.
_ASKED_NO = "balance_asked_no"


@staff_only(Right.VIEW_BOOKS, Right.VIEW_COST)
@require_GET
def balance_home(request: StaffRequest) -> HttpResponse:
    """The balance, its curve, expected top-ups and open differences; only what the person may see."""
    return _home(request, ExpectedTopUpForm())


def _home(request: StaffRequest, form: ExpectedTopUpForm) -> HttpResponse:
    live = _live(request)  # first: changes from here on are news
    context = {**_now(request), "form": form, "live": live}
    if request.user.has_perm(Right.VIEW_STATEMENT):
        curve = ledger.balance_curve()
        context |= {"curve": curve, "chart": chart_of(curve)}
    return render(request, "reconciliation/balance.html", context)


@staff_only(Right.VIEW_BOOKS, Right.VIEW_COST)
@require_GET
def balance_live(request: StaffRequest) -> HttpResponse:
    """The time of the next poll, and the parts of the page that have changed."""
    live = _live(request)
    facts = _now(request) if live.news else {}
    return render(request, "reconciliation/balance.html#live", {**facts, "live": live})


def _live(request: StaffRequest) -> Live:
    seen = services.glance()
    may = [request.user.has_perm(right) for right in (Right.VIEW_DIFFERENCES, Right.ACKNOWLEDGE_DIFFERENCES)]
    parts = {"now": [may, *seen.account], "differences": [may, *seen.differences]}
    return Live(request, reverse("balance_live"), parts, over=() if seen.is_busy else parts, rest=_REST)


def _now(request: StaffRequest) -> dict[str, Any]:
    """The live parts: figures, state, expected top-ups and open differences."""
    if not request.user.has_perm(Right.VIEW_DIFFERENCES):
        funds = Funds.now()
        return {"funds": funds, "colour": _colour(None), "limit": _limit(funds)}
    with snapshot():
        books, reading, row, kept, proof, differences, adjustments, waiting, arrived = read_together(
            *Funds.questions(), *services.position_questions(), *open_questions(), *_expected()
        )
        funds, shown = Funds.of(books, reading), shown_from(differences, adjustments)
        position = services.position_from(row, kept, proof)
        blocking = position.blocking[:10]
        named = {*blocking, *(ref_id for difference in shown for ref_id in difference.ref_ids)}
        orders = Order.objects.in_bulk(named, field_name="ref_id")
    return {
        "funds": funds,
        "position": position,
        "said": said_of_books(position, funds),
        "colour": _colour(position),
        "limit": _limit(funds),
        "is_awaited": funds.reading is not None and funds.reading.pk < request.session.get(_ASKED_NO, 0),
        "blocking": blocking,
        "more_blocking": len(position.blocking) - len(blocking),
        "differences": shown,
        "orders": orders,
        "expected": [*waiting, *arrived],
        "seen": max((topup.pk for topup in (*waiting, *arrived)), default=0),
    }


def _limit(funds: Funds) -> LimitUse | None:
    """The use of the rate limit, for a shop without a reading: it may be in its first minute."""
    return None if funds.reading else limit_use()


def _colour(position: services.Position | None) -> str:
    match position and Result(position.state):
        case Result.UNEXPLAINED:
            return "bad"
        case Result.BALANCED:
            return "success"
        case Result.TOPUP:
            return "warn"
    return "warn" if position and (position.difference or position.between) else "pending"


def _expected() -> list[QuerySet[ExpectedTopUp]]:
    """The queries for announced top-ups: the waiting ones, and the last arrived ones."""
    rows = ExpectedTopUp.objects.select_related("announced_by", "difference").filter(cancelled_at__isnull=True)
    return [rows.filter(difference__isnull=True)[:50], rows.filter(difference__isnull=False)[:3]]


@staff_only(Right.VIEW_BOOKS, Right.VIEW_COST, Right.READ_BALANCE)
@require_POST
def balance_read(request: StaffRequest) -> HttpResponse:
    """Have the balance read now; the comparison follows by itself."""
    _read_now(request)
    return redirect("balance")


@staff_only(Right.VIEW_DIFFERENCES, Right.READ_BALANCE)
@require_POST
def balance_reconcile(request: StaffRequest) -> HttpResponse:
    """Have the balance read and compared now, and then all books proved; the results come onto the page.

    Without the queue it is compared here with the last balance, and the result names the time of that balance.
    """
    if _read_now(request):
        publish("reconciliation.tasks.prove_books")
    else:
        run = reconcile_books(ReconciliationRun.Trigger.PERSON)
        messages.add_message(request, *result_message(run, latest_reading()))
    return redirect("balance")


def _read_now(request: StaffRequest) -> bool:
    """Have a worker read and compare, and have the page say that it waits; False when the queue is away."""
    asked_no = next_number()
    if not publish("reconciliation.tasks.read_for_person"):
        words = _("The queue cannot be reached just now; it is done by itself a little later.")
        messages.error(request, words, extra_tags="queue-away")
        return False
    request.session[_ASKED_NO] = asked_no
    expect_news(request)
    messages.success(request, _("Reading the balance…"))
    return True


@staff_only(Right.VIEW_DIFFERENCES, Right.ACKNOWLEDGE_DIFFERENCES)
@require_POST
def topup_announce(request: StaffRequest) -> HttpResponse:
    """Announce a top-up: exactly this amount is acknowledged when it arrives. It takes a second factor.

    The same form again shows the first announcement, and needs no further factor.
    """
    form = ExpectedTopUpForm(request.POST)
    if not form.is_valid():
        return _home(request, form)
    asked = {**form.cleaned_data, "actor": request.user, "seen": typed_key(request.POST.get("seen", ""))}
    with refusal_shown(request):
        expected = services.announced_before(**asked)
        if expected is None:
            typed = {name: request.POST.get(name, "") for name in ("amount", "note")}
            check_factor(request, act=ANNOUNCE, content=typed)
            expected = services.announce_top_up(**asked)
        amount = rupiah(expected.amount)
        if expected.difference_id:
            messages.success(request, _("%(amount)s had arrived already and is acknowledged now.") % {"amount": amount})
        else:
            messages.success(request, _("%(amount)s is expected.") % {"amount": amount})
    return redirect("balance")


@staff_only(Right.VIEW_DIFFERENCES, Right.ACKNOWLEDGE_DIFFERENCES)
@require_POST
def topup_cancel(request: StaffRequest, pk: int) -> HttpResponse:
    """Withdraw an announced top-up that has not arrived."""
    expected = get_object_or_404(ExpectedTopUp, pk=pk)
    with refusal_shown(request):
        services.cancel_expected_top_up(expected, actor=request.user)
        messages.success(request, _("Withdrawn."))
    return redirect("balance")
