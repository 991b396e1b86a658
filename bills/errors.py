"""The reasons why a bill cannot be checked or paid now, each with the next step, in words for the counter."""

from django.utils.translation import gettext_lazy as _

from bills.models import BillCheck
from bills.states import AnswerKind
from core.errors import ForReason, OrderRefused
from core.money import rupiah
from purchases.models import Order
from upstream.error_codes import meaning_of


class NotABill(ForReason, OrderRefused):
    """The biller has no bill to check; `reason` is "prepaid", "delisted" or "unavailable"."""

    texts = {
        "prepaid": _("This product is sold, not paid as a bill."),
        "delisted": _("The provider no longer has this biller."),
        "unavailable": _("This biller is unavailable at the moment. Try again later."),
    }


class NotPayable(OrderRefused):
    """The biller has not answered yet or has refused, or the payment has ended; `reason`: the kind of the answer."""

    def __init__(self, check: BillCheck) -> None:
        self.reason = check.answer
        meaning = meaning_of(check.error_code)
        words = {
            AnswerKind.NONE: _("The biller has not answered yet. Wait for the bill, then pay it."),
            AnswerKind.REFUSAL: f"{meaning.words} {meaning.step.label}",
            AnswerKind.BILL: _("This bill cannot be paid with this check. Check it again."),
        }
        super().__init__(words[AnswerKind(check.answer)])


class CheckExpired(OrderRefused):
    """The check's time is over (document, /v1/bill/pay 6): a new check with a new ref_id is needed."""

    def __init__(self) -> None:
        super().__init__(_("This check has expired. Check the bill again, then pay it."))


class TotalChanged(OrderRefused):
    """The total differs from the confirmed one. `total` is the present one, in rupiah."""

    def __init__(self, total: int) -> None:
        self.total = total
        super().__init__(_("The total is now %(total)s. Confirm it again.") % {"total": rupiah(total)})


class FeeChanged(OrderRefused):
    """The shop's fee differs from the confirmed one. `fee` is the present one, in rupiah."""

    def __init__(self, fee: int) -> None:
        self.fee = fee
        super().__init__(_("The shop's fee is now %(fee)s. Confirm it again.") % {"fee": rupiah(fee)})


class Replaced(OrderRefused):
    """A newer check of the same bill exists, with the ref_id `newer`: pay the newer one."""

    def __init__(self, newer: str) -> None:
        self.newer = newer
        super().__init__(
            _("This bill was checked again meanwhile. Pay the newer check %(ref_id)s.") % {"ref_id": newer}
        )


class AlreadyPaid(OrderRefused):
    """We have paid this customer's bill of this period before."""

    def __init__(self, order: Order) -> None:
        self.order = order
        super().__init__(_("This bill was already paid with order %(ref_id)s.") % {"ref_id": order.ref_id})
