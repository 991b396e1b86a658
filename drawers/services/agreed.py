"""How a customer pays, as it was said where an order was confirmed: also for an order that is only approved later."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils.translation import gettext as _

from approvals.models import Approval
from core.money import rupiah
from core.publish import publish
from credit import services as credit
from credit.errors import CreditRefused
from customers.models import Customer
from drawers.models import Method

if TYPE_CHECKING:
    from purchases.models import Order
    from staff.models import User


@dataclass(frozen=True, kw_only=True)
class Agreed:
    """The method, what the customer gave in cash (rupiah), and who owes it when it is on credit."""

    method: Method
    cash_given: int | None = None
    customer: Customer | None = None

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Agreed:
        """As an approval keeps it; a customer who was deleted is missing."""
        customer = Customer.objects.filter(pk=facts["customer"]).first() if facts["customer"] else None
        return cls(method=Method(facts["method"]), cash_given=facts["cash_given"], customer=customer)

    @property
    def facts(self) -> dict[str, Any]:
        """For an approval's content: JSON values only."""
        return {
            "method": self.method.value,
            "cash_given": self.cash_given if self.method == Method.CASH else None,
            "customer": self.customer.pk if self.customer else None,
            "customer_name": self.customer.name if self.customer else "",
        }

    @property
    def words(self) -> str:
        """For the approver."""
        given = _("given %(amount)s") % {"amount": rupiah(self.cash_given)} if self.cash_given is not None else ""
        return " · ".join(filter(None, [str(self.method.label), given, self.customer.name if self.customer else ""]))

    def place(
        self,
        place: Callable[[], Order],
        *,
        amount: int,
        key: str,
        seller: User,
        lock: Callable[[], object] | None = None,
    ) -> Order:
        """Place an order of the seller by `place`: on credit it is on the account in the same transaction.

        `amount`, `key`, and what is raised: as `credit.services.sell_on_credit` says. `lock`: takes what is locked
        before the account.
        """
        if self.method != Method.CREDIT:
            return place()
        if self.customer is None:
            raise CreditRefused("no_customer")
        with transaction.atomic():
            if lock:
                lock()
            return credit.sell_on_credit(self.customer, amount=amount, key=key, place=place, actor=seller)

    def place_approved(self, place: Callable[[], Order], *, amount: int, key: str, seller: User) -> Order:
        """The same for an order that was approved just now; it enters the seller's shift so within a second."""
        order = self.place(place, amount=amount, key=key, seller=seller)
        transaction.on_commit(lambda: publish("drawers.tasks.sweep_sales"))
        return order


def agreed_payments(ref_ids: Collection[str]) -> dict[str, Agreed]:
    """Of these orders those that a second person approved, and for which it was said how they are paid."""
    found = Approval.objects.filter(result__in=ref_ids, result__gt="")
    said = ((approval.result, approval.facts.get("payment")) for approval in found)
    return {ref_id: Agreed.of(payment) for ref_id, payment in said if payment}
