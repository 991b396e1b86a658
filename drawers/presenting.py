"""Shifts, entries and sales in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from core.icons import badge
from core.money import signed_rupiah
from core.together import read_together
from credit.models import CreditEntry
from customers.models import Customer
from drawers.models import DrawerEntry, Shift
from drawers.services import MANAGE, OWED, USE, VIEW, Totals
from purchases.models import Order
from purchases.states import Status

if TYPE_CHECKING:
    from staff.models import User


def shift_badge(shift: Shift) -> SafeString:
    """Open, closed and right, or closed with a difference."""
    if shift.is_open:
        return badge(("lock-open", "queued"), pgettext("shift", "Open"))
    if shift.difference:
        return badge(("alert-triangle", "held"), signed_rupiah(shift.difference))
    return badge(("circle-check", "success"), pgettext("shift", "Closed"))


@dataclass(frozen=True)
class Line:
    """One line of a shift's sum: name, words, rupiah, and how many entries make it."""

    name: str
    words: str
    amount: int
    count: int = 0


def cash_lines(totals: Totals) -> list[Line]:
    """What makes the expected cash, in the order of the formula."""
    cash = "cash"
    return [
        Line("opening", _("Opening count"), totals.opening),
        Line("cash_sales", _("Cash sales"), totals.sales[cash]),
        Line("cash_refunds", _("Cash given back"), totals.refunds[cash]),
        Line("credit_cash", _("Credit paid in cash"), totals.credit[cash]),
        Line("paid_in", _("Paid in"), totals.paid_in),
        Line("paid_out", _("Paid out"), totals.paid_out),
    ]


def other_lines(totals: Totals) -> list[Line]:
    """What customers paid otherwise than in cash, less what they got back so; nothing of it is in the drawer.

    What they paid of their debts so stands by itself.
    """
    words = {"transfer": _("Transfer"), "qris": _("QRIS"), "credit": _("On credit")}
    paid = {"transfer": _("Credit paid by transfer"), "qris": _("Credit paid by QRIS")}
    sold = [
        Line(method, name, totals.sales[method] + totals.refunds[method])
        for method, name in words.items()
        if totals.sales[method] or totals.refunds[method]
    ]
    return sold + [
        Line(f"credit_{method}", name, totals.credit[method]) for method, name in paid.items() if totals.credit[method]
    ]


@dataclass(frozen=True)
class ShownSale:
    """How an order was paid, for its page and its receipt. `entry`: None while it enters by itself into `shift`."""

    order: Order
    entry: DrawerEntry | None
    shift: Shift | None
    refund: DrawerEntry | None
    may_change: bool
    may_give_back: bool
    may_see_shift: bool
    debt: CreditEntry | None = None

    @property
    def debtor(self) -> Customer | None:
        """On whose account it is."""
        return self.debt.account.customer if self.debt else None

    @property
    def is_owed(self) -> bool:
        """Whether the customer has nothing for the money, and nobody gave it back."""
        if self.order.status not in OWED or self.entry is None or self.refund is not None:
            return False
        return not (self.order.status == Status.REVERSED and hasattr(self.order, "given_back"))

    @property
    def is_late(self) -> bool:
        """Whether it ended in another shift than the one that sold it."""
        return self.refund is not None and self.refund.sold_in_id is not None


def shown_sale(order: Order, person: User) -> ShownSale | None:
    """The sale of this order as this person may see it; None for who sees no drawers, and for what is in none."""
    if not (person.has_perm(USE) or person.has_perm(VIEW)):
        return None
    entries, shifts, debts = read_together(
        DrawerEntry.objects.current()
        .filter(ref_id=order.ref_id)
        .select_related("shift__drawer", "shift__cashier", "sold_in", "person"),
        Shift.objects.filter(closed_at=None).select_related("drawer", "cashier"),
        CreditEntry.objects.current()
        .filter(ref_id=order.ref_id, ref_id__gt="", kind=CreditEntry.Kind.SALE)
        .select_related("account__customer"),
    )
    entry = next((one for one in entries if one.kind == DrawerEntry.Kind.SALE), None)
    refund = next((one for one in entries if one.kind == DrawerEntry.Kind.REFUND), None)
    waiting = next((one for one in shifts if one.cashier_id == order.placed_by_id and one.first_no < order.pk), None)
    shift = entry.shift if entry else waiting
    if shift is None:
        return None
    manages, is_own = person.has_perm(MANAGE), shift.cashier_id == person.pk
    payable = [one for one in shifts if manages or one.cashier_id == person.pk]
    return ShownSale(
        order=order,
        entry=entry,
        shift=shift,
        refund=refund,
        may_change=shift.is_open and (is_own or manages) and refund is None,
        may_give_back=bool(payable) and person.has_perm(USE) and person.has_perm("purchases.buy"),
        may_see_shift=is_own or person.has_perm(VIEW),
        debt=debts[0] if debts else None,
    )
