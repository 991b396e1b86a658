"""Batches, and the rows of one, as lists."""

import re
from collections.abc import Iterable
from operator import attrgetter
from typing import Any, ClassVar

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy as _, pgettext

from batches.models import Batch, BatchRow
from batches.presenting import reason_of, state_badge, why_unfulfilled
from batches.states import FOR_A_PERSON, BatchState, Fault, RowState
from core.money import rupiah
from core.numbers import masked, masked_note, note_as_seen, still_seen, text_as_seen, without
from core.tables import Table, cell_from, column, row_link, shortened
from core.times import moment
from purchases.presenting import serial_number
from purchases.states import Status
from purchases.templatetags.orders import status_badge


class BatchTable(Table[Batch]):
    """Batches, read with the people, `count` of their rows, and whether orders of them are open (`is_under_way`)."""

    caption = _("Batches, newest first")

    @column(_("State"), phone="1 left")
    def state(self, batch: Batch) -> SafeString:
        return state_badge(batch, is_under_way=batch.is_under_way)  # type: ignore[attr-defined] # annotated

    @column(_("Batch"), phone="2 left", stays=True)
    def name(self, batch: Batch) -> SafeString:
        name = batch.name or gettext("Pasted rows")
        return row_link(batch.get_absolute_url(), f"{batch.pk} · {name}")

    @column(_("Rows"), css="num", phone="2 right")
    def rows_in_all(self, batch: Batch) -> int:
        return int(batch.count)  # type: ignore[attr-defined] # annotated

    @column(_("Checked by"), phone="3 wide")
    def person(self, batch: Batch) -> str:
        return batch.created_by.shown_name if batch.created_by else pgettext("batch", "Command")

    @column(_("Checked"), phone="1 right")
    def time(self, batch: Batch) -> SafeString:
        return moment(batch.created_at)


# If a row waits for its biller or for a person, its state says what it waits for.
_SAID_AS_STATE = frozenset({Fault.ASKING, *FOR_A_PERSON})


def _in_dashes(number: str) -> str:
    return re.sub(r"[\s.\-]+", "-", number.strip())


def _of_bill(row: BatchRow, fact: str) -> str:
    return still_seen(getattr(row.bill_check, fact)) if row.bill_check else ""


def _number(row: BatchRow) -> str:
    """The number as it is sent: the order's, which is masked for an erased customer, else the row's."""
    return row.order.destination if row.order else row.destination


def _written(row: BatchRow, fact: str) -> str:
    """The text that a person wrote; "" for an erased customer, even if the order was placed during the erasure."""
    return "" if row.order and row.order.number_erased else str(getattr(row, fact))


def _reference(row: BatchRow) -> str:
    """The shop's or the customer's own reference, without the number of an erased customer."""
    return without(row.reference, [_number(row)]) if row.order and row.order.number_erased else row.reference


def _status(row: BatchRow) -> str:
    return row.order.status if row.order else row.state


class BatchRowTable(Table[BatchRow]):
    """Rows, read with `for_table()`. `may_mend`: each leads to the form that corrects it.

    `ticks`: the id of the form to which the ticks of bills belong.
    """

    caption = _("Rows, in the order of the table")
    # Without `export_words`: a batch's file can be checked again as a table, by the names in its heading.
    export: ClassVar[dict[str, Any]] = {
        "row": attrgetter("line"),
        "number": lambda row: masked(_number(row) or row.typed),
        "product_code": lambda row: row.product.code if row.product else "",
        "product": lambda row: row.product.name if row.product else masked_note(row.what),
        "name": lambda row: masked_note(_written(row, "name")),
        "note": lambda row: masked_note(_written(row, "note")),
        "reference": lambda row: masked_note(_reference(row)),
        "customer_name": lambda row: _of_bill(row, "customer_name"),
        "period": lambda row: _of_bill(row, "period"),
        "total": lambda row: row.max_price if row.is_bill and row.bill_check else "",
        "fee": lambda row: row.fee if row.is_bill and row.bill_check else "",
        "price": lambda row: "" if row.selling_price is None else row.selling_price,
        "status": _status,
        "reason": lambda row: reason_of(row) if row.holds_no_number else masked_note(reason_of(row)),
        "sn": lambda row: without(still_seen(row.order.sn), [row.destination]) if row.order else "",
        "ref_id": lambda row: row.order.ref_id if row.order else "",
        "ended": lambda row: row.order.final_at or "" if row.order else "",
    }
    export_whole: ClassVar = export | {
        "number": lambda row: _number(row) or row.typed,
        "product": lambda row: row.product.name if row.product else row.what,
        "name": lambda row: _written(row, "name"),
        "note": lambda row: _written(row, "note"),
        "reference": _reference,
        "reason": reason_of,
        "sn": lambda row: row.order.sn if row.order else "",
    }

    def __init__(self, rows: Iterable[BatchRow], *, may_mend: bool = False, ticks: str = "", columns: str = "") -> None:
        super().__init__(rows, columns=columns)
        self.may_mend, self.ticks = may_mend, ticks

    @column(_("Row"), css="num", phone="1 right", fields=("row",))
    def line(self, row: BatchRow) -> int:
        return row.line

    @column(_("State"), phone="1 left", fields=("status", "reason"))
    def state(self, row: BatchRow) -> SafeString:
        """The state, with the tick of a bill before it."""
        state: Fault | RowState = RowState(row.state)
        if row.state == RowState.WRONG and row.fault in _SAID_AS_STATE:
            state = Fault(row.fault)
        elif row.state == RowState.WRONG and row.batch.state != BatchState.CHECKED:
            state = RowState.LEFT_OUT  # nobody corrected it in time
        shown = status_badge(row.order.status) if row.order else state.badge
        shown = format_html('<span data-fault="{}">{}</span>', row.fault, shown)
        if not (self.ticks and row.may_be_ticked):
            return shown
        return cell_from("batches/row_tick.html", row=row, form=self.ticks, shown=shown)

    @column(_("Number"), css="nowrap", phone="2 left", fields=("number",))
    def number(self, row: BatchRow) -> SafeString | str:
        """The number as it is sent, and the number in the table if that differs."""
        if not (row.product and row.destination):
            return note_as_seen(row.typed) or "–"
        number, typed = row.product.kind.as_seen(_number(row)), _written(row, "typed")
        if _in_dashes(typed) in {row.destination, _in_dashes(row.product.kind.shown(row.destination))}:
            return number
        return format_html('{} <span class="sub">{}</span>', number, note_as_seen(typed)) if typed else number

    @column(_("Product"), phone="3 wide", fields=("product_code", "product", "period"), stays=True)
    def product(self, row: BatchRow) -> SafeString | str:
        """The product as a link to its order, or the written text; below it the months of a bill."""
        words = row.product.name if row.product else note_as_seen(row.what) or "–"
        shown = row_link(row.order.get_absolute_url(), words) if row.order else words
        period = _of_bill(row, "period")
        return format_html('{}<div class="sub">{}</div>', shown, period) if period else shown

    @column(_("Name"), phone="4 wide", fields=("name", "customer_name", "note", "reference"))
    def name(self, row: BatchRow) -> SafeString | str:
        """The owner of the number, for a bill by the biller's answer; below it the name in the table."""
        of_bill = _of_bill(row, "customer_name")
        written, said = _written(row, "name"), [_written(row, "note"), _reference(row)]
        said = [written, *said] if of_bill and written.casefold() != of_bill.casefold() else said
        name, more = of_bill or note_as_seen(written), note_as_seen(" · ".join(filter(None, said)))
        return format_html('{}<div class="sub">{}</div>', name, more) if more else name

    @column(_("SN or reason"), phone="5 wide", fields=("sn", "ref_id", "ended"))
    def outcome(self, row: BatchRow) -> SafeString | str:
        """The provider's text, or the reason why it cannot be sold."""
        if row.order and (serial := serial_number(row.order)):
            return format_html('<span class="mono">{}</span>', shortened(serial.main, 26))
        if row.order and row.order.status == Status.NEEDS_ACTION:
            return row.order.get_action_reason_display()
        if row.order and (reason := why_unfulfilled(row.order)):
            return text_as_seen(reason, _number(row))
        if row.fault == Fault.ASKING:  # nobody waits for the answer about a bill that is left out
            return str(Fault.UNANSWERED.label) if row.state == RowState.LEFT_OUT else ""
        if row.fault in _SAID_AS_STATE:
            return row.said
        return row.words if row.holds_no_number else note_as_seen(row.words)

    @column(_("Price"), css="num", phone="2 right", fields=("price", "total", "fee"))
    def price(self, row: BatchRow) -> SafeString | str:
        """Rupiah that the customer pays; below it the shop's fee of a bill."""
        if row.selling_price is None:
            return ""
        if not row.fee:
            return rupiah(row.selling_price)
        words = gettext("with a fee of %(amount)s") % {"amount": rupiah(row.fee)}
        return format_html('{}<div class="sub nowrap">{}</div>', rupiah(row.selling_price), words)

    @column(_("Correct"), css="untitled", phone="6 wide")
    def step(self, row: BatchRow) -> SafeString | str:
        if not self.may_mend or row.state not in {RowState.WRONG, RowState.READY, RowState.LEFT_OUT}:
            return ""
        url = reverse("batch_row", args=[row.batch_id, row.line])
        return cell_from("batches/row_step.html", row=row, url=url)
