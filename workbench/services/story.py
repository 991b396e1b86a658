"""Reads everything that is kept about one order, from all rooms, at one moment."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import BinaryField, Model, QuerySet
from django.db.models.query_utils import DeferredAttribute

from approvals.models import Approval
from audit.models import AuditEvent
from bills.models import Inquiry
from callbacks.models import Callback
from core.together import read_together
from credit.models import CreditEntry
from drawers.models import DrawerEntry, Payment
from gateway.models import Exchange
from ledger.models import Entry
from purchases.models import Incident, Order, OrderEvent, ReceiptPrint, Verdict
from purchases.models.orders import OrderHistory
from reconciliation.models import Difference
from tills.models import DrawerOpening

# The most rows of one kind; even an order that was polled for weeks has fewer.
MOST_ROWS = 2_000


@dataclass(frozen=True)
class Story:
    """One order and the rows about it. `is_whole`: no row was left out because there are too many."""

    order: Order
    rows: list[Model]
    is_whole: bool

    def of(self, *kinds: type[Model]) -> Iterator[Any]:
        """Its rows of these models."""
        return (row for row in self.rows if isinstance(row, kinds))


def read_story(ref_id: str, *, with_bodies: bool = False, with_credit: bool = False) -> Story | None:
    """The order with this ref_id and everything that is kept about it; None without such an order.

    `with_bodies`: with the bodies of requests, answers and callbacks. `with_credit`: also the entries of credit.
    """
    order = Order.objects.filter(ref_id=ref_id)
    about = _about(ref_id, order) + ([_on_credit(ref_id)] if with_credit else [])
    orders, *parts = read_together(order.select_related("product", "placed_by"), *(rows[:MOST_ROWS] for rows in about))
    if not orders:
        return None
    rows = [row for some in parts for row in some]
    if with_bodies:
        rows = [row for row in rows if not isinstance(row, Exchange | Callback)]
        rows += Exchange.objects.of_order(ref_id).order_by("pk")[:MOST_ROWS]
        rows += Callback.objects.filter(ref_id=ref_id).order_by("pk")[:MOST_ROWS]
    return Story(orders[0], rows, is_whole=all(len(some) < MOST_ROWS for some in parts))


def _about(ref_id: str, order: Any) -> list[QuerySet[Any]]:
    differences = Difference.objects.select_related("acknowledged_by")
    since = order.values("created_at")[:1]
    return [
        OrderEvent.objects.select_related("actor").filter(order__ref_id=ref_id).defer("raw"),
        Exchange.objects.without_bodies().of_order(ref_id).order_by("pk"),
        Callback.objects.filter(ref_id=ref_id).defer("body", "headers").order_by("pk"),
        Entry.objects.select_related("actor").filter(ref_id=ref_id),
        Payment.objects.select_related("seller", "sold_in__drawer", "debt__account__customer", "given_by").filter(
            ref_id=ref_id
        ),
        DrawerEntry.objects.select_related("person", "shift__drawer").filter(ref_id=ref_id, kind="refund"),
        DrawerOpening.objects.select_related("till").filter(cause__in=[f"sale {ref_id}", f"refund {ref_id}"]),
        Incident.objects.select_related("closed_by").filter(order__ref_id=ref_id).defer("raw").order_by("pk"),
        Verdict.objects.select_related("proposed_by", "approved_by", "declined_by")
        .filter(order__ref_id=ref_id)
        .order_by("pk"),
        Approval.objects.select_related("asked_by", "decided_by").filter(result=ref_id, result__gt="").order_by("pk"),
        ReceiptPrint.objects.select_related("printed_by").filter(order__ref_id=ref_id),
        Inquiry.objects.select_related("asked_by").filter(bill_check__ref_id=ref_id).defer("raw"),
        differences.filter(explained_by__ref_id=ref_id).order_by("pk"),
        differences.filter(found_at__gte=since, candidates__contains=[{"ref_id": ref_id}])
        .exclude(explained_by__ref_id=ref_id)
        .order_by("found_at", "pk"),
        AuditEvent.objects.select_related("person").filter(subject=ref_id).order_by("pk"),
    ]


def _on_credit(ref_id: str) -> QuerySet[CreditEntry]:
    entries = CreditEntry.objects.select_related("person", "account__customer")
    return entries.filter(ref_id=ref_id, ref_id__gt="").order_by("pk")


def history_of_order(order: Order) -> list[Any]:
    """The copies of the order's row that the database made at each change, oldest first, at most `MOST_ROWS`."""
    return list(OrderHistory.objects.filter(pgh_obj=order).order_by("pgh_id")[:MOST_ROWS])


def facts_of(row: Model) -> dict[str, Any]:
    """Every column that was read of a row, by its name; people as user names, bytes as text."""
    facts: dict[str, Any] = {}
    for field in row._meta.concrete_fields:
        if isinstance(getattr(type(row), field.attname), DeferredAttribute) and field.attname in row.__dict__:
            value = row.__dict__[field.attname]
            if isinstance(field, BinaryField):
                value = bytes(value).decode("utf-8", errors="backslashreplace")
            person = getattr(row.__dict__.get("_state"), "fields_cache", {}).get(field.name)
            facts[field.name] = getattr(person, "username", value)
    return facts
