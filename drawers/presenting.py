"""Shifts, entries and sales in words."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db.models import QuerySet, Subquery
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from core.customer_texts import one_line, plain_lines
from core.icons import badge
from core.money import signed_rupiah
from core.together import read_together
from credit.models import CreditEntry, Method
from credit.presenting import off_account_words
from credit.services import USE as USE_CREDIT
from credit.services import VIEW as VIEW_CREDIT
from credit.services import OffAccount, debts_of, name_of
from customers.models import Customer
from drawers.models import DrawerEntry, Refund, Shift
from drawers.services import GIVE, IN_USE_DAYS, MANAGE, OWED, USE, VIEW, Totals
from purchases.models import Order
from purchases.presenting import shown_destination
from purchases.states import Status
from shop.presenting import Letterhead

if TYPE_CHECKING:
    from staff.models import User


def refund_badge(refund: Refund, *, is_unpaid: bool) -> SafeString:
    """To give back, or given back, in money or on an account. `is_unpaid`: it is on one, and comes off that."""
    if refund.method == Method.CREDIT:
        return badge(("circle-check", "success"), pgettext("refund", "On the account"))
    if refund.is_given:
        return badge(("circle-check", "success"), pgettext("refund", "Given back"))
    if is_unpaid:
        return badge(("notebook", "held"), pgettext("refund", "To take off"))
    return badge(("cash-banknote", "held"), pgettext("refund", "To give back"))


def shift_badge(shift: Shift) -> SafeString:
    """Open, closed and right, or closed with a difference."""
    if shift.is_open:
        return badge(("lock-open", "queued"), pgettext("shift", "Open"))
    if shift.difference:
        return badge(("alert-triangle", "held"), signed_rupiah(shift.difference))
    return badge(("circle-check", "success"), pgettext("shift", "Closed"))


def may_see_shift(shift: Shift, person: User) -> bool:
    """Whether it is the person's own, or the person sees all shifts."""
    return shift.cashier_id == person.pk or person.has_perm(VIEW)


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
    # Rare, so only where there was any.
    paid_out = [Line("credit_out_cash", _("Credit paid out in cash"), totals.credit_out[cash])]
    return [
        Line("opening", _("Opening count"), totals.opening),
        Line("cash_sales", _("Cash sales"), totals.sales[cash]),
        Line("cash_refunds", _("Cash given back"), totals.refunds[cash]),
        Line("credit_cash", _("Credit paid in cash"), totals.credit[cash]),
        *(paid_out if totals.credit_out[cash] else []),
        Line("paid_in", _("Paid in"), totals.paid_in),
        Line("paid_out", _("Paid out"), totals.paid_out),
    ]


def other_lines(totals: Totals) -> list[Line]:
    """What customers paid otherwise than in cash, less what they got back so; nothing of it is in the drawer.

    What they paid of their debts so, and what was paid out to them of an account, stands by itself.
    """
    words = {"transfer": _("Transfer"), "qris": _("QRIS"), "credit": _("On credit")}
    paid = {"transfer": _("Credit paid by transfer"), "qris": _("Credit paid by QRIS")}
    paid_out = {"transfer": _("Credit paid out by transfer"), "qris": _("Credit paid out by QRIS")}
    sold = [
        Line(method, name, totals.sales[method] + totals.refunds[method])
        for method, name in words.items()
        if totals.sales[method] or totals.refunds[method]
    ]
    credit = [Line(f"credit_{method}", name, totals.credit[method]) for method, name in paid.items()]
    credit += [Line(f"credit_out_{method}", name, totals.credit_out[method]) for method, name in paid_out.items()]
    return sold + [line for line in credit if line.amount]


@dataclass(frozen=True)
class ShownSale:
    """How an order was paid, for its page and its receipt. `entry`: None while it enters by itself into `shift`."""

    order: Order
    entry: DrawerEntry | None
    shift: Shift | None
    refund: DrawerEntry | None
    #: The row of the shop's to-do, once there is one. `is_counter_sale`: sold in a drawer, or while drawers are in use.
    owed: Refund | None
    is_counter_sale: bool
    may_change: bool
    may_give_back: bool
    may_see_shift: bool
    may_see_credit: bool
    #: On customers' accounts, oldest first, and how much of the standing sale is not paid (rupiah).
    credit: tuple[CreditEntry, ...] = ()
    unpaid: int = 0

    @property
    def debt(self) -> CreditEntry | None:
        """The sale by which it is on an account now."""
        undone = {entry.undoes_id for entry in self.credit}
        sales = (one for one in self.credit if one.kind == CreditEntry.Kind.SALE and one.undoes_id is None)
        return next((sale for sale in sales if sale.pk not in undone), None)

    @property
    def debtor(self) -> Customer | None:
        """On whose account it is."""
        return self.debt.account.customer if self.debt else None

    @property
    def taken_off(self) -> CreditEntry | None:
        """The entry by which it came off an account, or was put on one, when it was given back."""
        return next((one for one in self.credit if one.kind == CreditEntry.Kind.REFUND), None)

    @property
    def account_name(self) -> str:
        """Whose account it is on, or came off."""
        entry = self.taken_off or self.debt
        return name_of(entry.account) if entry else ""

    @property
    def off_account(self) -> OffAccount | None:
        """What noting it does to an account, or did; None where the customer has the money, or is to have it."""
        if entry := self.taken_off:
            if any(one.kind == CreditEntry.Kind.PAID_BACK for one in self.credit):
                return None
            return OffAccount.of(-entry.amount, owed=entry.balance_after - entry.amount)
        if self.debt and self.debt.account.balance > 0:
            return OffAccount.of(self.debt.amount, owed=self.debt.account.balance)
        return None

    @property
    def paid(self) -> int:
        """Rupiah of a standing sale on credit that are paid."""
        return self.debt.amount - self.unpaid if self.debt else 0

    @property
    def is_owed(self) -> bool:
        """Whether the customer has nothing for the money, and nobody gave it back."""
        if self.order.status not in OWED or self.is_given:
            return False
        return self.owed is not None or self.is_counter_sale or self.order.status == Status.REVERSED

    @property
    def is_given(self) -> bool:
        """Whether somebody noted that the customer has the money back."""
        is_noted = self.owed is not None and self.owed.is_given
        return bool(is_noted or self.refund or self.taken_off or hasattr(self.order, "given_back"))

    @property
    def amount(self) -> int:
        """Rupiah that the customer paid, or owes for it."""
        return self.entry.amount if self.entry else self.order.customer_pays

    @property
    def refunded(self) -> int:
        """Rupiah that the customer got back out of a shift."""
        return -self.refund.amount if self.refund else 0

    @property
    def is_late(self) -> bool:
        """Whether it ended in another shift than the one that sold it."""
        return self.refund is not None and self.refund.sold_in_id is not None


def sale_questions(ref_id: str) -> list[QuerySet[Any, Any]]:
    """What `shown_sale` has to know about an order, for `read_together`."""
    placed = Order.objects.filter(ref_id=ref_id).values("created_at")[:1]
    in_use = dt.timedelta(days=IN_USE_DAYS)
    return [
        DrawerEntry.objects.current()
        .filter(ref_id=ref_id)
        .select_related("shift__drawer", "shift__cashier", "sold_in", "person"),
        Shift.objects.filter(closed_at=None).select_related("drawer", "cashier"),
        CreditEntry.objects.filter(ref_id=ref_id, ref_id__gt="")
        .select_related("account__customer", "person")
        .order_by("pk"),
        Refund.objects.filter(order__ref_id=ref_id).select_related("given_by"),
        Shift.objects.filter(opened_at__lte=Subquery(placed), opened_at__gt=Subquery(placed) - in_use)[:1],
    ]


def shown_sale(order: Order, person: User, answers: Sequence[list[Any]] | None = None) -> ShownSale | None:
    """The sale of this order as this person may see it; None for who sees no drawers, and where there is nothing.

    `answers`: of `sale_questions`, where they were asked already; what is unpaid of a debt is left out then.
    """
    if not (person.has_perm(USE) or person.has_perm(VIEW)):
        return None
    entries, shifts, credit, refunds, in_use = answers or read_together(*sale_questions(order.ref_id))
    entry = next((one for one in entries if one.kind == DrawerEntry.Kind.SALE), None)
    refund = next((one for one in entries if one.kind == DrawerEntry.Kind.REFUND), None)
    waiting = next((one for one in shifts if one.cashier_id == order.placed_by_id and one.first_no < order.pk), None)
    shift = entry.shift if entry else waiting
    manages, is_own = person.has_perm(MANAGE), shift is not None and shift.cashier_id == person.pk
    sale = ShownSale(
        order=order,
        entry=entry,
        shift=shift,
        refund=refund,
        owed=refunds[0] if refunds else None,
        is_counter_sale=shift is not None or (order.placed_by_id is not None and bool(in_use)),
        may_change=shift is not None
        and shift.is_open
        and (is_own or manages)
        and order.status not in OWED
        and refund is None,
        may_give_back=person.has_perm(GIVE),
        may_see_shift=shift is not None and may_see_shift(shift, person),
        may_see_credit=person.has_perm(USE_CREDIT) or person.has_perm(VIEW_CREDIT),
        credit=tuple(credit),
    )
    if sale.debt and answers is None:
        open_debts = debts_of(sale.debt.account)
        sale = replace(sale, unpaid=next((one.open for one in open_debts if one.entry == sale.debt.pk), 0))
    return sale if shift or credit or sale.is_owed or (sale.owed and sale.is_given) else None


def refund_text(sale: ShownSale, head: Letterhead) -> str:
    """What the customer is sent about the money: plain text, in the shop's language or that of whoever is signed in."""
    order, entry = sale.order, sale.refund
    facts = {
        "head": head,
        "order": order,
        "product": one_line(order.product_name),
        "number": shown_destination(order),
        "amount": sale.amount,
        "is_reversed": order.status == Status.REVERSED,
        "is_given": sale.is_given,
        "off_account": None,
        "given_at": sale.owed.given_at if sale.owed and sale.owed.given_at else entry.at if entry else None,
        "method": sale.owed.get_method_display() if sale.owed else entry.get_method_display() if entry else "",
        "is_sandbox": settings.SANDBOX,
    }
    with translation.override(head.language or translation.get_language()):
        if sale.off_account:
            facts["off_account"] = off_account_words(sale.off_account, is_done=sale.is_given)
        written = render_to_string("drawers/refund_message.txt", facts)
    return plain_lines(written)
