"""Rows for tests, with sensible values for the fields that a test does not name."""

import datetime as dt
import uuid
from typing import Any

from django.utils import timezone

from bills.models import BillCheck
from bills.services.inquiring import months_of
from branches.models import FIRST
from catalogue.models import Brand, Category, Product
from catalogue.services.kinds import Corrections, settle_kind
from customers.services import who_saved
from drawers.models import Outcome, Payment, Shift
from ledger.models import Entry
from purchases.models import Order, OrderEvent
from purchases.services.placing import new_ref_id
from purchases.states import FINAL, POLLED, ActionReason, Status
from upstream.messages import Transaction

_ACCEPTED = {Status.PENDING, Status.SUCCESS, Status.FAILED, Status.REVERSED}
_SENT = _ACCEPTED | {Status.SENDING, Status.UNKNOWN, Status.NEEDS_ACTION, Status.CLOSED}


def make_product(**facts: Any) -> Product:
    """A listed, available "Telkomsel 10.000" for Rp10.500, unless given otherwise."""
    category, _ = Category.objects.get_or_create(
        code=facts.pop("category", "pulsa"), defaults={"name": "Pulsa", "type": "prepaid"}
    )
    brand, _ = Brand.objects.get_or_create(
        category=category, code=facts.pop("brand", "telkomsel"), defaults={"name": "Telkomsel"}
    )
    facts = {
        "code": f"P{uuid.uuid4().hex[:8].upper()}",
        "name": "Telkomsel 10.000",
        "type": "prepaid",
        "price": 10_500,
        "availability": "active",
        **facts,
    }
    return _listed(Product(category=category, brand=brand, **facts))


def _listed(product: Product) -> Product:
    """The product, stored as the sync stores it: its names decide the kind of its numbers."""
    settle_kind(product, Corrections({}, {}), is_new=True)
    product.save()
    return product


def make_order(status: Status = Status.QUEUED, **facts: Any) -> Order:
    """An order that is inserted in `status`: it has made no move, so it has only the given events."""
    product = facts.pop("product", None) or make_product()
    now = timezone.now()
    in_doubt_since = facts.get("sent_no")
    facts = {
        "ref_id": new_ref_id(),
        "idempotency_key": str(uuid.uuid4()),
        "product_code": product.code,
        "product_name": product.name,
        "destination": "081234567890",
        "max_price": product.price,
        "final_at": now if status in FINAL else None,
        "action_reason": ActionReason.NEVER_ARRIVED if status == Status.NEEDS_ACTION else "",
        "next_poll_at": now if status in POLLED | {Status.QUEUED, Status.NEEDS_ACTION} else None,
        "sent_at": None if status == Status.QUEUED else now,
        "sent_no": 1 if status in _SENT else None,
        "accepted_no": 2 if status in _ACCEPTED else None,
        "ended_no": 3 if status in FINAL else None,
        "attempt": 0 if status == Status.QUEUED else 1,
        **facts,
    }
    if facts["action_reason"] not in {"", ActionReason.NEVER_ARRIVED}:
        facts |= {"next_poll_at": None, "sent_no": in_doubt_since}
    facts["payment"] = facts.get("payment") or paid_in_cash(status, **facts)
    return Order.objects.create(product=product, status=status, **facts)


def paid_in_cash(status: Status, **order: Any) -> Payment:
    """A cash payment of the order with these facts, in its seller's open drawer, if there is one."""
    seller = order.get("placed_by")
    shift = Shift.objects.select_related("drawer").filter(cashier=seller, closed_at=None).first() if seller else None
    outcome = {Status.SUCCESS: Outcome.KEPT, Status.REVERSED: Outcome.OWED}.get(
        status, Outcome.OWED if shift else Outcome.NOTHING
    )
    facts: dict[str, Any] = {"outcome": Outcome.OPEN}
    if status in FINAL:
        facts = {"outcome": outcome, "ended_at": order["final_at"]}
    if status in {Status.SUCCESS, Status.REVERSED}:
        facts["cost"] = order.get("price") or order["max_price"]
    return Payment.objects.create(
        ref_id=order["ref_id"],
        seller=seller,
        branch_id=shift.drawer.branch_id if shift else seller.branch_id if seller else FIRST,
        sold_in=shift,
        at=order.get("created_at") or timezone.now(),
        amount=order.get("selling_price") or order.get("price") or order["max_price"],
        buyer=who_saved(order["destination"]),
        **facts,
    )


def reported(order: Order, status: str = "success", **facts: Any) -> Transaction:
    """The upstream's report about this order."""
    facts = {
        "trx_id": f"T-{order.ref_id}",
        "ref_id": order.ref_id,
        "product_code": order.product_code,
        "product_name": order.product_name,
        "destination": order.destination,
        "price": order.max_price,
        "status": status,
        "sn": "SN-1" if status == "success" else None,
        "message": status,
        "balance": 1_000_000,
        **facts,
    }
    return Transaction.model_validate(facts)


def moves(order: Order) -> list[tuple[str, str, str]]:
    """The order's timeline as (from, to, source)."""
    return list(OrderEvent.objects.filter(order=order).values_list("from_status", "to_status", "source"))


def entries_of(order: Order) -> list[tuple[str, int]]:
    """The order's entries in the books as (kind, rupiah), oldest first."""
    return list(Entry.objects.filter(ref_id=order.ref_id).order_by("pk").values_list("kind", "amount"))


def make_biller(**facts: Any) -> Product:
    """A listed, available "PDAM Gresik" with an admin fee of Rp2.500, unless given otherwise."""
    category, _ = Category.objects.get_or_create(
        code=facts.pop("category", "pdam"), defaults={"name": "PDAM", "type": "postpaid"}
    )
    brand, _ = Brand.objects.get_or_create(
        category=category, code=facts.pop("brand", "pdam"), defaults={"name": "PDAM"}
    )
    name = facts.get("name", "PDAM Gresik")
    facts = {
        "code": f"B{uuid.uuid4().hex[:8].upper()}",
        "name": name,
        "type": "postpaid",
        "price": 0,
        "admin_fee": 2_500,
        "availability": "active",
        **facts,
    }
    return _listed(Product(category=category, brand=brand, **facts))


def make_check(answer: str = "bill", **facts: Any) -> BillCheck:
    """A check of a bill of Rp102.500 that is valid for five minutes, unless the facts say otherwise."""
    product = facts.pop("product", None) or make_biller()
    now = timezone.now()
    bill: dict[str, Any] = {
        "customer_name": "SITI AMINAH",
        "period": "Nov 2026",
        "details": [{"period": "Nov 2026", "amount": 100_000, "penalty": 0}],
        "amount": 100_000,
        "admin_fee": 2_500,
        "penalty": 0,
        "total": 102_500,
        "expires_at": now + dt.timedelta(minutes=5),
    }
    facts = {
        "ref_id": new_ref_id(),
        "product_code": product.code,
        "product_name": product.name,
        "destination": "1234567890",
        "answer": answer,
        "answered_at": None if answer == "none" else now,
        "next_poll_at": now if answer == "none" else None,
        **(bill if answer == "bill" else {}),
        **facts,
    }
    months = months_of(facts.get("period", ""), facts.get("details", []))
    return BillCheck.objects.create(product=product, months=months, **facts)


def make_payment(check: BillCheck, status: Status = Status.PENDING, **facts: Any) -> Order:
    """The order that pays `check`, in `status`."""
    facts = {"ref_id": check.ref_id, "kind": "bill", "destination": check.destination, **facts}
    order = make_order(status, product=check.product, max_price=facts.pop("max_price", check.total), **facts)
    check.order = order
    check.save(update_fields=["order"])
    return order
