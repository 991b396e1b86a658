"""Reads the readings, entries and orders from the database, in the form that `reconciliation.quiet` takes."""

import datetime as dt
from typing import Any

from django.db.models import Count, Exists, F, Max, Min, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce, Greatest
from django.utils import timezone

from core.together import read_together
from gateway.models import Exchange
from ledger.models import Entry
from purchases.models import Incident, Order
from purchases.states import OPEN, Status
from reconciliation import quiet
from upstream.endpoints import Endpoint

# An order waits for a person after this many requests over this time without information about it.
_SILENT_REQUESTS, _SILENT_FOR = 10, dt.timedelta(minutes=15)
_SENDINGS = [Endpoint.TRANSACTION_CREATE, Endpoint.BILL_PAY]


def readings() -> QuerySet[Exchange]:
    """Every answer whose balance was true between its request and its answer.

    Such an answer is to a balance request, or to the first sending of an order that was charged by it. The messages
    are not loaded, because thousands of readings may be compared together.
    """
    own = Order.objects.filter(ref_id=OuterRef("ref_id"), sent_no=OuterRef("pk"), trx_id=OuterRef("trx_id"))
    return Exchange.objects.readings().filter(Q(endpoint=Endpoint.BALANCE) | Exists(own)).defer("raw", "request")


def as_reading(exchange: Exchange) -> quiet.Reading:
    """The reading in the form that the method takes."""
    return quiet.Reading(
        no=exchange.pk,
        answered_no=exchange.answered_no or 0,
        balance=exchange.balance or 0,
        ref_id=exchange.ref_id,
    )


def known_since(no: int) -> quiet.Known:
    """The entries of orders from number `no` on, their orders, and all that may still be charged or refunded."""
    return known_from(*read_together(*known_questions(no)))


def known_questions(no: int) -> list[QuerySet[Any, Any]]:
    """The queries for `known_since`; `known_from` takes the answers.

    Read the readings in the same statement. An order is committed before it is sent, so every order in a reading is
    seen, and no order that was open a moment before has ended meanwhile.
    """
    posted = Entry.objects.filter(pk__gte=no, ref_id__gt="").exclude(balance_change=0).order_by()
    is_open = Q(status__in=OPEN, sent_no__isnull=False)
    # Not joined by OR, which no index answers.
    of_entries, open_ones = Order.objects.filter(ref_id__in=posted.values("ref_id")), Order.objects.filter(is_open)
    concerned = Order.objects.filter(pk__in=of_entries.values("pk").union(open_ones.values("pk")))
    return [
        concerned.values_list("ref_id", "sent_no", "pending_no"),
        _with_requests(concerned.filter(is_open | Q(attempt__gt=1))),
        posted.values_list("pk", "ref_id", "balance_change"),
    ]


def known_from(
    concerned: list[tuple[str, int | None, int | None]], asked: list[Any], posted: list[tuple[int, str, int]]
) -> quiet.Known:
    """The facts in the answers to `known_questions`."""
    orders = {
        ref_id: quiet.Order(ref_id=ref_id, sent_no=sent_no or 0, pending_no=pending_no or 0)
        for ref_id, sent_no, pending_no in concerned
    }
    now = timezone.now()
    for order in asked:
        orders[order.ref_id] = quiet.Order(
            ref_id=order.ref_id,
            sent_no=order.sent_no or 0,
            pending_no=order.pending_no or 0,
            resent_no=order.resent_no or 0,
            next_change=_next_change(order),
            is_open=not order.is_final and not _awaits_decision(order, now),
        )
    entries = [quiet.Entry(no=pk, ref_id=ref_id, change=change) for pk, ref_id, change in posted]
    return quiet.Known(entries, list(orders.values()))


def _with_requests(orders: QuerySet[Order]) -> QuerySet[Any]:
    """The orders, each with its last sending and the requests about it since its effect was last known."""
    about_it = Exchange.objects.of_order(OuterRef("ref_id")).order_by().values("ref_id")
    since = about_it.filter(pk__gt=OuterRef("known_no"))
    sendings = about_it.filter(endpoint__in=_SENDINGS)
    return orders.annotate(known_no=Greatest(F("sent_no"), Coalesce(F("pending_no"), 0))).annotate(
        resent_no=Subquery(sendings.annotate(last=Max("pk")).values("last")),
        asked_times=Coalesce(Subquery(since.annotate(times=Count("pk")).values("times")), 0),
        asked_since=Subquery(since.annotate(first=Min("sent_at")).values("first")),
        is_lost=Exists(Incident.objects.filter(order=OuterRef("pk"), kind=Incident.Kind.LOST_AFTER_ACCEPTANCE)),
    )


def _awaits_decision(order: Any, now: dt.datetime) -> bool:
    """Whether a person has to decide: the order seems never to have arrived, or requests give no more information."""
    if order.status == Status.NEEDS_ACTION:
        return True
    if order.is_lost and order.asked_times:
        return True
    return bool(order.asked_times >= _SILENT_REQUESTS and order.asked_since <= now - _SILENT_FOR)


def _next_change(order: Order) -> int:
    """Its possible effect on the balance, in rupiah, signed."""
    if order.is_final:
        return 0
    return -order.shown_price if order.accepted_no is None else order.shown_price
