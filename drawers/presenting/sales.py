"""The payment of an order in words: how it was paid, and how the money goes back."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

from django.conf import settings
from django.db.models import QuerySet, Subquery
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import translation
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _, pgettext

from branches.seeing import own_branch
from core.customer_texts import one_line, plain_lines
from core.looks import badge
from core.money import rupiah
from core.numbers import text_as_seen
from core.rights import Right
from core.together import Given, Together
from credit import methods
from credit.models import CreditEntry
from credit.presenting import off_account_words
from credit.services import OF_SALES, OffAccount, debts_of, name_of
from customers.models import Customer
from drawers.errors import DrawerRefused
from drawers.models import SMALLEST_COIN, Outcome, Payment, Shift
from drawers.presenting.shifts import may_see_shift
from shop.presenting import Letterhead
from staff.models import User


def is_elsewhere(payment: Payment) -> bool:
    """Whether the sale is of a branch that the reader does not see, while its money is in a drawer that is seen."""
    return own_branch() not in {None, payment.branch_id}


def slip_of(payment: Payment) -> str:
    """The text for the slip's number, as the viewer may see it: people also write the customer's number there."""
    order: Any = payment.order  # of a room above
    return text_as_seen(payment.reference, order.destination) if payment.reference else ""


def refund_badge(payment: Payment, *, is_unpaid: bool) -> SafeString:
    """Whether a refund is due or was given, in money or on an account. `is_unpaid`: it comes off an account."""
    if payment.is_given and payment.given_method and not methods.moves_money(payment.given_method):
        return badge(("circle-check", "success"), pgettext("refund", "On the account"))
    if payment.is_given:
        return badge(("circle-check", "success"), pgettext("refund", "Given back"))
    if is_unpaid:
        return badge(("notebook", "held"), pgettext("refund", "To take off"))
    return outcome_badge(payment)


_OUTCOMES = {
    Outcome.OPEN: ("loader", "pending"),
    Outcome.KEPT: ("circle-check", "success"),
    Outcome.OWED: ("cash-banknote", "bad"),
    Outcome.NOTHING: ("circle-minus", "failed"),
    Outcome.GIVEN: ("arrow-back-up", "failed"),
}


def outcome_badge(payment: Payment) -> SafeString:
    """The badge for the outcome of an order's payment; for a sale on no account, nothing was paid."""
    is_unpaid = payment.outcome == Outcome.OWED and not payment.is_owed
    outcome = Outcome.NOTHING if is_unpaid else Outcome(payment.outcome)
    words = pgettext("refund", "Refund due") if outcome == Outcome.OWED else outcome.label
    return badge(_OUTCOMES[outcome], words)


def change_words(before: Payment, now: Payment) -> str:
    """HTML for an order's page: the present payment, the former one, and a button that undoes the change.

    One press undoes a change of only the method. The form is on the page, but the button names the order, because the
    message may appear on the page of another order that the person has opened meanwhile.
    """
    if before.method == now.method:
        return _("Noted how the customer paid.")
    on_credit = _("Now on credit (was %(before)s).")
    words = on_credit if now.debt_id else _("Paid by %(now)s (was %(before)s).")
    said = words % {"now": _in_sentence(now.method), "before": _in_sentence(before.method)}
    row = methods.find_method(before.method)
    if row and not (row.needs_debtor or row.needs_reference or before.reference or before.cash_given):
        undo = (
            '{} <button class="btn-undo" type="submit" formaction="{}" form="undo-payment" name="method" value="{}">'
            "{}</button>"
        )
        return format_html(undo, said, reverse("sale_paid", args=[now.ref_id]), row.code, _("Undo"))
    way_back = _("To take it back: “Correct how it was paid…”.")
    return f"{said} {way_back}"


class MoneyBack(NamedTuple):
    """The refund to the customer: a code, and a sentence.

    The code is the way the customer paid; "debt_part" or "debt_paid" for a sale on credit that is paid, in part or
    all; "debtor_deleted" if its customer was deleted since; "no_account" if it is on no account; "perhaps" if the books
    know of no payment.
    """

    code: str
    words: str


def money_back(payment: Payment, *, is_owed: bool) -> MoneyBack | None:
    """The refund if this sale ends, or has ended, without success; None if nobody sold it at a counter.

    `is_owed`: whether the shop has, or will have, to give it back.
    """
    if payment.is_on_no_account:
        return MoneyBack("no_account", str(DrawerRefused.texts["on_no_account"]))
    facts = {"amount": rupiah(payment.to_give_back), "method": _in_sentence(payment.method)}
    if not is_owed:
        words = _("If the customer has paid, give %(amount)s back.")
        return MoneyBack("perhaps", words % facts) if payment.seller_id else None
    code, words = payment.method, _("The customer gets %(amount)s back: it was paid by %(method)s.")
    if payment.debt:
        code, words, kept = _debt_back(payment.debt)
        facts["kept"] = rupiah(kept)
    elif payment.is_cash:
        words = _("The customer gets %(amount)s back in cash.")
    until = _("It stays in “Refunds due” until somebody notes that.")
    return MoneyBack(code, f"{words % facts} {until}")


def _debt_back(debt: CreditEntry) -> tuple[str, str, int]:
    """The code and the words of `money_back` for a sale on credit, and the paid part of it in rupiah."""
    account = debt.account
    off = OffAccount.of(debt.amount, owed=account.balance)
    if account.customer_id is None:
        return "debtor_deleted", _("The customer has paid this debt, and was deleted: give %(amount)s back."), off.kept
    if off.code == "less":
        return methods.CREDIT, _("Sold on credit: give no money, %(amount)s come off the account."), off.kept
    if off.code == "part":
        words = _(
            "Sold on credit: give no money, %(amount)s come off the account. %(kept)s of it was paid, and stays there"
            " for later sales."
        )
        return "debt_part", words, off.kept
    words = _("The customer has paid this debt: give %(amount)s back, or keep it on the account for later sales.")
    return "debt_paid", words, off.kept


def _in_sentence(method: str) -> str:
    """The words of a method inside a sentence: "cash", but "QRIS"."""
    words = methods.method_words(method)
    return words if words.isupper() else words[:1].lower() + words[1:]


@dataclass(frozen=True)
class ShownSale:
    """The payment of an order, for its page and its receipt, as one person may see and change it."""

    payment: Payment
    may_change: bool
    may_give_back: bool
    may_see_shift: bool
    may_see_credit: bool
    #: Its entries on customers' accounts, oldest first, and the unpaid part of the standing sale (rupiah).
    credit: tuple[CreditEntry, ...] = ()
    unpaid: int = 0

    @property
    def shift(self) -> Shift | None:
        return self.payment.sold_in

    @property
    def debt(self) -> CreditEntry | None:
        """The entry that puts the sale on an account now."""
        undone = {entry.undoes_id for entry in self.credit}
        sales = (entry for entry in self.credit if entry.kind in OF_SALES and entry.undoes_id is None)
        return next((sale for sale in sales if sale.pk not in undone), None)

    @property
    def debtor(self) -> Customer | None:
        return self.debt.account.customer if self.debt else None

    @property
    def taken_off(self) -> CreditEntry | None:
        """The entry of the refund that took it off an account, or put it on one."""
        return next((entry for entry in self.credit if entry.kind == CreditEntry.Kind.REFUND), None)

    @property
    def account_name(self) -> str:
        """The name of the customer whose account it is on, or came off."""
        entry = self.taken_off or self.debt
        return name_of(entry.account) if entry else ""

    @property
    def off_account(self) -> OffAccount | None:
        """The effect of a refund on an account, before or after it; None if the money goes to the customer."""
        if entry := self.taken_off:
            if any(other.kind == CreditEntry.Kind.PAID_BACK for other in self.credit):
                return None
            return OffAccount.of(-entry.amount, owed=entry.balance_after - entry.amount)
        if self.debt and self.debt.account.balance > 0:
            return OffAccount.of(self.debt.amount, owed=self.debt.account.balance)
        return None

    @property
    def paid(self) -> int:
        """The paid part of a current sale on credit, in rupiah."""
        return self.debt.amount - self.unpaid if self.debt else 0

    @property
    def to_give_back(self) -> int:
        """Rupiah that go, or went, back: as `Payment.to_give_back`, computed from the entries that are already read."""
        entry = self.taken_off or self.debt
        return abs(entry.amount) if entry else self.payment.amount

    @property
    def is_late(self) -> bool:
        """Whether the money went back in another shift than the one that sold it."""
        entry = self.payment.refund_entry
        return entry is not None and self.payment.sold_in_id not in {None, entry.shift_id}


def sale_questions(ref_id: str | Given) -> list[QuerySet[Any, Any]]:
    """The queries of `shown_sale` about an order."""
    of_order = Payment.objects.filter(ref_id=ref_id)
    return [
        of_order.select_related(
            "order__product", "sold_in__drawer", "sold_in__cashier", "given_by", "refund_entry__shift__drawer"
        ),
        CreditEntry.objects.filter(ref_id=ref_id, ref_id__gt="")
        .select_related("account__customer", "person")
        .order_by("pk"),
        # whether its branch had drawers then
        Shift.objects.filter(
            drawer__branch__in=of_order.values("branch"), opened_at__lte=Subquery(of_order.values("at"))
        ).values_list("pk")[:1],
    ]


@cache
def _sale_questions() -> Together:
    return Together(*sale_questions(Given("ref_id")))


def shown_sale(ref_id: str, person: User, answers: Sequence[list[Any]] | None = None) -> ShownSale | None:
    """The sale of this order as this person may see it; None if nobody said how it is paid, or without the rights.

    Nobody says it for an order of a command, and for cash before the branch had a drawer. `answers`: those to
    `sale_questions`, if they are already read; then the unpaid part of a debt is left out.
    """
    if not (person.has_perm(Right.USE_DRAWERS) or person.has_perm(Right.VIEW_SHIFTS)):
        return None
    payments, credit, shifts_before = answers or _sale_questions().read(ref_id=ref_id)
    payment: Payment = payments[0]
    shift, is_running = payment.sold_in, payment.outcome in {Outcome.OPEN, Outcome.KEPT}
    is_own = shift is not None and shift.cashier_id == person.pk
    may_change = is_own or person.has_perm(Right.MANAGE_DRAWERS)
    sale = ShownSale(
        payment=payment,
        may_change=shift is not None and shift.is_open and may_change and is_running,
        may_give_back=person.has_perm(Right.GIVE_BACK),
        may_see_shift=shift is not None and may_see_shift(shift, person),
        may_see_credit=person.has_perm(Right.USE_CREDIT) or person.has_perm(Right.VIEW_CREDIT),
        credit=tuple(credit),
    )
    if sale.debt and answers is None:
        open_debts = debts_of(sale.debt.account)
        sale = replace(sale, unpaid=next((debt.open for debt in open_debts if debt.entry == sale.debt.pk), 0))
    is_said = payment.method != methods.CASH or bool(payment.seller_id and shifts_before)
    is_shown = payment.outcome != Outcome.NOTHING and (is_said or not is_running)
    return sale if shift or payment.agreed_in_id or credit or is_shown else None


def refund_text(sale: ShownSale, head: Letterhead, *, number: str) -> str:
    """The text for the customer about the money: plain text, in the shop's language or the signed-in person's.

    `number`: the destination as the customer reads it.
    """
    payment = sale.payment
    order: Any = payment.order  # of a room above
    facts = {
        "head": head,
        "order": order,
        "product": one_line(order.product_name),
        "number": number,
        "amount": sale.to_give_back,
        "is_reversed": payment.was_taken_back,
        "is_sandbox": settings.SANDBOX,
    }
    with translation.override(head.language or translation.get_language()):
        written = render_to_string("drawers/refund_message.txt", facts | {"back": _back_words(sale)})
    return plain_lines(written)


def back_words(payment: Payment) -> str:
    """The sentence for the customer about money that went back, and how and when, or that comes off an account.

    In the active language; "" while money is still to be given back, or if none is.
    """
    if not (payment.is_given or (payment.is_owed and payment.debt_id)):
        return ""
    is_on_account = payment.debt_id or (payment.given_method and not methods.moves_money(payment.given_method))
    entries = CreditEntry.objects.filter(ref_id=payment.ref_id).select_related("account").order_by("pk")
    credit = tuple(entries) if is_on_account else ()
    nobody = {"may_change": False, "may_give_back": False, "may_see_shift": False, "may_see_credit": False}
    return _back_words(ShownSale(payment=payment, credit=credit, **nobody))


def _back_words(sale: ShownSale) -> str:
    payment, off = sale.payment, sale.off_account
    if not (payment.is_given or off):
        return ""
    facts = {
        "amount": sale.to_give_back,
        "off_account": off_account_words(off, is_done=payment.is_given) if off else "",
        "given_at": payment.given_at,
        "method": payment.given_words,
    }
    return render_to_string("drawers/given_back.txt", facts).strip()


def change_in_coins(change: int) -> int:
    """The part of the change (rupiah) that coins can pay: a cash price between two coins is rounded up."""
    return change - change % SMALLEST_COIN


@dataclass(frozen=True)
class PaidTogether:
    """The payment of several orders on one paper; rupiah. `words`: the method and its slips, empty for cash."""

    words: str
    cash_given: int | None
    change: int


def paid_together(payments: Iterable[Payment]) -> PaidTogether | None:
    """The payment of the orders of one paper; None if in several ways, or in cash without a note of the given cash."""
    paid = list(payments)
    codes = {payment.method for payment in paid}
    if len(codes) != 1:
        return None
    if not paid[0].is_cash:
        slips = dict.fromkeys(filter(None, map(slip_of, paid)))
        return PaidTogether(" ".join([str(paid[0].method_words), ", ".join(slips)]).strip(), None, 0)
    if any(payment.cash_given is None for payment in paid):
        return None
    return PaidTogether(
        "", sum(payment.cash_given or 0 for payment in paid), sum(payment.change or 0 for payment in paid)
    )
