"""After a restore: take in the orders that were sent since, and that only the journal of what is sent knows.

Such an order comes back as "outcome not known yet", with its payment and its reservation, and is polled like every
other one. So its outcome, price and entries follow by the same rules, and nothing here sends anything that spends.
"""

import datetime as dt
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.db import transaction

from approvals import services as approvals
from audit.services import record
from catalogue.models import Product
from core import clock
from drawers import services as drawers
from gateway.line import ring_when_committed
from gateway.services import next_number, upstream_account
from purchases.errors import BalanceShort
from purchases.events import ORDER_TAKEN_IN
from purchases.models import Lack, LostOrder, Order, OrderEvent
from purchases.services.decisions import Decision, apply_verdict
from purchases.services.moving import store_sent
from purchases.services.sending import doubt
from purchases.services.sent import read_lines
from purchases.states import ActionReason, Status
from staff.models import User

_AT_ONCE = 1000
_SUBMIT = OrderEvent.Source.SUBMIT


def find_lost(folder: Path) -> int:
    """Note each order of the journal in `folder` that this database does not know, once; return how many these are.

    Call it before the first call to the upstream: then every sending in the journal is before the next number.
    """
    lines = read_lines(folder, account=upstream_account().fingerprint)
    number, now = next_number(), clock.now()
    unknown = 0
    for ref_ids in _in_parts(sorted(lines, key=lambda ref_id: lines[ref_id]["created_at"])):
        known = dict(Order.objects.filter(ref_id__in=ref_ids).values_list("ref_id", "attempt"))
        lost = [
            LostOrder(ref_id=ref_id, line=lines[ref_id], sent_no=number, found_at=now)
            for ref_id in ref_ids
            if ref_id not in known
        ]
        LostOrder.objects.bulk_create(lost, ignore_conflicts=True)
        unknown += len(lost)
        for ref_id, attempt in known.items():
            if lines[ref_id]["attempt"] > attempt:
                _doubt_sent_again(ref_id, lines[ref_id])
    return unknown


def end_approval(lost: LostOrder) -> None:
    """End the open approval that would place the order again. Call it before `take_in`, in the same transaction.

    Lock order: the approval, the bill's check, the order.
    """
    if approval := lost.line["approval"]:
        approvals.note_executed(lost.ref_id, sha256=approval["sha256"], by=approval["by"], at=_at(approval))


def take_in(lost: LostOrder) -> Order | None:
    """Take the order in as sent, with an outcome not known yet; the second call returns the same order.

    None while it waits: for its product, or for the end of another order for the same product and number. The caller
    has called `end_approval`.
    """
    with transaction.atomic():
        current = LostOrder.objects.select_for_update().get(pk=lost.pk)
        if current.order:
            return current.order
        line = current.line
        order = Order.objects.filter(ref_id=current.ref_id).first()
        if order is not None:
            doubt(order.pk)  # the same approval was executed here again, or the same row of a batch placed
        else:
            product = Product.objects.filter(code=line["product_code"]).first()
            current.lacks = _waits_for(line, product)
            order = None if current.lacks or product is None else _store(current, product)
        current.order = order
        current.save(update_fields=["order", "lacks"])
        return order


def _waits_for(line: Mapping[str, Any], product: Product | None) -> list[str]:
    if product is None:
        return [Lack.PRODUCT]
    same = Order.objects.open().filter(product_code=line["product_code"], destination=line["destination"])
    return [Lack.TWIN] if same.exists() else []


def _store(lost: LostOrder, product: Product) -> Order:
    line = lost.line
    seller = User.objects.filter(pk=line["seller"], username=line["seller_name"] or "").first()
    sent_at, placed_at = (dt.datetime.fromisoformat(line[name]) for name in ("time", "created_at"))
    payment, lacks = drawers.take_in_payment(
        line["ref_id"], destination=line["destination"], seller=seller, at=placed_at, sold=line["payment"]
    )
    if line["seller"] and seller is None:
        lacks.append(Lack.SELLER)
    key = line["idempotency_key"]
    if Order.objects.filter(idempotency_key=key).exists():
        key = f"lost-{line['ref_id']}"  # the same form was sent again before this was known
    order = Order(
        **{name: line[name] for name in ("ref_id", "kind", "product_code", "product_name", "destination")},
        **{name: line[name] for name in ("max_price", "selling_price", "fee", "attempt")},
        product=product,
        payment=payment,
        idempotency_key=key,
        placed_by=seller,
        created_at=placed_at,
        sent_at=sent_at,
        status=Status.UNKNOWN,
        sent_no=lost.sent_no,
        next_poll_at=clock.now(),
    )
    store_sent(order, facts={"code": "taken_in"})
    ring_when_committed(order.next_poll_at)
    lost.lacks = lacks
    record(ORDER_TAKEN_IN, subject=order.ref_id, facts={"max_price": order.max_price, "lacks": lacks})
    return order


def _doubt_sent_again(ref_id: str, line: Mapping[str, Any]) -> None:
    """An order that needed action at the restored moment and was sent again since: queue it, so that it is doubted.

    It stays as it is if its cost was newly confirmed, or is more than available here: before a person decides about
    it, the upstream is polled anyway (`poll_before_deciding`).
    """
    order = Order.objects.filter(ref_id=ref_id, status=Status.NEEDS_ACTION, max_price=line["max_price"]).first()
    if order is None or order.action_reason == ActionReason.NEVER_ARRIVED:
        return
    try:
        apply_verdict(order.pk, Decision(status=Status.QUEUED, source=_SUBMIT, facts={"code": "restored"}))
    except BalanceShort:
        return


def _at(approval: Mapping[str, Any]) -> dt.datetime:
    return dt.datetime.fromisoformat(approval["at"])


def _in_parts(ref_ids: list[str]) -> list[list[str]]:
    return [ref_ids[first : first + _AT_ONCE] for first in range(0, len(ref_ids), _AT_ONCE)]
