"""A customer's payment as noted by the person who confirmed the order: a plain argument of placing it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from branches.seeing import narrowed
from core import clock
from core.money import rupiah
from core.times import asked_again_since
from credit import services as credit
from credit.errors import CreditRefused
from credit.methods import CASH, Method, find_method, method_words
from customers.models import Customer
from drawers.errors import PaymentUnclear, SlipUsed
from drawers.models import Payment
from staff.models import User


@dataclass(frozen=True, kw_only=True)
class PaymentFacts:
    """The code of the method, the cash that the customer gave (rupiah), the debtor, and the number on the slip.

    `agreed_in`: the key of the shift that sold it, if it is placed later. `is_agreed`: it was sold before, as for an
    approval or in a batch; without `agreed_in` it was sold in no shift, and no later shift takes it. `branch`: the key
    of the branch of an approval or a batch; None: the drawer's branch, else the seller's. `paid_at_once`: shared by
    orders that are one payment for the customer. `is_in_shift`: the seller has seen that the own open shift takes it.
    """

    method: str = CASH
    cash_given: int | None = None
    customer: Customer | None = None
    reference: str = ""
    agreed_in: int | None = None
    is_agreed: bool = False
    branch: int | None = None
    paid_at_once: UUID | None = None
    is_in_shift: bool = False

    @property
    def row(self) -> Method:
        """The method's row. Raises `PaymentUnclear` for a code that no row has."""
        row = find_method(self.method)
        if row is None:
            raise PaymentUnclear(_("Choose how the customer pays."))
        return row

    def refuse_unless_clear(self, amount: int) -> None:
        """Raise `PaymentUnclear` or `CreditRefused` if these facts cannot pay `amount` rupiah in all."""
        if self.cash_given is not None and self.cash_given < amount:
            raise PaymentUnclear(_("The customer gave less than the price."))
        if self.row.needs_debtor and self.customer is None:
            raise CreditRefused("no_customer")
        if self.row.needs_reference and not self.reference.strip():
            raise PaymentUnclear(_("Write the number on the slip of the card terminal."))

    def refuse_unless_in(self, shift: int | None) -> None:
        """Raise `PaymentUnclear` if the seller has seen an open shift, and there is none any more. `shift`: its key."""
        if self.is_in_shift and shift is None:
            words = _("Nothing was sent: your drawer was closed meanwhile. Open one, or send it again in no shift.")
            raise PaymentUnclear(words)

    def refuse_unless_sold(self, amount: int, *, seller: User) -> None:
        """Raise `CreditRefused` if this is a sale on credit and the customer may not owe `amount` rupiah more."""
        if self.row.needs_debtor and self.customer:
            credit.refuse_unless_sold_in_all(self.customer, amount=amount, actor=seller)

    def part(self, amount: int) -> PaymentFacts:
        """The same payment for one of several orders, for `amount` rupiah; the change is noted afterwards."""
        return self if self.cash_given is None else replace(self, cash_given=amount)

    @classmethod
    def of(cls, facts: Mapping[str, Any], *, branch: int | None = None) -> PaymentFacts:
        """The facts that an approval keeps, without a customer who was deleted. `branch`: that of the approval."""
        customer = Customer.objects.filter(pk=facts["customer"]).first() if facts["customer"] else None
        return cls(
            method=facts["method"],
            cash_given=facts["cash_given"],
            customer=customer,
            reference=facts["reference"],
            agreed_in=facts["shift"],
            is_agreed=True,
            branch=branch,
            paid_at_once=UUID(shared) if (shared := facts.get("paid_at_once")) else None,
        )

    @property
    def plain(self) -> dict[str, Any]:
        """For an approval's content: JSON values only."""
        return {
            "method": self.method,
            "cash_given": self.cash_given,
            "customer": self.customer.pk if self.customer else None,
            "customer_name": self.customer.name if self.customer else "",
            "reference": self.reference,
            "shift": self.agreed_in,
            **({"paid_at_once": str(self.paid_at_once)} if self.paid_at_once else {}),
        }

    @property
    def words(self) -> str:
        """The payment in words for the approver; empty for cash if nobody noted how much was given."""
        if self.method == CASH and self.cash_given is None:
            return ""
        given = _("given %(amount)s") % {"amount": rupiah(self.cash_given)} if self.cash_given is not None else ""
        name = self.customer.name if self.customer else ""
        return " · ".join(filter(None, [method_words(self.method), self.reference, given, name]))


def refuse_used_slip(facts: PaymentFacts, *, own_keys: Collection[str], confirmed: str = "") -> None:
    """Raise `SlipUsed` when a sale of today, or of the last hour, has the same number on its slip.

    `own_keys`: the idempotency keys of the orders paid now, which may be sent again. `confirmed`: the number that a
    person has confirmed. It is a question, not a guard: two sales at one moment may both pass.
    """
    slip = facts.reference.strip()
    if not facts.row.needs_reference or slip == confirmed:
        return
    lately = Payment.objects.filter(method=facts.row.code, at__gte=asked_again_since(clock.now()))
    same = narrowed(lately, "branch").filter(is_cash=False, debt=None, reference__iexact=slip)
    if used := same.exclude(order__idempotency_key__in=own_keys).order_by("-at", "-pk").first():
        raise SlipUsed(used.ref_id, slip, at=used.at)
