"""The act that takes a second person: bill payments above a person's limit."""

import datetime as dt
from collections.abc import Collection
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from approvals.acts import Line, Seen, register
from approvals.models import Approval, Content
from bills.errors import AlreadyPaid
from bills.models import BillCheck
from bills.services.paying import bill_content, lock_check_for_payment, place_payment, why_not_payable
from core.money import rupiah
from core.rights import Right
from core.times import clock
from drawers.services import PaymentFacts
from purchases.services.acts import SpendingAct, payment_now
from purchases.services.placing import PAYMENT
from staff.models import User


@register
class BillAct(SpendingAct):
    """The payment of a checked bill above the payer's limit."""

    name = "bill"
    label = _("Bill above the limit")
    may_ask = Right.CHECK_BILLS

    def amount(self, content: Content) -> int:
        """Rupiah that the customer pays: the bill with the shop's fee."""
        total: int = content["price"] + content["fee"]
        return total

    def content_now(self, approval: Approval) -> Content:
        """The bill as it is now. Raises the reason why it cannot be paid any more, such as `CheckExpired`."""
        check = lock_check_for_payment(_check_of(approval).pk)
        _refuse_unless_payable(check)
        return bill_content(check) | payment_now(approval.facts) | {"placed_by": approval.asked_by_id}

    def questions(self, approvals: Collection[Approval]) -> list[QuerySet[Any, Any]]:
        refs = {approval.subject for approval in approvals}
        checks = BillCheck.objects.with_standing().select_related("order", "product")
        return [checks.filter(ref_id__in=refs).order_by("pk")]

    def content_seen(self, approval: Approval, seen: Seen) -> Content:
        """The bill as it is now. Raises the same as `content_now`."""
        check = next((checked for checked in seen.answers[0] if checked.ref_id == approval.subject), None)
        if check is None:
            return approval.facts
        _refuse_unless_payable(check)
        return approval.facts | bill_content(check)

    def execute(self, approval: Approval, *, approver: User) -> str:
        """Pay the bill for the asker; the customer pays as the request says.

        Raises `BalanceShort`, and the refusal if it cannot be sold on credit now.
        """
        asked = approval.facts
        order, _is_new = place_payment(
            _check_of(approval),
            amount=asked["price"],
            fee=asked["fee"],
            paid_by=approval.asked_by,
            approved=self.approved(approval, approver),
            payment=PaymentFacts.of(asked[PAYMENT], branch=approval.branch_id),
        )
        return order.ref_id

    def lines(self, content: Content) -> list[Line]:
        """The customer of the bill, its months and its total."""
        until = dt.datetime.fromisoformat(content["expires_at"]) if content["expires_at"] else None
        return [
            Line("product_name", _("Biller"), f"{content['product_name']} ({content['product_code']})"),
            Line("destination", _("Customer number"), content["destination"]),
            Line("customer_name", _("Customer"), content["customer_name"] or "–"),
            Line("period", _("Period"), content["period"] or "–"),
            Line("price", _("Spent at the provider"), rupiah(content["price"])),
            Line("fee", _("Service fee"), rupiah(content["fee"])),
            Line("amount", _("The customer pays"), rupiah(self.amount(content))),
            *self.payment_lines(content),
            Line("expires_at", _("The bill is valid until"), clock(until)),
            Line("ref_id", "ref_id", content["ref_id"]),
        ]

    def expires_at(self, content: Content, latest: dt.datetime) -> dt.datetime:
        return min(latest, dt.datetime.fromisoformat(content["expires_at"])) if content["expires_at"] else latest

    def url(self, approval: Approval) -> str:
        """The bill; once paid, its order."""
        return super().url(approval) or reverse("bill_detail", args=[approval.subject])


def _check_of(approval: Approval) -> BillCheck:
    return BillCheck.objects.get(ref_id=approval.subject)


def _refuse_unless_payable(check: BillCheck) -> None:
    if check.order:
        raise AlreadyPaid(check.order)
    if refusal := why_not_payable(check):
        raise refusal
