"""Stores the differences of a comparison, with the orders that may be behind them; closes those with a sure reason.

Lock order: reconciliation's row (`lock_reconciliation`), then the orders that explain differences, then differences,
adjustments and announcements, then the books.
"""

import datetime as dt
from collections.abc import Iterable, Sequence

import structlog
from django.db.models import F, Q, QuerySet, Sum
from django.utils import timezone

from ledger import services as ledger
from ledger.models import Entry
from purchases.models import Order
from purchases.services import keep_orders
from purchases.states import OPEN, Status
from reconciliation import explaining
from reconciliation.models import Difference, ExpectedTopUp, Reconciliation
from staff.models import User

log = structlog.get_logger()

_MOST_CANDIDATES = 10
# Two orders that explain a difference together are searched among this many of the newest.
_MOST_PAIRED = 200
# The time before a difference in which its opposite may have been found, an order refunded, or an order debited.
_MADE_GOOD_WITHIN = dt.timedelta(days=30)
_REFUNDED_WITHIN = dt.timedelta(days=1)
_DEBITED_WITHIN = dt.timedelta(minutes=10)

_Kind, _Label, _State, _Why = Entry.Kind, Difference.Label, Difference.State, Difference.Why
# An announced amount is a top-up, even if an order has the same price. A second refund is never a top-up.
MAY_BE_ANNOUNCED = (_Label.TOPUP, _Label.UNREPORTED_REFUND)


def lock_reconciliation() -> Reconciliation:
    """Reconciliation's row, locked until the end of the transaction: runs and people's decisions go one by one.

    Lock it before anything else. Then they cannot deadlock, and each sees all results of the ones before it.
    """
    return Reconciliation.objects.select_for_update().get_or_create(only=True)[0]


def orders_of_amount(differences: Iterable[Difference]) -> dict[int, list[str]]:
    """The orders that alone explain a difference, by its key: those of exactly its amount, the likeliest first.

    Without orders of unknown outcome with a higher price, for which the upstream would have charged less, and without
    two orders that only together make the amount.
    """
    rows = list(differences)
    doubtful = [named["ref_id"] for row in rows for named in row.candidates if named["why"] == _Why.OUTCOME_UNKNOWN]
    prices = dict(Order.objects.filter(ref_id__in=doubtful).values_list("ref_id", "max_price")) if doubtful else {}
    return {
        row.pk: [
            named["ref_id"]
            for named in row.candidates
            if named["why"] != _Why.TWO_TOGETHER and prices.get(named["ref_id"], row.size) == row.size
        ]
        for row in rows
    }


def unexplained_differences() -> QuerySet[Difference]:
    """The open differences that are no top-up."""
    return Difference.objects.open().exclude(label=_Label.TOPUP)


def as_found(rows: Iterable[Difference]) -> dict[explaining.Difference, Difference]:
    """The differences as the method in `explaining` takes them, each with its row."""
    return {explaining.Difference(amount=row.amount, from_no=row.from_no, to_no=row.to_no): row for row in rows}


def record(
    events: Sequence[explaining.Event], rows: dict[explaining.Difference, Difference], times: dict[int, dt.datetime]
) -> None:
    """Store the findings of a run. `rows`: the open ones, `as_found`. `times`: the times of each reading's numbers."""
    if not events:
        return
    orders = keep_orders({event.ref_id for event in events if isinstance(event, explaining.Explained)})
    new: list[Difference] = []
    for event in events:
        if isinstance(event, explaining.Found):
            rows[event.difference] = _store(event.difference, rows, times)
            new.append(rows[event.difference])
        else:
            _close(rows[event.difference], order=orders[event.ref_id])
            log.info("difference_explained", difference=rows[event.difference].pk, ref_id=event.ref_id)
    # Only what no order of this run explains cancels an earlier one: a closed difference never changes again.
    for difference in new:
        if difference.state == _State.OPEN and difference.amount > 0:
            _make_good(difference)
    # The books come last: every sale waits for their row.
    for difference in new:
        if difference.state == _State.OPEN and difference.label in MAY_BE_ANNOUNCED:
            match_announced(difference)
    _keep_sum()


def close(difference: Difference, *, entry: Entry, actor: User | None = None, note: str = "") -> Difference:
    """Close the difference by the entry that took it into the books.

    `actor`: the person who closes it; None for an automatic closing.
    """
    _close(difference, entry=entry, actor=actor, note=note)
    _keep_sum()
    return difference


def close_both(former: Difference, opposite: Difference) -> None:
    """Close two differences that cancel each other: nothing is posted, and the sum of the open ones stays."""
    _close(former, other=opposite)
    _close(opposite, other=former)


def match_announced(difference: Difference) -> None:
    """Acknowledge the difference with the oldest announced top-up of exactly its amount, if there is one."""
    expected = ExpectedTopUp.objects.waiting().filter(amount=difference.amount).order_by("pk").first()
    if expected is None:
        return
    expected.difference = difference
    expected.save(update_fields=["difference"])
    entry = ledger.post_top_up(amount=difference.amount, actor=expected.announced_by, reason=expected.note)
    close(difference, entry=entry, note=expected.note)


def _store(
    unexplained: explaining.Difference, rows: dict[explaining.Difference, Difference], times: dict[int, dt.datetime]
) -> Difference:
    other_part = rows[unexplained.rest_of] if unexplained.rest_of else None
    difference = Difference(
        amount=unexplained.amount,
        from_no=unexplained.from_no,
        to_no=unexplained.to_no,
        from_at=other_part.from_at if other_part else times[unexplained.from_no],
        to_at=other_part.to_at if other_part else times[unexplained.to_no],
        rest_of=other_part,
    )
    named = _candidates(difference)
    difference.candidates = [{"ref_id": ref_id, "why": why} for ref_id, why in named.items()]
    difference.label = _label(difference.amount, set(named.values()))
    difference.save()
    log.error("difference_found", difference=difference.pk, amount=difference.amount, label=str(difference.label))
    return difference


def _close(
    difference: Difference,
    *,
    entry: Entry | None = None,
    other: Difference | None = None,
    order: Order | None = None,
    actor: User | None = None,
    note: str = "",
) -> None:
    difference.state = _State.ACKNOWLEDGED
    difference.acknowledged_at = timezone.now()
    difference.acknowledged_by = actor
    difference.note = note[:500]
    difference.entry, difference.closed_with, difference.explained_by = entry, other, order
    difference.save()


def _keep_sum() -> None:
    ledger.set_found(Difference.objects.open().aggregate(total=Sum("amount"))["total"] or 0)


def _make_good(difference: Difference) -> None:
    """Link the new difference to a former one that was its opposite, if there is one.

    The former one was a missing refund, or was adjusted for an order that has its own entry by now. They close each
    other, unless an adjustment of the former one was proposed or posted: then people finish it.
    """
    decided = Q()
    for ref_id in _entries_between(difference, _Kind.DEBIT).values_list("ref_id", flat=True)[:_MOST_CANDIDATES]:
        decided |= Q(candidates__contains=[{"ref_id": ref_id}])
    possible = Q(label=_Label.MISSING_REFUND) | (decided & Q(entry__isnull=False) if decided else Q(pk=None))
    opposite = Difference.objects.filter(
        possible,
        pk__lt=difference.pk,  # a run stores all its findings first, the earliest first
        amount=-difference.amount,
        to_at__gte=difference.to_at - _MADE_GOOD_WITHIN,
        closed_with__isnull=True,
        explained_by__isnull=True,
        made_good_by__isnull=True,
    )
    former = opposite.order_by(F("acknowledged_at").asc(nulls_first=True), "pk").first()
    if former is None:
        return
    is_refund = former.label == _Label.MISSING_REFUND
    difference.label = _Label.LATE_REFUND if is_refund else _Label.ADJUSTED_BEFORE
    difference.makes_good = former
    difference.candidates = [
        {"ref_id": named["ref_id"], "why": difference.label.value}
        for named in former.candidates
        if named["why"] == _Why.MISSING_REFUND or not is_refund
    ]
    difference.save()
    if former.state == _State.OPEN and not former.adjustments.filter(decided_at__isnull=True).exists():
        close_both(former, difference)


def _label(amount: int, reasons: set[str]) -> Difference.Label:
    if amount < 0:
        return _Label.MISSING_REFUND if _Why.MISSING_REFUND in reasons else _Label.UNEXPLAINED
    if _Why.DOUBLE_REFUND in reasons:
        return _Label.DOUBLE_REFUND
    is_refund = reasons & {_Why.REFUND_WITHOUT_FAILURE, _Why.REFUND_UNREPORTED}
    return _Label.UNREPORTED_REFUND if is_refund else _Label.TOPUP


def _entries_between(difference: Difference, *kinds: Entry.Kind) -> QuerySet[Entry]:
    """The entries of orders of exactly this amount that were posted within the difference's time."""
    entries = Entry.objects.filter(kind__in=kinds, amount=abs(difference.amount))
    return entries.filter(pk__gt=difference.from_no, pk__lt=difference.to_no).order_by("-pk")


def _candidates(difference: Difference) -> dict[str, str]:
    """The orders whose debit or refund may be behind the difference, the likeliest first: ref_id → reason.

    Orders of exactly this amount; without one, two orders that make it together. An order of unknown outcome may have
    been charged less than its price: those with a higher price come last, the nearest price first, so that a small
    difference is not lost among all waiting orders.
    """
    price, start = abs(difference.amount), difference.from_at
    entries = Entry.objects.filter(amount=price, pk__lt=difference.to_no).order_by("-pk")
    orders = Order.objects.filter(created_at__lte=difference.to_at).order_by("-created_at", "-pk")
    uncharged = orders.filter(sent_at__isnull=False, accepted_no=None)
    in_doubt = uncharged.filter(status__in=OPEN, sent_no__isnull=False)
    refunds = Q(kind__in=[_Kind.REFUND, _Kind.REVERSAL])
    questions: list[tuple[Difference.Why, QuerySet[Entry] | QuerySet[Order]]]
    if difference.amount < 0:
        closed = uncharged.filter(status__in=[Status.CLOSED, Status.FAILED])
        pair = _two_together(in_doubt | closed, price)
        questions = [
            (_Why.MISSING_REFUND, _entries_between(difference, _Kind.REFUND, _Kind.REVERSAL)),
            (_Why.OUTCOME_UNKNOWN, in_doubt.filter(max_price=price)),
            (_Why.CHARGED_AFTER_ALL, uncharged.filter(sent_no=None, max_price=price) | closed.filter(max_price=price)),
            (_Why.DOUBLE_DEBIT, entries.filter(kind=_Kind.DEBIT, at__gte=start - _DEBITED_WITHIN)),
            (_Why.TWO_TOGETHER, orders.filter(ref_id__in=pair)),
            (_Why.OUTCOME_UNKNOWN, in_doubt.filter(max_price__gt=price).order_by("max_price", "-created_at", "-pk")),
        ]
    else:
        since = start - _REFUNDED_WITHIN
        unreported = orders.filter(status=Status.PENDING, price=price).exclude(pending_no__gte=difference.to_no)
        questions = [
            (_Why.DOUBLE_REFUND, entries.filter(refunds, at__gte=since)),
            (_Why.REFUND_UNREPORTED, unreported),
            (_Why.REFUND_WITHOUT_FAILURE, orders.filter(status=Status.SUCCESS, price=price, final_at__gte=since)),
            (_Why.NEVER_DEBITED, _entries_between(difference, _Kind.DEBIT)),
        ]
    named: dict[str, str] = {}
    for why, candidates in questions:
        if why == _Why.TWO_TOGETHER and named:
            continue
        for ref_id in candidates.values_list("ref_id", flat=True)[:_MOST_CANDIDATES]:
            named.setdefault(ref_id, why)
    return dict(list(named.items())[:_MOST_CANDIDATES])


def _two_together(orders: QuerySet[Order], amount: int) -> list[str]:
    """The newest two of these orders whose prices together are this amount (rupiah); empty if there are none."""
    newest: dict[int, str] = {}
    for ref_id, price in orders.filter(max_price__lt=amount).values_list("ref_id", "max_price")[:_MOST_PAIRED]:
        if other := newest.get(amount - price):
            return [other, ref_id]
        newest.setdefault(price, ref_id)
    return []
