"""The overview: a person's own day, and the shop at a glance for people who see all of it."""

import datetime as dt
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.db import connection
from django.db.models import Count, Q, QuerySet, Subquery
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from alerts.services.results import gets_evenings, may_choose_results
from alerts.services.ways import ways
from backoffice.first_steps import FirstSteps
from backoffice.glance import glance
from backoffice.own_day import OwnDay
from backoffice.tips import tips_for
from branches.seeing import narrowed, own_branch, seen_in
from catalogue.models import CatalogueSync, Product
from catalogue.rights import sees_cost
from catalogue.services import request_catalogue_sync
from core.access import StaffRequest, staff_only
from core.live import Live, expect_news
from core.rights import Right
from core.snapshot import snapshot
from core.times import start_of_day
from core.together import read_together
from dues.filters import bills_seen
from dues.views import SEES as SEES_DUES
from earnings.overview import SEES as EARNINGS, Part
from gateway.services import latest_reading, limit_use, request_balance_reading
from ledger.presenting import Funds, lasts_words
from ledger.services import low_below, spending_question, usual_spending_of
from purchases.models import Order
from purchases.states import Status
from purchases.tables import OrderTable
from reconciliation.models import Difference, ReconciliationRun
from staff.models import User
from work.services import scope_of

# How often the page polls while nothing is under way (seconds).
_REST = 30
# How many of the newest orders are shown; a phone shows the first four.
_LATEST = 6
# A day's orders are counted up to here: "10,000+".
_MOST_COUNTED = 10_000
# Open differences are read up to here: "100+", and then without their sum.
_MOST_DIFFERENCES = 100
# A sync that "runs" for longer than this was interrupted.
_LONGEST_SYNC = dt.timedelta(minutes=5)


@staff_only()
@require_GET
def overview(request: StaffRequest) -> HttpResponse:
    """Show the overview; it keeps itself fresh."""
    own = OwnDay.read(request.user) if _sells(request) else None
    part = Part.of(request.GET, request.user)
    live = _live(request, own, part)  # first: changes from here on are news
    sees_earnings = _sees_shop(request) and request.user.has_perms(EARNINGS)
    figures = part.figures if sees_earnings and part.is_named else dict
    facts = _facts(request, part, figures)
    results_sent = gets_evenings(request.user) if may_choose_results(request.user) else None
    context = {
        **facts,
        **_own_facts(request, own),
        "live": live,
        "part": part,
        "sees_earnings": sees_earnings,
        "tips": tips_for(request.user),
        "sees_work": bool(scope_of(request.user).sees),
        "first": FirstSteps.read(request.user) if request.user.has_perm(Right.CHANGE_SHOP) else None,
        "results_sent": results_sent,
        "results_lack_way": bool(results_sent) and not ways(),
    }
    return render(request, "backoffice/overview.html", context)


@staff_only()
@require_GET
def overview_live(request: StaffRequest) -> HttpResponse:
    """The time of the next poll, and the overview if it differs from the page."""
    own = OwnDay.read(request.user) if _sells(request) else None
    part = Part.of(request.GET, request.user)
    live = _live(request, own, part)
    facts = _facts(request, part) if "overview" in live.news else {}
    context = {**facts, **_own_facts(request, own), "live": live, "part": part}
    return render(request, "backoffice/overview.html#live", context)


def _sells(request: StaffRequest) -> bool:
    """Whether the person sells, and therefore sees a day of their own."""
    return request.user.has_perm(Right.BUY) and request.user.has_perm(Right.VIEW_ORDERS)


def _sees_shop(request: StaffRequest) -> bool:
    """Whether the person sees the shop as a whole: people who see all shifts do, and people who sell nothing."""
    return request.user.has_perm(Right.VIEW_SHIFTS) or not _sells(request)


def _sees_books(request: StaffRequest) -> bool:
    return sees_cost(request.user) and request.user.has_perm(Right.VIEW_BOOKS)


def _live(request: StaffRequest, own: OwnDay | None, part: Part) -> Live:
    parts: dict[str, object] = {}
    over: list[str] = []
    if own is not None:
        parts["own"] = own.version
        over += [] if own.open_orders else ["own"]
    if _sees_shop(request):
        seen = glance(with_books=_sees_books(request))
        parts["overview"] = seen.facts
        over += [] if seen.is_busy else ["overview"]
    address = f"{reverse('overview_live')}?{part.of_branch}".rstrip("?")
    return Live(request, address, parts, over=over, rest=_REST)


def _own_facts(request: StaffRequest, own: OwnDay | None) -> dict[str, Any]:
    sees_shop = _sees_shop(request)
    if own is None or (sees_shop and not own.is_used):
        return {"sees_shop": sees_shop}
    return {"sees_shop": sees_shop, "own": own, **own.tables(with_cost=sees_cost(request.user))}


@staff_only(Right.VIEW_ORDERS, Right.READ_BALANCE)
@require_POST
def balance_refresh(request: StaffRequest) -> HttpResponse:
    """Let the balance be read now; redirect to the page of ours that `next` names."""
    _say(request, request_balance_reading(), _("Reading the balance…"))
    return _back(request)


@staff_only(Right.VIEW_PRODUCT, Right.SYNC_CATALOGUE)
@require_POST
def catalogue_sync(request: StaffRequest) -> HttpResponse:
    """Let the catalogue be fetched now; redirect to the page of ours that `next` names."""
    _say(request, request_catalogue_sync(), _("Fetching the catalogue…"))
    return _back(request)


def _back(request: StaffRequest) -> HttpResponse:
    back = request.POST.get("next", "")
    is_ours = back.startswith("/") and url_has_allowed_host_and_scheme(back, allowed_hosts=None)
    return HttpResponseRedirect(back if is_ours else reverse("overview"))


def _say(request: StaffRequest, queued: bool, words: str) -> None:
    if queued:
        expect_news(request)
        messages.success(request, words)
    else:
        words = _("The queue cannot be reached just now; it is done by itself a little later.")
        messages.error(request, words, extra_tags="queue-away")


def _facts(request: StaffRequest, part: Part, figures: Callable[[], dict[str, Any]] = dict) -> dict[str, Any]:
    """The values of the overview for the chosen branch, and `figures`, both from one snapshot."""
    limit = limit_use() if _sees_shop(request) and request.user.has_perm(Right.VIEW_ORDERS) else None
    with snapshot():
        with seen_in(part.chosen.branch):
            facts = _facts_seen(request)
        return facts | {"limit": limit} | figures()


def _facts_seen(request: StaffRequest) -> dict[str, Any]:
    now = timezone.now()
    today = start_of_day(timezone.localdate(now))
    facts: dict[str, Any] = {"today": timezone.localdate(now)}
    if request.user.has_perm(Right.CHANGE_ROLES) and not settings.SANDBOX:
        by_password = User.objects.holding(Right.SELL_BY_PASSWORD).filter(is_superuser=False)
        facts["by_password"] = [person.shown_name for person in by_password.order_by("first_name", "username")]
    if not _sees_shop(request):
        return facts
    if request.user.has_perm(Right.VIEW_ORDERS):
        facts |= _order_facts(today, request)
    if request.user.has_perms(SEES_DUES):
        # For a chosen branch, count what the linked list shows; people bound to a branch also see bills of no branch.
        facts["due"] = bills_seen(with_shop=request.user.bound_to is not None).open().owed()
    if request.user.has_perm(Right.VIEW_PRODUCT):
        facts |= _catalogue_facts(list(_last_syncs()), now)
    if _sees_books(request):
        facts |= _money_facts(with_differences=request.user.has_perm(Right.VIEW_DIFFERENCES))
    elif sees_cost(request.user) and request.user.has_perm(Right.VIEW_ORDERS):
        facts["reading"] = latest_reading()
    return facts


def _money_facts(*, with_differences: bool) -> dict[str, Any]:
    """The balance, how long it lasts, and how the last comparison with the books ended.

    `with_differences`: whether the person sees the differences that are open; else they are not read.
    """
    found = Difference.objects.open().values_list("pk", "amount", "label")[: _MOST_DIFFERENCES + 1]
    questions = [*Funds.questions(), spending_question(), ReconciliationRun.objects.all()[:1]]
    books, readings, spending, runs, *open_differences = read_together(*questions, *[found] * with_differences)
    funds, per_hour = Funds.of(books, readings), usual_spending_of(spending)
    run = next(iter(runs), None)
    differences = _differences(run, open_differences[0]) if with_differences else {}
    return differences | {
        "funds": funds,
        "reading": funds.reading,
        "lasts": lasts_words(funds.available, per_hour),
        "is_low": funds.available is not None and funds.available < low_below(per_hour),
        "run": run,
    }


def _differences(run: ReconciliationRun | None, rows: list[tuple[int, int, str]]) -> dict[str, Any]:
    """The number of open differences with their page; and, if there are any of the run's kind, their sum and page.

    `rows`: the key, amount and label of each open one, and of one more than `_MOST_DIFFERENCES` at most; then their sum
    is unknown.
    """
    count, has_more = min(len(rows), _MOST_DIFFERENCES), len(rows) > _MOST_DIFFERENCES
    address = _page_of([key for key, *_more in rows])
    facts: dict[str, Any] = {"open_differences": {"count": count, "has_more": has_more, "url": address}}
    topup = ReconciliationRun.Result.TOPUP
    if has_more or run is None or run.state not in {ReconciliationRun.Result.UNEXPLAINED, topup}:
        return facts
    is_topup = run.state == topup
    amounts = {key: amount for key, amount, label in rows if is_topup or label != Difference.Label.TOPUP}
    if amounts:
        facts["differences"] = {"amount": sum(amounts.values()), "url": _page_of(list(amounts))}
    return facts


def _page_of(keys: list[int]) -> str:
    """The page of the only difference, or the list of the open ones."""
    if len(keys) == 1:
        return reverse("difference_detail", args=keys)
    return f"{reverse('difference_list')}?state={Difference.State.OPEN}"


# One statement for all statuses: each is counted by an index, and no further than a person reads.
_COUNTS = """
    SELECT status, (
        SELECT count(*) FROM (
            SELECT 1 FROM purchases_order o WHERE o.status = s.status AND o.created_at >= %(today)s {seen}
             LIMIT %(most)s
        ) found
    ) FROM unnest(%(every)s::text[]) AS s (status)
"""
_SEEN = "AND EXISTS (SELECT FROM drawers_payment p WHERE p.id = o.payment_id AND p.branch_id = %(branch)s)"


def _order_facts(today: dt.datetime, request: StaffRequest) -> dict[str, Any]:
    branch = own_branch()
    asked: dict[str, Any] = {"today": today, "most": _MOST_COUNTED + 1, "branch": branch}
    asked |= {"every": [status.value for status in Status]}
    with connection.cursor() as cursor:
        cursor.execute(_COUNTS.format(seen="" if branch is None else _SEEN), asked)
        counted = dict(cursor.fetchall())
    looks: dict[str, Any] = {"person": request.user, "with_cost": sees_cost(request.user)}
    latest = narrowed(Order.objects.for_table(), "payment__branch").order_by("-created_at", "-pk")[:_LATEST]
    return {
        "counts": [(status, counted[status]) for status in Status if counted[status]],
        "today_count": sum(min(count, _MOST_COUNTED) for count in counted.values()),
        "today_more": "+" if max(counted.values()) > _MOST_COUNTED else "",
        "most_counted": _MOST_COUNTED,
        "latest": OrderTable(list(latest), **looks),
    }


def _last_syncs() -> QuerySet[CatalogueSync]:
    """The last fetch of the catalogue and the last one that was done, with how many products are listed and how many
    of them sell at cost."""
    syncs = CatalogueSync.objects.order_by("-started_at")
    done = syncs.filter(result=CatalogueSync.Result.DONE)
    listed, at_cost = (
        products.order_by().values("is_listed").annotate(n=Count("pk")).values("n")
        for products in (Product.objects.listed(), Product.objects.at_cost())
    )
    last_two = CatalogueSync.objects.filter(Q(pk__in=syncs.values("pk")[:1]) | Q(pk__in=done.values("pk")[:1]))
    return last_two.annotate(listed=Subquery(listed), at_cost=Subquery(at_cost)).order_by("-started_at")


def _catalogue_facts(syncs: list[Any], now: dt.datetime) -> dict[str, Any]:
    last = syncs[0] if syncs else None
    return {
        "product_count": (syncs[0].listed or 0) if syncs else Product.objects.listed().count(),
        "at_cost": syncs[0].at_cost if syncs else 0,
        "last_sync": last,
        "sync_runs": last is not None
        and last.result == CatalogueSync.Result.RUNNING
        and last.started_at > now - _LONGEST_SYNC,
        "last_good_sync": next((sync for sync in syncs if sync.result == CatalogueSync.Result.DONE), None),
    }
