"""Shifts, and the entries of one, as lists and as files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from core.money import rupiah, signed_rupiah
from core.numbers import note_as_seen
from core.tables import Table, column, row_link
from core.times import moment
from credit.models import CreditEntry
from credit.services import name_of
from drawers.models import DrawerEntry, Refund, Shift
from drawers.presenting import refund_badge, shift_badge
from purchases.presenting import shown_destination


class ShiftTable(Table[Shift]):
    """Shifts with their drawer and cashier."""

    caption = _("Shifts, newest first")

    @column(_("State"), phone="1 left")
    def state(self, shift: Shift) -> SafeString:
        """Open, or how it was closed."""
        return shift_badge(shift)

    @column(_("Cashier"), phone="2 left")
    def cashier(self, shift: Shift) -> SafeString:
        """Whose it is; leads to the shift."""
        return row_link(shift.get_absolute_url(), shift.cashier.shown_name)

    @column(_("Drawer"), phone="3 left")
    def drawer(self, shift: Shift) -> str:
        """Which one."""
        return shift.drawer.name

    @column(_("Opening count"), css="num", phone="none")
    def opening(self, shift: Shift) -> str:
        """What was in it."""
        return rupiah(shift.opening)

    @column(_("Expected"), css="num", phone="none")
    def expected(self, shift: Shift) -> str:
        """What should be in it at the end."""
        return rupiah(shift.expected)

    @column(_("Counted"), css="num", phone="2 right")
    def counted(self, shift: Shift) -> str:
        """What was in it at the end."""
        return rupiah(shift.counted)

    @column(_("From"), css="sub", phone="1 right")
    def began(self, shift: Shift) -> SafeString:
        """When it was opened."""
        return moment(shift.opened_at)

    @column(_("To"), css="sub", phone="3 right")
    def ended(self, shift: Shift) -> SafeString:
        """When it was closed."""
        return moment(shift.closed_at)


class RefundTable(Table[Refund]):
    """Money for customers, with its order. `names`: number → the name under which the shop has saved it.

    `debts`: ref_id → the sale, of those that are on an account; `may_name`: whether its customer is named.
    """

    caption = _("Money for customers, newest first")

    def __init__(
        self,
        rows: Iterable[Refund],
        *,
        names: Mapping[str, str],
        debts: Mapping[str, CreditEntry],
        may_name: bool,
    ) -> None:
        super().__init__(rows)
        self.names, self.debts, self.may_name = names, debts, may_name

    def _is_unpaid(self, refund: Refund) -> bool:
        debt = self.debts.get(refund.order.ref_id)
        return debt is not None and debt.account.balance > 0

    @column(_("State"), phone="1 left")
    def state(self, refund: Refund) -> SafeString:
        """Whether it was given back; of a sale on credit, whether it comes off the account."""
        return refund_badge(refund, is_unpaid=self._is_unpaid(refund))

    @column(_("For whom"), phone="2 left")
    def whom(self, refund: Refund) -> SafeString:
        """The customer's name or number; leads to the order, where it is given back."""
        number = shown_destination(refund.order)
        name = self.names.get(refund.order.destination, "")
        link = row_link(f"{refund.order.get_absolute_url()}#order-sale", name or number)
        return format_html('{} <div class="sub nowrap">{}</div>', link, number) if name else link

    @column(_("Order"), phone="3 wide")
    def order(self, refund: Refund) -> SafeString:
        """What was bought, how it ended, and who sold it."""
        order = refund.order
        seller = order.placed_by.shown_name if order.placed_by else ""
        words = " · ".join(part for part in (order.product_name, str(order.get_status_display()), seller) if part)
        return format_html('{}<div class="mono sub nowrap">{}</div>', words, order.ref_id)

    @column(_("How"), phone="4 wide")
    def how(self, refund: Refund) -> str:
        """How it was given back, by whom, and out of which drawer; before that, on whose account it is."""
        if not refund.given_by:
            return self._on_credit(refund)
        drawer = refund.entry.shift.drawer.name if refund.entry else ""
        parts = [refund.get_method_display(), drawer, refund.given_by.shown_name, note_as_seen(refund.note)]
        when = moment(refund.given_at)
        return format_html('{}<div class="sub">{}</div>', " · ".join(filter(None, map(str, parts))), when)

    def _on_credit(self, refund: Refund) -> str:
        debt = self.debts.get(refund.order.ref_id)
        if debt is None:
            return ""
        name = name_of(debt.account) if self.may_name else ""
        words = " · ".join(filter(None, [gettext("On credit"), name]))
        paid = gettext("comes off the account") if self._is_unpaid(refund) else gettext("paid")
        return format_html('<span data-on-credit>{}</span><div class="sub">{}</div>', words, paid)

    @column(_("Amount"), css="num", phone="2 right")
    def amount(self, refund: Refund) -> str:
        """Rupiah that the customer paid, or owes for it."""
        return rupiah(refund.amount)

    @column(_("Since"), css="sub", phone="1 right")
    def time(self, refund: Refund) -> SafeString:
        """When the order ended."""
        return moment(refund.since)


class EntryTable(Table[DrawerEntry]):
    """The entries of one shift, with their people."""

    caption = _("Entries, newest first")
    export = {
        "entry": lambda entry: entry.pk,
        "at": lambda entry: entry.at,
        "shift": lambda entry: entry.shift_id,
        "kind": lambda entry: entry.kind,
        "method": lambda entry: entry.method,
        "amount": lambda entry: entry.amount,
        "ref_id": lambda entry: entry.ref_id,
        "cash_given": lambda entry: entry.cash_given,
        "reason": lambda entry: note_as_seen(entry.reason),
        "person": lambda entry: entry.person.username,
        "undoes": lambda entry: entry.undoes_id,
        "replaces": lambda entry: entry.replaces_id,
        "sold_in_shift": lambda entry: entry.sold_in_id,
    }

    @column(_("When"), css="sub", phone="1 right")
    def time(self, entry: DrawerEntry) -> SafeString:
        """When it was entered."""
        return moment(entry.at)

    @column(_("What"), phone="1 left")
    def what(self, entry: DrawerEntry) -> SafeString:
        """Its kind; of an order with a link to it, and what was undone struck through."""
        words: object = entry.get_kind_display()
        if entry.ref_id:
            words = row_link(reverse("order_detail", args=[entry.ref_id]), words)
        if entry.undoes_id:
            return format_html('{} <span class="sub" data-undoes>{}</span>', words, gettext("undone"))
        if hasattr(entry, "undone_by"):
            return format_html("<s>{}</s>", words)
        return format_html("{}", words)

    @column(_("Method"), phone="2 left")
    def method(self, entry: DrawerEntry) -> str:
        """How it was paid."""
        return str(entry.get_method_display())

    @column(_("Note"), phone="3 wide")
    def note(self, entry: DrawerEntry) -> SafeString:
        """Why, of which order, and of which earlier shift."""
        parts = [note_as_seen(entry.reason), entry.ref_id]
        if entry.sold_in_id:
            parts.append(gettext("sold in shift %(shift)s") % {"shift": entry.sold_in_id})
        if entry.cash_given is not None:
            parts.append(gettext("given %(amount)s") % {"amount": rupiah(entry.cash_given)})
        return format_html('<span class="sub">{}</span>', " · ".join(part for part in parts if part))

    @column(_("Who"), css="sub", phone="none")
    def who(self, entry: DrawerEntry) -> str:
        """Who did it."""
        return entry.person.shown_name

    @column(_("Amount"), css="num", phone="2 right")
    def amount(self, entry: DrawerEntry) -> str:
        """Rupiah, with the sign."""
        return signed_rupiah(entry.amount)
