"""Shifts, and the entries of one, as lists and as files."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy as _

from core.money import rupiah, signed_rupiah
from core.numbers import masked_note, note_as_seen, text_as_seen, without
from core.tables import Table, cell_from, column, row_link
from core.times import moment
from credit.services import name_of
from drawers.models import DrawerEntry, Outcome, Payment, Shift
from drawers.presenting.sales import is_elsewhere, refund_badge, slip_of
from drawers.presenting.shifts import drawer_words, shift_badge
from exports.formats import Fields


class ShiftTable(Table[Shift]):
    """Shifts with their drawer and cashier."""

    caption = _("Shifts, newest first")

    @column(_("State"), phone="1 left")
    def state(self, shift: Shift) -> SafeString:
        return shift_badge(shift)

    @column(_("Cashier"), phone="2 left")
    def cashier(self, shift: Shift) -> SafeString:
        """The cashier of the shift, as a link to it."""
        return row_link(shift.get_absolute_url(), shift.cashier.shown_name)

    @column(_("Drawer"), phone="3 left")
    def drawer(self, shift: Shift) -> str:
        return shift.drawer.name

    @column(_("Opening count"), css="num", phone="none")
    def opening(self, shift: Shift) -> str:
        return rupiah(shift.opening)

    @column(_("Expected cash"), css="num", phone="none")
    def expected(self, shift: Shift) -> str:
        """The expected cash at the end."""
        return rupiah(shift.expected)

    @column(_("Counted"), css="num", phone="2 right")
    def counted(self, shift: Shift) -> SafeString:
        """The closing count; with its label on a phone's card, which has no heading."""
        return format_html('<span class="phone-label">{} </span>{}', gettext("Counted"), rupiah(shift.counted))

    @column(_("From"), css="sub", phone="1 right")
    def began(self, shift: Shift) -> SafeString:
        return moment(shift.opened_at)

    @column(_("To"), css="sub", phone="3 right")
    def ended(self, shift: Shift) -> SafeString:
        return moment(shift.closed_at)


class RefundTable(Table[Payment]):
    """Money for customers, with its order. `names`: number → the name under which the shop has saved it.

    `may_name`: whether the customer of an account is named. `may_give`: whether the person may give money back;
    `shift`: the person's own open shift, from which the cash goes. `token`: for the page's forms.
    """

    caption = _("Money for customers, newest first")

    def __init__(
        self,
        rows: Iterable[Payment],
        *,
        names: Mapping[str, str],
        may_name: bool,
        may_give: bool,
        shift: Shift | None,
        token: str,
    ) -> None:
        super().__init__(rows)
        self.names, self.may_name = names, may_name
        self.may_give, self.shift, self.token = may_give, shift, token

    @staticmethod
    def _is_unpaid(payment: Payment) -> bool:
        return payment.debt is not None and payment.debt.account.balance > 0

    @column(_("State"), phone="1 left")
    def state(self, payment: Payment) -> SafeString:
        """The state of the refund; for a sale on credit, whether it comes off the account."""
        return refund_badge(payment, is_unpaid=self._is_unpaid(payment))

    @column(_("For whom"), phone="2 left")
    def whom(self, payment: Payment) -> SafeString:
        """The customer's name or number, as a link to the order, where the money is given back."""
        order: Any = payment.order  # of a room above
        number = order.product.kind.as_seen(order.destination)
        name = "" if order.number_erased else self.names.get(order.destination, "")
        link = row_link(f"{order.get_absolute_url()}#order-sale", name or number)
        if not name:
            return format_html('<span class="nowrap">{}</span>', link)
        return format_html('{} <div class="sub nowrap">{}</div>', link, number)

    @column(_("Order"), phone="3 wide")
    def order(self, payment: Payment) -> SafeString:
        """The product, the order's end, and the seller."""
        order: Any = payment.order  # of a room above
        seller = payment.seller.shown_name if payment.seller else ""
        words = " · ".join(part for part in (order.product_name, str(order.get_status_display()), seller) if part)
        return format_html('{}<div class="mono sub nowrap">{}</div>', words, payment.ref_id)

    @column(_("How"), phone="4 wide")
    def how(self, payment: Payment) -> str:
        """The way, person and drawer of the refund; before it, the customer's way to pay, or the account."""
        if not payment.given_by:
            words = gettext("paid by: %(method)s") % {"method": payment.method_words}
            return self._on_credit(payment) or format_html('<span class="sub nowrap">{}</span>', words)
        drawer = drawer_words(payment.refund_entry.shift) if payment.refund_entry else ""
        note = text_as_seen(note_as_seen(payment.given_note), payment.order.destination)
        parts = [payment.given_words, drawer, payment.given_by.shown_name, note]
        when = moment(payment.given_at)
        return format_html('{}<div class="sub">{}</div>', " · ".join(filter(None, map(str, parts))), when)

    def _on_credit(self, payment: Payment) -> str:
        if payment.debt is None:
            return ""
        name = name_of(payment.debt.account) if self.may_name else ""
        words = " · ".join(filter(None, [payment.method_words, name]))
        paid = gettext("comes off the account") if self._is_unpaid(payment) else gettext("paid")
        return format_html('<span data-on-credit>{}</span><div class="sub">{}</div>', words, paid)

    @column(_("Amount"), css="num", phone="2 right")
    def amount(self, payment: Payment) -> str:
        """Rupiah that the customer paid or owes for the order."""
        return rupiah(payment.to_give_back)

    @column(_("Since"), css="sub", phone="1 right")
    def time(self, payment: Payment) -> SafeString:
        return moment(payment.ended_at)

    @column(_("Actions"), css="untitled actions-cell", phone="5 wide")
    def act(self, payment: Payment) -> SafeString | str:
        """The button that gives cash back from the own drawer; for any other way a link to the order."""
        if not (payment.is_owed and self.may_give):
            return ""
        is_cash = payment.is_cash and self.shift is not None
        facts = {"payment": payment, "shift": self.shift if is_cash else None, "token": self.token}
        return cell_from("drawers/refund_act.html", **facts)


class SaleTable(Table[Payment]):
    """The sales of one shift."""

    caption = _("Sales, newest first")
    export = {
        "kind": lambda _payment: "sale",
        "id": lambda payment: payment.pk,
        "at": lambda payment: payment.at,
        "shift": lambda payment: payment.sold_in_id,
        "method": lambda payment: payment.method,
        "amount": lambda payment: payment.amount,
        "ref_id": lambda payment: "" if is_elsewhere(payment) else payment.ref_id,
        "cash_given": lambda payment: payment.cash_given,
        "reference": lambda payment: _slip_in_file(payment),  # noqa: PLW0108 - it stands below
        "note": lambda payment: _note(payment),  # noqa: PLW0108 - it stands below
        "person": lambda payment: payment.seller.username if payment.seller else "",
        "undoes": lambda _payment: None,
        "sold_in_shift": lambda payment: payment.agreed_in_id,
    }

    @column(_("When"), css="sub", phone="1 right")
    def time(self, payment: Payment) -> SafeString:
        return moment(payment.at)

    @column(_("Order"), phone="1 left")
    def order(self, payment: Payment) -> SafeString:
        """The product and the number, as the viewer may see it, as a link to the order; below it the name."""
        if is_elsewhere(payment):
            return format_html('<span class="sub" data-elsewhere>{}</span>', gettext("Sold in another branch"))
        order: Any = payment.order  # of a room above
        link = row_link(order.get_absolute_url(), order.product_name)
        number = order.product.kind.as_seen(order.destination)
        return format_html(
            '{}<div class="nowrap" data-number>{}</div><div class="mono sub nowrap">{}</div>',
            link,
            number,
            payment.ref_id,
        )

    @column(_("Method"), phone="2 left")
    def method(self, payment: Payment) -> str:
        return payment.method_words

    @column(_("Note"), phone="3 wide")
    def note(self, payment: Payment) -> SafeString:
        """The debtor, the slip, the given cash, the outcome of the payment, and an earlier shift that sold it."""
        parts = [] if is_elsewhere(payment) else [_note(payment), slip_of(payment)]
        if payment.is_owed or payment.is_given:
            parts.append(str(Outcome(payment.outcome).label))
        if payment.agreed_in_id:
            parts.append(gettext("sold in shift %(shift)s") % {"shift": payment.agreed_in_id})
        if payment.cash_given is not None:
            parts.append(gettext("given %(amount)s") % {"amount": rupiah(payment.cash_given)})
        return format_html('<span class="sub">{}</span>', " · ".join(part for part in parts if part))

    @column(_("Amount"), css="num", phone="2 right")
    def amount(self, payment: Payment) -> str:
        """Rupiah."""
        return rupiah(payment.amount)


class EntryTable(Table[DrawerEntry]):
    """The entries of one shift other than sales, with their people. The file has the columns of the sales."""

    caption = _("Entries, newest first")
    export = {
        "kind": lambda entry: entry.kind,
        "id": lambda entry: entry.pk,
        "at": lambda entry: entry.at,
        "shift": lambda entry: entry.shift_id,
        "method": lambda entry: entry.method,
        "amount": lambda entry: entry.amount,
        "ref_id": lambda entry: _ref_id(entry),  # noqa: PLW0108 - it stands below
        "cash_given": lambda _entry: None,
        "reference": lambda _entry: "",
        "note": lambda entry: masked_note(_reason(entry)),
        "person": lambda entry: entry.person.username,
        "undoes": lambda entry: entry.undoes_id,
        "sold_in_shift": lambda entry: _sold_in_another(entry),  # noqa: PLW0108 - it stands below
    }

    @column(_("When"), css="sub", phone="1 right")
    def time(self, entry: DrawerEntry) -> SafeString:
        return moment(entry.at)

    @column(_("What"), phone="1 left")
    def what(self, entry: DrawerEntry) -> SafeString:
        """Its kind, with a link to its order if it has one; an undone entry is struck through."""
        words: object = DrawerEntry.Kind(entry.kind).label
        if ref_id := _ref_id(entry):
            words = row_link(reverse("order_detail", args=[ref_id]), words)
        if entry.undoes_id:
            return format_html('{} <span class="sub" data-undoes>{}</span>', words, gettext("undone"))
        if hasattr(entry, "undone_by"):
            return format_html("<s>{}</s>", words)
        if entry.credit_entry and hasattr(entry.credit_entry, "undone_by"):
            return format_html(
                '{} <span class="sub" data-undone-later>{}</span>', words, gettext("undone after this shift")
            )
        return format_html("{}", words)

    @column(_("Method"), phone="2 left")
    def method(self, entry: DrawerEntry) -> str:
        return entry.method_words

    @column(_("Note"), phone="3 wide")
    def note(self, entry: DrawerEntry) -> SafeString:
        """The reason, the order, and the other shift that sold it."""
        parts = [_reason(entry), _ref_id(entry)]
        if sold_in := _sold_in_another(entry):
            parts.append(gettext("sold in shift %(shift)s") % {"shift": sold_in})
        return format_html('<span class="sub">{}</span>', " · ".join(part for part in parts if part))

    @column(_("Who"), css="sub", phone="none")
    def who(self, entry: DrawerEntry) -> str:
        return entry.person.shown_name

    @column(_("Amount"), css="num", phone="2 right")
    def amount(self, entry: DrawerEntry) -> str:
        """Rupiah, with the sign."""
        return signed_rupiah(entry.amount)


def shift_fields() -> Fields:
    """The columns of a shift's file, which has its sales and its other entries."""
    return {name: partial(_cell, name) for name in SaleTable.export}


def _cell(name: str, row: Payment | DrawerEntry) -> object:
    columns = SaleTable.export if isinstance(row, Payment) else EntryTable.export
    return columns[name](row)


def _slip_in_file(payment: Payment) -> str:
    """The slip's number; if people wrote the customer's number there, it is masked for everybody."""
    order: Any = payment.order  # of a room above
    return "" if is_elsewhere(payment) else without(payment.reference, [order.destination])


def _note(payment: Payment) -> str:
    """The debtor; in a file, for a sale of an unseen branch, a note about that."""
    if is_elsewhere(payment):
        return gettext("Sold in another branch")
    return name_of(payment.debt.account) if payment.debt else ""


def _gives_back_elsewhere(entry: DrawerEntry) -> bool:
    """Whether it gives back a sale of a branch that the reader does not see."""
    return hasattr(entry, "payment") and is_elsewhere(entry.payment)


def _ref_id(entry: DrawerEntry) -> str:
    """The order of an entry; empty for an order of a branch that the reader does not see."""
    return "" if _gives_back_elsewhere(entry) else entry.ref_id


def _reason(entry: DrawerEntry) -> str:
    """The reason for an entry, as the viewer may see it; for an order of an unseen branch only a note about that."""
    return gettext("Sold in another branch") if _gives_back_elsewhere(entry) else note_as_seen(entry.reason)


def _sold_in_another(entry: DrawerEntry) -> int | None:
    """The other shift that sold the order that this shift gives back; None if there is none."""
    sold_in: int | None = entry.payment.sold_in_id if hasattr(entry, "payment") else None
    return None if sold_in == entry.shift_id else sold_in
