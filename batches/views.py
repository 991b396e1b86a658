"""The pages of batches: check a table, correct its rows, release it, and follow it to its end."""

from typing import Any

from django.contrib import messages
from django.db.models import Count, Exists, OuterRef
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _, ngettext, pgettext, pgettext_lazy
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from audit.acts import act
from batches import services
from batches.filters import BatchFilter
from batches.forms import RowForm, TableForm
from batches.lists import ROWS
from batches.models import GIVEN_UP, GROUPS, MOST_ROWS, TICKED, UNTICKED, Batch, BatchRow
from batches.presenting import ShownBatch, visible_batches
from batches.services import largest_of, seal_of
from batches.states import BatchState
from batches.tables import BatchRowTable, BatchTable
from branches.seeing import names_branches
from core.access import StaffRequest, staff_only
from core.errors import Refused, refusal_shown
from core.keys import typed_key, typed_keys
from core.live import Live, expect_news
from core.paging import FirstPages
from core.rights import Right
from core.sheets import SheetRefused
from drawers.forms import PaidByForm
from drawers.services import open_shift_of
from dues.filters import bills_seen
from dues.views import SEES as SEES_DUE
from ledger.presenting import Funds
from purchases.presenting import limits_shown
from purchases.services import needs_approval
from staff.confirming import check_factor
from tills.printing import open_cash_drawer

#: People who check tables. Releasing one takes a right of its own.
SEES = (Right.VIEW_PRODUCT, Right.BUY)
RELEASE = act("release_batch", pgettext_lazy("audit", "Release a batch"), Right.RELEASE_BATCHES)
# How many rows the page of a batch shows, only faulty ones while there are any; and how many bills with their ticks.
_ROWS, _BILLS = 50, 200
#: The id of the form with the ticks of the bills, which releases only ticked ones.
_TICKS = "release-form"
#: The steps that change ticks: set or clear those of all bills, or take over those of the page.
_TICK_STEPS = ("tick_all", "tick_none", "ticks")


@staff_only(*SEES)
@require_GET
def batch_list(request: StaffRequest) -> HttpResponse:
    """The batches that this person sees, newest first."""
    is_under_way = Exists(BatchRow.objects.filter(GROUPS["open"], batch=OuterRef("pk")))
    batches = visible_batches(request.user).select_related("created_by")
    batches = batches.annotate(count=Count("rows"), is_under_way=is_under_way)
    filtered = BatchFilter(request.GET, queryset=batches.order_by("-created_at", "-pk"))
    page = FirstPages(filtered.qs, _ROWS).get_page(request.GET.get("page"))
    context = {"filter": filtered if names_branches() else None, "page": page, "table": BatchTable(page)}
    return render(request, "batches/batch_list.html", context)


@staff_only(*SEES)
@require_http_methods(["GET", "POST"])
def batch_add(request: StaffRequest) -> HttpResponse:
    """Check a table. The same table again leads to its batch, unless the person wants to sell it again (`again`)."""
    form = TableForm(request.POST, request.FILES) if request.method == "POST" else TableForm()
    if request.method == "POST" and form.is_valid():
        try:
            batch, is_new = services.check_table(
                form.cleaned_data["text"], name=form.name, actor=request.user, meant_again="again" in request.POST
            )
        except SheetRefused as refusal:
            form.add_error(None, str(refusal))
        else:
            return _after_check(request, batch, is_new=is_new)
    return render(request, "batches/batch_add.html", {"form": form, "most": MOST_ROWS})


def _after_check(request: StaffRequest, batch: Batch, *, is_new: bool) -> HttpResponse:
    if not is_new and not visible_batches(request.user).filter(pk=batch.pk).exists():
        name = batch.created_by.shown_name if batch.created_by else pgettext("batch", "Command")
        words = _("%(name)s has checked this table before, as batch %(number)s. Ask there, before you sell it again.")
        messages.error(request, words % {"name": name, "number": batch.pk}, extra_tags="table_of_another")
        return redirect("batch_list")
    if not is_new:
        words = (
            _("This batch was made before and is not released yet. It was not made a second time.")
            if batch.state == BatchState.CHECKED
            else _("This table was checked before: this is what has come of it. Nothing is sold a second time.")
        )
        messages.info(request, words, extra_tags="same_table")
    return redirect(batch)


@staff_only(*SEES, *SEES_DUE, Right.CHECK_BILLS)
@require_POST
def batch_due(request: StaffRequest) -> HttpResponse:
    """A batch of the ticked bills of the list of bills due (`number`, keys of saved numbers)."""
    ticked = typed_keys(request.POST.getlist("number")[:_BILLS])
    seen = list(bills_seen().open().filter(number__in=ticked).values_list("number", flat=True))
    with refusal_shown(request):
        batch, is_new = services.batch_of_due(seen, actor=request.user)
        return _after_check(request, batch, is_new=is_new)
    return redirect("due_list")


@staff_only(*SEES)
@require_GET
def batch_detail(request: StaffRequest, pk: int) -> HttpResponse:
    """One batch: its totals, its faults and the release; later its progress."""
    return _show(request, _seen(request, pk))


@staff_only(*SEES)
@require_GET
def batch_live(request: StaffRequest, pk: int) -> HttpResponse:
    """The progress, if it has changed, and the time of the next poll."""
    facts = _facts(request, _seen(request, pk))
    answer = render(request, "batches/batch_detail.html#live", facts)
    if facts["shown"].is_at_rest:
        answer["HX-Refresh"] = "true"  # all bills are checked: totals and ticks appear; or all is sold: rows change
    return answer


def _seen(request: StaffRequest, pk: int) -> Batch:
    people = ("created_by", "released_by", "settled_by", "customer", "again_of", "branch", "approval__decided_by")
    return get_object_or_404(visible_batches(request.user).select_related(*people), pk=pk)


def _facts(request: StaffRequest, batch: Batch) -> dict[str, Any]:
    shown = ShownBatch(batch)
    url = reverse("batch_live", args=[batch.pk])
    over = ["batch-live"] if shown.is_at_rest else []
    return {
        "shown": shown,
        "batch": batch,
        "live": Live(request, url, {"batch-live": shown.version}, over=over),
        "may_release": request.user.has_perm(Right.RELEASE_BATCHES),
    }


def _show(request: StaffRequest, batch: Batch, refusal: Refused | None = None) -> HttpResponse:
    context = _facts(request, batch)
    shown: ShownBatch = context["shown"]
    rows = BatchRow.objects.for_table().filter(batch=batch)
    faulty = rows.filter(GROUPS["wrong"] | GROUPS["failed"] | GIVEN_UP)
    has_faults = faulty.exists()
    others = rows.exclude(TICKED | UNTICKED) if shown.is_open else rows
    page = (faulty if has_faults else others).order_by("line")[:_ROWS]
    may_mend = shown.is_open and request.user.has_perm(Right.VIEW_NUMBERS)
    context |= {
        "table": BatchRowTable(page, may_mend=may_mend),
        "has_faults": has_faults,
        "refusal": refusal,
        "refusal_words": refusal.words_for(request.user) if refusal else "",
    }
    if shown.is_open:
        person, cost = request.user, shown.totals["cost"]
        seal = seal_of(batch)
        context |= {
            "seal": seal,
            "signs": {"batch": batch.pk, "seal": seal},
            **_bills(request, shown, may_mend=may_mend),
            "has_release_form": not shown.approval and shown.totals["count"],
            "own_shift": open_shift_of(person.pk),
            "missing": Funds.now().missing(cost),
            "needs_approval": needs_approval(person, cost=cost, price=shown.totals["pays"]),
            **limits_shown(person, cost, largest=largest_of(batch)),
        }
    return render(request, "batches/batch_detail.html", context)


def _bills(request: StaffRequest, shown: ShownBatch, *, may_mend: bool) -> dict[str, Any]:
    """The bills that can be paid, each with its tick; nothing while some are still being checked."""
    if shown.is_asking or not shown.bills["may"]:
        return {}
    rows = BatchRow.objects.for_table().filter(TICKED | UNTICKED, batch=shown.batch).order_by("line")
    page = FirstPages(rows, _BILLS).get_page(request.GET.get("page"))
    steps = zip(_TICK_STEPS, (_("Tick all"), _("Tick none"), _("Take over the ticks")), strict=True)
    table = BatchRowTable(page, may_mend=may_mend, ticks=_TICKS)
    return {"page": page, "bill_table": table, "tick_steps": [*steps]}


def _take_ticks(request: StaffRequest, batch: Batch) -> bool:
    """Take over the ticks of the page (`tick`, of the lines that are `shown`); return whether any has changed."""
    lines = {
        name: [int(line) for line in request.POST.getlist(name)[:_BILLS] if line.isdecimal() and len(line) < 9]
        for name in ("shown", "tick")
    }
    count = services.tick(batch, actor=request.user, shown=lines["shown"], ticked=lines["tick"])
    return bool(count)


def _show_after_ticks(request: StaffRequest, pk: int, refusal: Refused | None = None) -> HttpResponse:
    """The new totals, with the rest of the form as the person left it: the way to pay, the cash, the reason.

    A script takes the totals out of the page; if the page has none now, it loads the whole page.
    """
    batch = _seen(request, pk)
    answer, shown = _show(request, batch, refusal), ShownBatch(batch)
    if "HX-Request" in request.headers and (shown.is_asking or not shown.is_open):
        answer["HX-Refresh"] = "true"
    return answer


@staff_only(*SEES, Right.RELEASE_BATCHES)
@require_POST
def batch_release(request: StaffRequest, pk: int) -> HttpResponse:
    """Have exactly the rows sold that were shown (`seal`); above the person's limit ask for a second person.

    A tick that has changed since only changes what would be sold: the person sees the new total first.
    """
    return _release(request, _seen(request, pk))


@staff_only(*SEES)
@require_POST
def batch_ask(request: StaffRequest, pk: int) -> HttpResponse:
    """Ask a person who may release batches for exactly the rows that were shown (`seal`), with how they are paid.

    The asker sells them: the money belongs to that person's drawer.
    """
    return _release(request, _seen(request, pk))


def _release(request: StaffRequest, batch: Batch) -> HttpResponse:
    seal = request.POST.get("seal", "")[:64]
    try:
        if _take_ticks(request, batch):
            words = _("The ticks were changed. Look at the new total, then release it.")
            messages.info(request, words, extra_tags="ticks_changed")
            return _show_after_ticks(request, batch.pk)
        payment = PaidByForm(request.POST).payment(batch.rows.totals()["pays"])  # before the code is used up
        if services.may_release(request.user):
            check_factor(request, act=RELEASE, content={"batch": batch.pk, "seal": seal})
        reason = request.POST.get("reason", "")
        approval = services.release(batch, actor=request.user, seal=seal, payment=payment, reason=reason)
    except Refused as refusal:
        batch.refresh_from_db()
        return _show(request, batch, refusal)
    if approval:
        messages.success(request, _("Asked. A second person has to approve it."), extra_tags="waits_for_approval")
        return redirect(approval)
    if payment.row.counts_as_cash:
        open_cash_drawer(request, "sale", f"batch {batch.pk}")
    expect_news(request)
    messages.success(request, _("Released. The rows are sold one after the other."), extra_tags="batch_released")
    return redirect(batch)


@staff_only(*SEES, Right.RELEASE_BATCHES)
@require_POST
def batch_step(request: StaffRequest, pk: int) -> HttpResponse:
    """Pause a batch, resume it, cancel what is not sent, or note that its money is settled (`step`)."""
    batch, step = _seen(request, pk), request.POST.get("step", "")
    with refusal_shown(request):
        if step == "pause":
            services.pause(batch, actor=request.user)
        elif step == "resume":
            services.resume(batch, actor=request.user)
        elif step == "settle":
            services.settle(batch, actor=request.user)
        elif step == "cancel":
            count = services.cancel(batch, actor=request.user)
            words = ngettext("%(n)s row was cancelled.", "%(n)s rows were cancelled.", count) % {"n": count}
            messages.success(request, words, extra_tags="batch_cancelled")
    expect_news(request)
    return redirect(batch)


@staff_only(*SEES)
@require_POST
def batch_again(request: StaffRequest, pk: int) -> HttpResponse:
    """A new batch of the rows that have failed, were cancelled or never corrected."""
    batch = _seen(request, pk)
    with refusal_shown(request):
        other, is_new = services.again(batch, actor=request.user)
        return _after_check(request, other, is_new=is_new)
    return redirect(batch)


@staff_only(*SEES)
@require_POST
def batch_mend(request: StaffRequest, pk: int) -> HttpResponse:
    """Take one step with all rows that have a fault (`fault`): `step`, or a product for all of them (`code`).

    Also `ticks`, which takes over those of the page; `tick_all` and `tick_none` change those of all bills.
    """
    batch, step = _seen(request, pk), request.POST.get("step", "")
    if step in _TICK_STEPS:
        return _tick(request, batch, step)
    with refusal_shown(request):
        count = services.mend_all(
            batch,
            step=step,
            actor=request.user,
            fault=request.POST.get("fault", ""),
            code=request.POST.get("code", "").strip()[:100],
        )
        words = ngettext("%(n)s row was changed.", "%(n)s rows were changed.", count) % {"n": count}
        messages.success(request, words, extra_tags="rows_changed")
    return redirect(batch)


def _tick(request: StaffRequest, batch: Batch, step: str) -> HttpResponse:
    refusal = None
    try:
        if step == "ticks":
            _take_ticks(request, batch)
        else:
            bills = batch.rows.filter(TICKED | UNTICKED) if step == "tick_all" else batch.rows.none()
            services.tick(batch, actor=request.user, ticked=[*bills.values_list("line", flat=True)])
    except Refused as caught:
        refusal = caught
    return _show_after_ticks(request, batch.pk, refusal)


@staff_only(*SEES, Right.VIEW_NUMBERS)
@require_http_methods(["GET", "POST"])
def batch_row(request: StaffRequest, pk: int, line: int) -> HttpResponse:
    """Correct one row, leave it out, or take it in again (`step`)."""
    batch = _seen(request, pk)
    row = get_object_or_404(BatchRow.objects.for_table(), batch=batch, line=line)
    form = RowForm(request.POST or None, initial={"number": row.typed, "what": row.what})
    step = request.POST.get("step", "")
    if request.method == "POST" and (step in services.STEPS or form.is_valid()):
        with refusal_shown(request):
            if step:
                services.mend_all(batch, step=step, actor=request.user, line=line)
            else:
                services.change_row(row, **form.cleaned_data, actor=request.user)
        return redirect(batch)
    return render(request, "batches/row_form.html", {"batch": batch, "row": row, "form": form})


@staff_only(*SEES)
@require_GET
def batch_row_list(request: StaffRequest) -> HttpResponse:
    """All rows of the batches that this person sees, or of one (`batch`); with files."""
    filtered = ROWS.found(request)
    page = FirstPages(filtered.qs.values_list("pk", flat=True), _ROWS).get_page(request.GET.get("page"))
    shown = BatchRow.objects.for_table().filter(pk__in=list(page)).order_by("-batch", "line")
    table = BatchRowTable(shown, columns=ROWS.columns(request.GET, request.user))
    batch = _batch_of(request)
    context = {
        "batch": batch,
        "shown": ShownBatch(batch) if batch else None,
        "may_release": request.user.has_perm(Right.RELEASE_BATCHES),
    }
    return ROWS.show(request, {"filter": filtered, "page": page, "table": table, **context})


def _batch_of(request: StaffRequest) -> Batch | None:
    key = typed_key(request.GET.get("batch", ""))
    return visible_batches(request.user).filter(pk=key).first() if key is not None else None
