"""Checks the rows of a table as a whole: the meaning of each, and the first reason why it cannot be sold."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from batches.models import ASKING, Batch, BatchRow
from batches.services.billing import apply_answers
from batches.services.reading import SHORTENED, doubt_about, has_lost_digits, is_unclear_amount, split_name
from batches.states import BatchState, Fault, RowState
from catalogue.destinations import InvalidDestination
from catalogue.mending import DigitsLost, mend_number
from catalogue.models import Product, ProductType
from catalogue.operators import is_brand_of_another, operator_of
from catalogue.services.amounts import MONEY, Amount, denominations_of, ends_with
from catalogue.services.index import Index, current_index
from catalogue.services.searching import search_index
from catalogue.services.words import chunks_of, code_in, fold, has_amount_apart, joined, without_thousands
from core import clock
from core.bulk import update_rows
from core.notation import at_home
from core.rights import Right
from counter.services.choosing import meant_products
from gateway.line import ring_when_committed
from purchases.errors import NotForSale
from purchases.models import Order
from purchases.services.placing import refuse_if_not_for_sale, repeats_lately
from purchases.states import UNFULFILLED

# At most this many codes are named for an unclear product.
_MOST_CODES = 4
# The fewest digits of a number: fewer digits alone are a denomination.
_LEAST_DIGITS = 4
_CHECKED = ("kind", "product", "destination", "bill_check", "max_price", "selling_price", "state", "fault", "said")
_KEYS = {"product": "product_id", "bill_check": "bill_check_id"}
#: Rows that a check reads again; a person has left out all others, or their end is known.
OPEN_STATES = (RowState.READY, RowState.WRONG)


@dataclass(frozen=True)
class _Meaning:
    """The product's key and the number to be cleaned by its kind; or what is wrong, and more about that."""

    key: int | None = None
    number: str = ""
    fault: Fault | None = None
    keys: tuple[int, ...] = ()
    about: str = ""


class _Reader:
    """Reads the rows of one table. Words that many rows have are looked up once."""

    def __init__(self) -> None:
        self.index: Index = current_index()
        self._known: dict[tuple[str, ...], _Meaning] = {}
        gone = Product.objects.filter(is_listed=False).order_by()
        self._gone = {code_in(code) for code in gone.values_list("code", flat=True)}

    def meaning(self, number: str, what: str) -> _Meaning:
        """The meaning of the two cells of a row."""
        if is_none := _no_number(number, what):
            return is_none
        try:
            number = mend_number(number, None)[0]
        except DigitsLost:
            return _Meaning(fault=Fault.DIGITS_LOST, about=number)
        except InvalidDestination:
            if SHORTENED.fullmatch(number) or at_home(number).startswith("08"):
                return _Meaning(fault=Fault.WRONG_NUMBER, about=number)
        if not (number and what):
            return _Meaning(fault=Fault.NO_PRODUCT if number else Fault.NO_NUMBER)
        if is_unclear_amount(what):
            return _Meaning(fault=Fault.UNCLEAR_AMOUNT, about=what)
        return self._of_product(number, what)

    def _of_product(self, number: str, what: str) -> _Meaning:
        if (place := self.index.of_code(what)) is not None:
            return _Meaning(self.index.keys[place], number)
        # Its words may mean another product that the catalogue still has.
        if code_in(what) in self._gone and not has_amount_apart(what):
            return _Meaning(fault=Fault.NOT_FOR_SALE, about=what)
        operator = operator_of(number) if number.startswith("08") else None
        if operator is None:
            return self._look_up(number, what)
        # The same words mean the same product for all numbers of one operator and one length.
        same = (what.casefold(), operator.name, str(len(number)))
        if same not in self._known:
            self._known[same] = self._look_up(number, what)
        before = self._known[same]
        return _Meaning(before.key, number, before.fault, before.keys, before.about)

    def _look_up(self, number: str, what: str) -> _Meaning:
        typed, matches = meant_products(self.index, f"{number} {what}")
        if not typed.bare:
            return _Meaning(fault=Fault.WRONG_NUMBER if typed.number else Fault.NO_NUMBER)
        if _digits(typed.number) != _digits(number):
            return _Meaning(fault=Fault.WRONG_NUMBER, about=number)  # no digit of the product becomes one of the number
        is_certain = len(matches.keys) == 1 and not self._is_bare_amount_of(matches.keys[0], what)
        if is_certain and not matches.lacking:
            return _Meaning(matches.keys[0], typed.number)
        if matches.keys and not matches.lacking:
            return _Meaning(fault=Fault.UNCLEAR_PRODUCT, keys=tuple(matches.alike or matches.keys)[:_MOST_CODES])
        others = search_index(self.index, what) if typed.is_phone and any(map(str.isalpha, what)) else None
        if others and others.is_exact and not others.lacking:
            return _Meaning(others.keys[0], typed.number)  # by its brand it belongs to another operator
        is_name = self._has_name_behind(number, what)
        return _Meaning(fault=Fault.NAME_BEHIND if is_name else Fault.UNKNOWN_PRODUCT, about=what)

    def _is_bare_amount_of(self, key: int, what: str) -> bool:
        """Whether the text is an amount, with no word but the operator's, of a product that is not sold in rupiah.

        "tsel 25" is credit of Rp25.000: without it, 25 GB are not what the row asks for.
        """
        product = self.index.products[self.index.keys.index(key)]
        main = product.sold_in.main
        if not product.kind.is_phone or main is None or main.unit == MONEY:
            return False
        called = {joined(product.brand_name)}.union(*(brand.called for brand in product.brand_called))
        said = [word if word in called else re.sub(r"\d", "", word) for word in map(joined, chunks_of(what))]
        return called.issuperset(filter(None, said)) or "".join(said) in called

    def _has_name_behind(self, number: str, what: str) -> bool:
        """Whether the text is one or more possible products, followed by words that may be a name."""
        product, _name = split_name(what, self.index)
        meant = self._of_product(number, product) if product else _Meaning()
        return meant.key is not None or bool(meant.keys)


def _no_number(number: str, what: str) -> _Meaning | None:
    """The fault of a cell that is not, or not certainly, a number; None for all others."""
    if not what and len(_digits(number)) < _LEAST_DIGITS:
        return _Meaning(fault=Fault.NO_NUMBER, about=number)
    if number.lstrip().startswith(("-", "−", "–")):
        return _Meaning(fault=Fault.WRONG_NUMBER, about=number)
    if has_lost_digits(number):
        return _Meaning(fault=Fault.DIGITS_LOST, about=number)
    doubt = doubt_about(number)
    if doubt and (not what or at_home(number).startswith("08")):
        return _Meaning(fault=Fault.UNCLEAR_NUMBER, about=doubt)
    return None


def _digits(text: str) -> str:
    return "".join(sign for sign in text if sign.isdecimal())


def check_rows(rows: Sequence[BatchRow], batch: Batch) -> None:
    """Set on each row of the batch its meaning and its fault. Nothing is stored.

    The later of two equal rows is "twice", even if a person has left the earlier one out: nobody has said that the
    later one replaces it.
    """
    reader = _Reader()
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


def _apply(row: BatchRow, meaning: _Meaning, products: dict[int, Product]) -> None:
    row.product, row.destination, row.max_price, row.selling_price = None, "", None, None
    row.kind = Order.Kind.PURCHASE
    product = products.get(meaning.key) if meaning.key else None
    if product and _may_be_another(row.what, product):
        meaning, product = _Meaning(fault=Fault.UNCLEAR_PRODUCT, about=product.code), None
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


def _may_be_another(what: str, product: Product) -> bool:
    """Whether the text is the product's code only in part, and may mean another product.

    "AXD1.5" is not AXD15, "pln-25" not PLN250, and "tsel-1000" may be rupiah beside TSEL1000, a code of Rp1.000.000.
    """
    words = {what, *what.split()}
    code, main = product.code, denominations_of(chunks_of(product.name), product.sells_for).main
    if any(_begins_with_another(word, code, main) for word in words):
        return True
    like = [word for word in words if joined(word) == joined(code) and fold(word) != fold(code)]
    if not like:
        return False
    is_rupiah = main is not None and main.unit == MONEY and joined(code)[-1:].isdecimal()
    is_other_amount = is_rupiah and not ends_with(joined(code), main)
    own = code_in(without_thousands(code))
    return is_other_amount or any(code_in(without_thousands(word)) != own for word in like)


def _begins_with_another(word: str, code: str, main: Amount | None) -> bool:
    """Whether the code only begins with this word, whose number is not the product's amount: "pln-25" of PLN250."""
    begun = joined(word)
    is_begun = begun != joined(code) and joined(code).startswith(begun)
    return is_begun and begun[-1:].isdecimal() and not begun.isdecimal() and not ends_with(word, main)


def _certain_number(row: BatchRow, meaning: _Meaning, product: Product) -> str:
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
