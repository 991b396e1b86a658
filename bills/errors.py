"""Why a bill cannot be checked or paid now; each says so, and what to do next, in words for the counter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from backoffice.money import rupiah
from purchases.errors import OrderRefused

if TYPE_CHECKING:
    from bills.models import BillCheck
    from purchases.models import Order


class NotABill(OrderRefused):
    """The product is not a bill, or its biller is gone; `reason` is "prepaid", "vanished" or "disturbed"."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        words = {
            "prepaid": _("This product is bought, not paid as a bill."),
            "vanished": _("The upstream no longer has this biller."),
            "disturbed": _("This biller is disturbed at the moment. Try again later."),
        }
        super().__init__(words[reason])


class NotPayable(OrderRefused):
    """The check cannot be paid: it has no bill yet, was refused, or its payment has ended otherwise."""

    def __init__(self, check: BillCheck) -> None:
        words = {
            "pending": _("The biller has not answered yet. Wait for the bill, then pay it."),
            "paid": _("This bill is paid already."),
            "expired": _("This check has expired. Check the bill again, then pay it."),
        }
        reasons = {
            "BILL_ALREADY_PAID": _("The biller says that this bill is paid already. There is nothing to do."),
            "BILL_NOT_AVAILABLE": _("The biller has no bill for this customer now. Try again when the bill is out."),
            "INVALID_DESTINATION": _("The biller does not know this customer number. Check the number."),
            "NOTHING_TO_PAY": _("There is nothing to pay on this bill."),
        }
        fallback = _("This bill cannot be paid with this check. Check it again.")
        super().__init__(words.get(check.state) or reasons.get(check.error_code) or fallback)


class CheckExpired(OrderRefused):
    """The check's time is over (document, /v1/bill/pay 6): a new check with a new ref_id is needed."""

    def __init__(self) -> None:
        super().__init__(_("This check has expired. Check the bill again, then pay it."))


class TotalChanged(OrderRefused):
    """The total is not the one that was confirmed. `total` is the present one, in rupiah."""

    def __init__(self, total: int) -> None:
        self.total = total
        super().__init__(_("The total is now %(total)s. Confirm it again.") % {"total": rupiah(total)})


class Replaced(OrderRefused):
    """A newer check of the same bill exists; that one is to be paid."""

    def __init__(self, newer: BillCheck) -> None:
        self.newer = newer
        super().__init__(
            _("This bill was checked again meanwhile. Pay the newer check %(ref_id)s.") % {"ref_id": newer}
        )


class AlreadyPaid(OrderRefused):
    """We have paid this customer's bill of this period before."""

    def __init__(self, order: Order) -> None:
        self.order = order
        super().__init__(_("This bill was already paid with order %(ref_id)s.") % {"ref_id": order.ref_id})
