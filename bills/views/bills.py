"""Bill checks: the list, and one bill with its standing. Checking and paying is at the counter."""

from typing import Any
from urllib.parse import urlencode

from django.db.models import OuterRef, Q
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from audit.services import record
from bills.lists import BILLS, PAID_IN, read_checks
from bills.models import BillCheck
from bills.presenting import ShownBill
from bills.states import Standing
from bills.tables import BillTable
from branches.seeing import narrowed
from core.access import StaffRequest, staff_only
from core.live import Live, seen_keys
from core.numbers import sees_whole_numbers, whole_numbers
from core.paging import keyset_page
from core.rights import Right
from customers.models import SavedNumber
from purchases.events import FULL_NUMBER_SEEN


@staff_only(Right.VIEW_BILLS)
@require_GET
def bill_list(request: StaffRequest) -> HttpResponse:
    """The checks that match the filters in the URL, newest first, 50 a page; the page follows those that are moving."""
    filtered = BILLS.found(request)
    page = keyset_page(filtered.qs.only("created_at"), request.GET)
    table = BillTable(read_checks([check.pk for check in page.rows]), columns=BILLS.columns(request.GET, request.user))
    return BILLS.show(request, {"filter": filtered, "page": page, "table": table, "live": _live(request, table)})


@staff_only(Right.VIEW_BILLS)
@require_GET
def bill_list_live(request: StaffRequest) -> HttpResponse:
    """The rows that have changed since the page was shown, and the time of the next poll."""
    seen = BillCheck.objects.for_table().filter(pk__in=seen_keys(request))
    rows = narrowed(seen, PAID_IN, with_shop=True)
    table = BillTable(rows, columns=BILLS.columns(request.GET, request.user))
    live = _live(request, table)
    table.rows = [check for check in table.rows if table.row_id(check) in live.news]
    return render(request, "components/live_rows.html", {"live": live, "table": table})


def _live(request: StaffRequest, table: BillTable) -> Live:
    """Follow the checks that wait for the biller, and the payments that are under way."""
    parts, over = {}, set()
    for check in table.rows:
        parts[table.row_id(check)] = (check.now_standing, check.order.status if check.order else "")
        if check.now_standing not in {Standing.ASKING, Standing.PAYING}:
            over.add(table.row_id(check))
    columns = urlencode({"columns": ",".join(column.name for column in table.columns)})
    return Live(request, f"{reverse('bill_list_live')}?{columns}", parts, over=over)


@staff_only(Right.VIEW_BILLS)
@require_GET
def bill_detail(request: StaffRequest, ref_id: str) -> HttpResponse:
    """One bill; the page follows the biller's answer, the expiry and the payment automatically."""
    return render(request, "bills/bill_detail.html", _detail(request, ref_id))


@staff_only(Right.VIEW_BILLS)
@require_GET
def bill_live(request: StaffRequest, ref_id: str) -> HttpResponse:
    """The time of the next poll, and the bill if it differs from the page."""
    return render(request, "bills/bill_detail.html#live", _detail(request, ref_id))


@staff_only(Right.VIEW_BILLS, Right.REVEAL_NUMBERS)
@require_http_methods(["GET", "POST"])
def bill_number(request: StaffRequest, ref_id: str) -> HttpResponse:
    """The bill with its full number, on this answer only; noted, unless the person always sees full numbers."""
    is_erased = BillCheck.objects.filter(ref_id=ref_id, number_erased=True).exists()
    if request.method != "POST" or is_erased:  # the address of such an answer, opened again; or nobody sees the number
        return redirect("bill_detail", ref_id=ref_id)
    is_noted = not sees_whole_numbers()
    with whole_numbers():
        context = _detail(request, ref_id) | {"is_revealed": is_noted}
        if is_noted:
            record(FULL_NUMBER_SEEN, actor=request.user, subject=ref_id)
        return render(request, "bills/bill_detail.html", context)


def _detail(request: StaffRequest, ref_id: str) -> dict[str, Any]:
    same_bill = Q(product=OuterRef("product")) | Q(product=None)
    owner = SavedNumber.objects.filter(same_bill, destination=OuterRef("destination")).owner()
    bills = ShownBill.read(BillCheck.objects.filter(ref_id=ref_id).annotate(owner=owner), request.user)
    if not bills:
        raise Http404
    return {
        "bill": bills[0],
        "owner": bills[0].check.owner if bills[0].saving_query else None,  # type: ignore[attr-defined] # annotated
        "may_reveal": not sees_whole_numbers()
        and not bills[0].check.number_erased
        and request.user.has_perm(Right.REVEAL_NUMBERS),
        "live": follow(request, reverse("bill_live", args=[ref_id]), bills),
    }


def follow(request: StaffRequest, url: str, bills: list[ShownBill]) -> Live:
    """Follow what moves on these bills, their expiry, and what other people do with them."""
    soonest = min((bill.reads_again for bill in bills if bill.reads_again), default=None)
    parts = {bill.row_id: bill.version for bill in bills}
    over = {bill.row_id for bill in bills if not bill.is_moving}
    return Live(request, url, parts, over=over, rest=soonest, within=soonest)
