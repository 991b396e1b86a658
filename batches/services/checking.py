"""Checks the rows of a table as a whole: what each sells, and the first reason why it cannot be sold."""

from collections.abc import Iterable, Sequence
from typing import Any

from batches.models import ASKING, Batch, BatchRow
from batches.services.billing import apply_answers
from batches.services.meaning import Meaning, Reader
from batches.services.reading import doubt_about
from batches.states import BatchState, Fault, RowState
from catalogue.destinations import InvalidDestination
from catalogue.mending import DigitsLost, mend_number
from catalogue.models import Product, ProductType
from catalogue.operators import is_brand_of_another
from core import clock
from core.bulk import update_rows
from core.rights import Right
from gateway.line import ring_when_committed
from purchases.errors import NotForSale
from purchases.models import Order
from purchases.services.placing import refuse_if_not_for_sale, repeats_lately
from purchases.states import UNFULFILLED

_CHECKED = ("kind", "product", "destination", "bill_check", "max_price", "selling_price", "state", "fault", "said")
_KEYS = {"product": "product_id", "bill_check": "bill_check_id"}
#: Rows that a check reads again; a person has left out all others, or their end is known.
OPEN_STATES = (RowState.READY, RowState.WRONG)


def check_rows(rows: Sequence[BatchRow], batch: Batch) -> None:
    """Set on each row of the batch its meaning and its fault. Nothing is stored.

    The later of two equal rows is "twice", even if a person has left the earlier one out: nobody has said that the
    later one replaces it.
    """
    reader = Reader()
    open_rows = [row for row in rows if row.state in OPEN_STATES]
    meanings = {row.line: reader.meaning(row.typed, row.what) for row in open_rows}
    wanted = {meaning.key for meaning in meanings.values() if meaning.key}
    named = {key for meaning in meanings.values() for key in meaning.keys}
    products = Product.objects.select_related("brand", "category").in_bulk([*(wanted | named)])
    for row in open_rows:
        _apply(row, meanings[row.line], products)
    bills = [row for row in open_rows if row.fault == Fault.ASKING]
    if bills and not may_have_bills(batch):
        for row in bills:
            row.mark_wrong(Fault.BILL, row.product.name if row.product else "")
    else:
        apply_answers(bills)
    _mark_repeats(
        [row for row in rows if row.state in {RowState.READY, RowState.LEFT_OUT} or row.fault == Fault.ASKING]
    )


def may_have_bills(batch: Batch) -> bool:
    """Whether the batch's person may check bills; a command, which names nobody, may."""
    return batch.created_by is None or batch.created_by.has_perm(Right.CHECK_BILLS)


def ask_when_due(batch: Batch) -> None:
    """Make a locked batch that nobody has released due while it has bills to be checked. Nothing is stored."""
    if batch.state == BatchState.CHECKED:
        batch.next_at = clock.now() if batch.rows.filter(ASKING).exists() else None
        ring_when_committed(batch.next_at)


def recheck(batch: Batch) -> None:
    """Check the rows of a locked batch again, by the present catalogue and orders, and store the changes."""
    rows = list(batch.rows.order_by("line").select_related("product"))
    before = {row.pk: _facts(row) for row in rows}
    check_rows(rows, batch)
    update_rows([row for row in rows if _facts(row) != before[row.pk]], _CHECKED)
    ask_when_due(batch)
    batch.save(update_fields=["next_at"])


def _facts(row: BatchRow) -> tuple[Any, ...]:
    return tuple(getattr(row, _KEYS.get(name, name)) for name in _CHECKED)


def _apply(row: BatchRow, meaning: Meaning, products: dict[int, Product]) -> None:
    row.product, row.destination, row.max_price, row.selling_price = None, "", None, None
    row.kind = Order.Kind.PURCHASE
    product = products.get(meaning.key) if meaning.key else None
    if product is None:
        codes = ", ".join(products[key].code for key in meaning.keys if key in products)
        row.mark_wrong(meaning.fault or Fault.UNKNOWN_PRODUCT, codes or meaning.about)
        return
    row.product = product
    try:
        row.destination = _certain_number(row, meaning, product)
    except InvalidDestination as refusal:
        doubt = doubt_about(row.typed)
        fault = Fault.UNCLEAR_NUMBER if doubt else Fault.WRONG_NUMBER
        row.mark_wrong(Fault.DIGITS_LOST if isinstance(refusal, DigitsLost) else fault, doubt)
        return
    if product.type == ProductType.POSTPAID:
        row.kind = Order.Kind.BILL
        row.mark_wrong(Fault.ASKING)
        return
    operator = product.kind.operator_of(row.destination)
    if operator and is_brand_of_another(operator, product.brand.name):
        row.mark_wrong(Fault.OTHER_OPERATOR, f"{product.code} – {operator.name}")
        return
    try:
        refuse_if_not_for_sale(product)
    except NotForSale:
        row.mark_wrong(Fault.NOT_FOR_SALE, product.code)
        return
    row.max_price, row.selling_price = product.price, product.sells_for
    if product.sells_for < product.price:
        row.mark_wrong(Fault.BELOW_COST, product.code)
        return
    row.state, row.fault, row.said = RowState.READY, "", ""


def _certain_number(row: BatchRow, meaning: Meaning, product: Product) -> str:
    """The number as it is sent. Raises `InvalidDestination`, also if the written number may contain an amount."""
    # A player's zone also follows a gap.
    if not product.kind.needs_product and doubt_about(row.typed):
        raise InvalidDestination(product.kind.refusal)
    return mend_number(meaning.number, product.kind)[0]


def _mark_repeats(rows: Sequence[BatchRow]) -> None:
    """Mark the rows that are twice in the table, that are open or bought today, or whose reference was sold before."""
    destinations = {row.destination for row in rows}
    orders: dict[tuple[str, str], Order] = {}
    for order in repeats_lately(destinations):
        # An open order counts before a done one.
        pair = order.product_code, order.destination
        if pair not in orders or not order.is_final:
            orders[pair] = order
    done = _done_before(rows)
    seen: set[tuple[int | None, str]] = set()
    for row in rows:
        pair = (row.product.code if row.product else "", row.destination)
        same = row.product_id, row.destination
        if row.state == RowState.LEFT_OUT:
            seen.add(same)
            continue
        before = orders.get(pair)
        if same in seen and not (row.is_twice_meant and not row.is_bill):
            row.mark_wrong(Fault.TWICE)
        elif before and not before.is_final:
            row.mark_wrong(Fault.OPEN, before.ref_id)
        elif row.is_repeat_meant:
            pass
        elif ref_id := done.get((row.reference, *same)) if row.reference else None:
            row.mark_wrong(Fault.DONE, ref_id)
        elif before and not row.is_bill:  # a bill's check says whether it is paid
            row.mark_wrong(Fault.TODAY, before.ref_id)
        seen.add(same)


def _done_before(rows: Iterable[BatchRow]) -> dict[tuple[str, int | None, str], str]:
    """The ref_ids of the orders of rows of earlier batches that had the same reference, product and number."""
    references = {row.reference for row in rows if row.reference}
    if not references:
        return {}
    sold = BatchRow.objects.filter(reference__in=references, state=RowState.PLACED)
    sold = sold.exclude(order__status__in=sorted(UNFULFILLED))
    facts = sold.values_list("reference", "product", "destination", "order__ref_id")
    return {(reference, product, destination): ref_id for reference, product, destination, ref_id in facts}
