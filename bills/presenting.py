"""Bill checks as the pages show them: their standing, and a person's next steps."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from urllib.parse import urlencode

from django.db.models import OuterRef, Subquery, prefetch_related_objects
from django.db.models.functions import JSONObject
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from approvals.models import Approval
from approvals.services import may_open
from bills.models import BillCheck, BillCheckQuerySet, Inquiry
from bills.services.acts import BillAct
from bills.states import AnswerKind, BillState, Standing
from core import clock
from core.numbers import sees_whole
from purchases.models import Order
from purchases.presenting import decided_by_people
from purchases.services.actions import is_above_limit, is_proposed
from purchases.states import Status
from staff.models import User
from upstream.error_codes import Meaning, Step, meaning_of

# A bill on which nothing moves is read again this often (seconds): another person may pay it.
_READ_EVERY = 10
# A person who has waited this long for the biller's answer (seconds) wants to go on.
_SLOW_AFTER = 20


class Offer(StrEnum):
    """The steps of a person with a bill: the counter checks and pays, other pages link to it."""

    PAY = "pay"
    INQUIRE = "inquire"  # the identical inquiry again
    CHECK = "check"  # a new check, with a new ref_id
    CORRECT = "correct"  # the number
    PAYMENT = "payment"  # see the payment
    NEWER = "newer"  # see the newer check
    RECEIPT = "receipt"


_AT_COUNTER = frozenset({Offer.PAY, Offer.INQUIRE, Offer.CHECK, Offer.CORRECT})
# The first one is the step to take.
_OFFERS: dict[Standing, tuple[Offer, ...]] = {
    Standing.UNANSWERED: (Offer.INQUIRE, Offer.CHECK),
    Standing.PAYABLE: (Offer.PAY,),
    Standing.EXPIRED: (Offer.CHECK,),
    Standing.PAID_BEFORE: (),
    Standing.OPEN_ELSEWHERE: (Offer.PAYMENT,),
    Standing.REPLACED: (Offer.NEWER,),
    Standing.TOTAL_CHANGED: (Offer.INQUIRE,),
    Standing.CONFIRM: (Offer.PAY,),
    Standing.PAY_AGAIN: (Offer.PAY,),
    Standing.DECIDE: (Offer.PAYMENT,),
    Standing.PAID: (Offer.RECEIPT,),
    Standing.ENDED: (Offer.CHECK,),
}
_OFFERS_AFTER_REFUSAL: dict[Step, tuple[Offer, ...]] = {
    Step.CORRECT_NUMBER: (Offer.CORRECT, Offer.CHECK),
    Step.CHOOSE_ANOTHER: (),
    Step.NOTHING_TO_DO: (),
}

# A refused inquiry has ended, so these steps of an order make no sense.
_STEPS_OF_ORDERS = {Step.WAIT: Step.CHECK_AGAIN, Step.AFTER_TOP_UP: Step.TRY_LATER}

# What happened (may be empty); then what it means for the money, with the next step.
Words = tuple[str | Promise, str | Promise]

_WORDS: dict[Standing, Words] = {
    Standing.ASKING: (
        "",
        _("The bill is being checked. It takes seconds, sometimes a minute; this page shows the answer by itself."),
    ),
    Standing.UNANSWERED: (
        _("The biller has not answered within an hour."),
        _("Nothing was charged. Check the bill again."),
    ),
    Standing.EXPIRED: (
        _("This check has expired."),
        _("Nothing was charged. Amounts may have changed since: check the bill again, then pay it."),
    ),
    Standing.PAID_BEFORE: (_("This bill is already paid."), _("Take no money from the customer.")),
    Standing.OPEN_ELSEWHERE: (_("This bill has an open payment."), _("Wait for its outcome: this page follows it.")),
    Standing.REPLACED: (_("This bill was checked again."), _("Pay the newer check.")),
    Standing.PAYING: ("", _("The payment is under way. Do not pay it again: this page follows it.")),
    Standing.TOTAL_CHANGED: (
        _("The bill's total is no longer the confirmed one."),
        _("Nothing was charged. Look at the new total, and confirm it with the customer."),
    ),
    Standing.CONFIRM: (
        _("The bill's total has changed:"),
        _("Nothing was charged. Confirm the new total with the customer first."),
    ),
    Standing.DECIDE: (
        _("The payment may have arrived at the provider, and the bill has expired."),
        _("A person who may resolve orders decides on the payment's page. Do not pay the bill again before."),
    ),
    Standing.PAID: ("", _("The bill is paid.")),
}
_EXPIRED_WITH_PAYMENT: Words = (
    _("The bill expired before the payment could be sent again."),
    _("Nothing was charged. Check the bill again: paying the new check cancels this payment."),
)
_ABOVE_LIMIT: Words = (
    _WORDS[Standing.CONFIRM][0],
    _(
        "Nothing was charged. The new total needs the approval of a second person. The seller, or a person who may"
        " resolve orders, cancels the payment; then check the bill again."
    ),
)
_UNCHARGED = _("Nothing was charged.")
_PAY_AGAIN = _(
    "Nothing was charged. It can be paid again while the bill is still valid: the same ref_id, so never twice."
)
_PAY_AGAIN_LATER = _(
    "Nothing was charged. When the biller opens, pay it again if the bill is still valid, or check it again."
)
_IN_DOUBT: Words = (
    _("The provider has said several times that it does not know this payment."),
    _("It may have been charged. Paying it again sends the same request, which is never charged twice."),
)
_PROPOSED: Words = (
    _("The payment may have arrived at the provider."),
    _("Wait: a second person approves the proposed outcome."),
)
_ENDED: dict[str, Words] = {
    Status.REJECTED: (
        _("The provider refused the payment, and nothing was charged."),
        _("Check the bill again to pay it."),
    ),
    Status.FAILED: (
        _("The payment failed, and the provider refunds what was charged."),
        _("The bill is not paid. Check it again to pay it."),
    ),
    Status.CANCELLED: (
        _("The payment was cancelled before anything was charged."),
        _("Check the bill again to pay it."),
    ),
    Status.CLOSED: (
        _("The payment was closed: it seems never to have arrived at the provider."),
        _("Nobody has reported that the bill is paid. Check it again before it is paid again."),
    ),
    Status.REVERSED: (
        _("The provider took the payment back."),
        _("The bill is not paid. Check it again to pay it, or give back what the customer paid."),
    ),
}
_DECIDED_FAILED: Words = (
    _("Two people decided that the payment failed."),
    _("The bill is not paid. Check it again to pay it."),
)


@dataclass(frozen=True)
class ShownBill:
    """A check that was read `with_standing`, as a page needs it.

    `other`: another check's payment that blocks this bill: it has paid a month of it, or is still open.
    """

    check: BillCheck
    other: Order | None
    person: User

    @classmethod
    def read(cls, checks: BillCheckQuerySet, person: User) -> list[ShownBill]:
        """These checks with everything that a page shows; two queries for any number of checks.

        A third reads the proposals about payments that need action and may have been charged, if there are any.
        """
        waiting = Approval.objects.open().filter(act=BillAct.name, subject=OuterRef("ref_id"))
        waiting = waiting.filter(expires_at__gt=clock.now())
        facts = JSONObject(pk="pk", asked_by_id="asked_by", branch_id="branch")
        rows = list(
            checks.with_standing()
            .annotate(approval=Subquery(waiting.values(facts=facts)))
            .select_related(
                "order__payment", "product__brand", "product__category", "checked_by", "saved_number__customer"
            )
        )
        refs = {check.pk: _other_ref(check) for check in rows}
        others = Order.objects.in_bulk({ref for ref in refs.values() if ref}, field_name="ref_id")
        payments = [check.order for check in rows if check.order and check.order.status == Status.NEEDS_ACTION]
        prefetch_related_objects([order for order in payments if order.may_be_charged], "verdicts")
        return [cls(check=check, other=others.get(refs[check.pk]), person=person) for check in rows]

    @property
    def row_id(self) -> str:
        """Its id on a page that follows it."""
        return f"bill-{self.check.pk}"

    @property
    def approval_id(self) -> int | None:
        """The approval that its payment waits for."""
        approval = self._approval
        return approval.pk if approval else None

    @property
    def opens_approval(self) -> bool:
        """Whether the reader may open the page of that approval."""
        approval = self._approval
        return approval is not None and may_open(approval, self.person)

    @property
    def _approval(self) -> Approval | None:
        """The approval with only the facts that decide who may open it."""
        facts = None if self.order else self.check.approval  # type: ignore[attr-defined] # annotated
        return Approval(act=BillAct.name, **facts) if facts else None

    @property
    def order(self) -> Order | None:
        """Its payment, if anybody has paid it or tried to."""
        return self.check.order

    @property
    def standing(self) -> Standing:
        return Standing(self.check.now_standing)

    @property
    def state(self) -> BillState:
        """The standing in short."""
        return self.standing.state

    @property
    def payment(self) -> Order | None:
        """The payment that decides the bill's status: the check's own, or an open one that blocks it."""
        return self.other if self.standing is Standing.OPEN_ELSEWHERE else self.order

    @property
    def look(self) -> str:
        """The colour of its badge, as the style sheets name it."""
        return self.payment.status if self.payment else self.state.look.colour

    @property
    def destination(self) -> str:
        """The customer number, grouped for reading aloud, as the viewer may see it."""
        return self.check.product.kind.as_seen(self.check.destination)

    @property
    def correcting_query(self) -> str:
        """The counter's query string for typing its number again; without the number for people who may not see it."""
        number = {"q": self.check.destination} if sees_whole(self.check.destination) else {}
        return urlencode({"product": self.check.product_code, **number})

    @property
    def saving_query(self) -> str:
        """The query string for saving its number with the customer's name; empty for people who may not see it."""
        check = self.check
        if not sees_whole(check.destination):
            return ""
        return urlencode({"product": check.product_code, "destination": check.destination, "name": check.customer_name})

    @property
    def refusal(self) -> Meaning | None:
        """The meaning of the upstream's refusal: of the payment, else of the inquiry. None when nothing was refused."""
        order = self.order
        is_refused = order is not None and order.status in {Status.REJECTED, Status.NEEDS_ACTION}
        code = order.error_code if order is not None and is_refused else self.check.error_code
        return meaning_of(code) if code else None

    @property
    def paid_here(self) -> Order | None:
        """Our payment of the bill with another check: of one of its months, or of any month if the biller says paid."""
        says_paid = self.refusal is not None and self.refusal.step == Step.NOTHING_TO_DO
        return self.other if says_paid or self.standing is Standing.PAID_BEFORE else None

    @property
    def words(self) -> Words:
        """The page's words about its standing."""
        standing, order, refusal = self.standing, self.order, self.refusal
        if refusal and (standing is Standing.REFUSED or (order and order.status == Status.REJECTED)):
            step = _STEPS_OF_ORDERS.get(refusal.step, refusal.step)
            return refusal.words, f"{_UNCHARGED} {step.label}"
        if order and standing is Standing.ENDED:
            is_decided = order.status == Status.FAILED and decided_by_people(order)
            return _DECIDED_FAILED if is_decided else _ENDED[order.status]
        if order and (standing is Standing.EXPIRED or self.is_above_limit):
            return _ABOVE_LIMIT if self.is_above_limit else _EXPIRED_WITH_PAYMENT
        if standing is Standing.OPEN_ELSEWHERE and self.other and self.other.status == Status.NEEDS_ACTION:
            return _WORDS[standing][0], _("That payment needs action: its page says what to do.")
        if self.is_proposed or (refusal and standing is Standing.PAY_AGAIN):
            return self._words_of_second_payment(refusal)
        return _WORDS.get(standing, ("", ""))

    def _words_of_second_payment(self, refusal: Meaning | None) -> Words:
        if self.is_proposed:
            return _PROPOSED
        if refusal is None or (self.order and self.order.may_be_charged):
            return _IN_DOUBT
        return refusal.words, _PAY_AGAIN_LATER if self.is_closed else _PAY_AGAIN

    @cached_property
    def history(self) -> list[tuple[Inquiry, Inquiry | None]]:
        """The biller's answers with the one before each, when there is more than one."""
        answers = list(self.check.inquiries.exclude(answer=AnswerKind.NONE).select_related("asked_by"))
        return list(zip(answers, [None, *answers], strict=False)) if len(answers) > 1 else []

    @property
    def is_above_limit(self) -> bool:
        """Whether its total has risen since it was confirmed, above what this person pays without a second person."""
        order, total = self.order, self.check.total
        if order is None or total is None or Offer.PAY not in _OFFERS.get(self.standing, ()):
            return False
        return is_above_limit(order, total, self.person)

    @property
    def is_proposed(self) -> bool:
        """Whether its payment needs action and a proposed outcome waits for a second person, so nobody pays it."""
        order = self.order
        return order is not None and order.status == Status.NEEDS_ACTION and is_proposed(order)

    @property
    def is_closed(self) -> bool:
        """Whether the biller is in its daily closed hours."""
        return self.check.product.in_cut_off()

    @property
    def is_slow(self) -> bool:
        """Whether the biller takes so long, or gave a reason that we do not know, that the person should go on."""
        return self.standing is Standing.ASKING and (self._age > _SLOW_AFTER or self.check.error_code > "")

    @cached_property
    def offers(self) -> tuple[Offer, ...]:
        """The steps that can succeed for a person now, the best one first."""
        if self.is_slow:
            return (Offer.INQUIRE,)
        offers = (Offer.PAYMENT,) if self.is_above_limit or self.is_proposed else _OFFERS.get(self.standing, ())
        if self.refusal and self.standing in {Standing.REFUSED, Standing.ENDED}:
            offers = _OFFERS_AFTER_REFUSAL.get(Step(self.refusal.step), (Offer.CHECK,))
        impossible = {Offer.PAY} if self.approval_id else set()
        if self.is_closed or self.check.number_erased or not self.check.product.is_available:
            impossible.add(Offer.CHECK)
        if self.is_closed and self.standing is Standing.PAY_AGAIN:
            impossible.add(Offer.PAY)
        return tuple(offer for offer in offers if offer not in impossible)

    @property
    def is_for_counter(self) -> bool:
        """Whether there is something to do with it at the counter."""
        return bool(_AT_COUNTER.intersection(self.offers))

    @property
    def seconds_left(self) -> int:
        """Whole seconds in which it can still be paid."""
        if self.check.expires_at is None:
            return 0
        return max(0, int((self.check.expires_at - clock.now()).total_seconds()))

    @property
    def can_expire(self) -> bool:
        """Whether the clock is running: a person may still pay it until it expires."""
        can_be_paid = {Standing.PAYABLE, Standing.TOTAL_CHANGED, Standing.CONFIRM, Standing.PAY_AGAIN}
        return self.standing in can_be_paid and not self.is_proposed

    @property
    def version(self) -> tuple[object, ...]:
        """The values that decide what the page shows."""
        payment = self.order or self.other
        shown = (payment.status, payment.attempt) if payment else None
        return self.standing, self.offers, self.check.answered_at, shown, self.approval_id

    @property
    def is_moving(self) -> bool:
        """Whether news is expected, from the biller or about a payment."""
        return self.standing in {Standing.ASKING, Standing.PAYING, Standing.OPEN_ELSEWHERE}

    @property
    def reads_again(self) -> int | None:
        """Seconds until a bill on which nothing moves is read again: another person may pay it, or it expires."""
        if self.can_expire or self.standing is Standing.REPLACED:
            return min(_READ_EVERY, self.seconds_left + 1)
        return _READ_EVERY if self.standing is Standing.DECIDE else None

    @property
    def _age(self) -> float:
        return (timezone.now() - self.check.created_at).total_seconds()


def _other_ref(check: BillCheck) -> str | None:
    if check.now_standing == Standing.OPEN_ELSEWHERE:
        return check.open_ref
    return check.paid_ref if check.now_standing in {Standing.PAID_BEFORE, Standing.REFUSED, Standing.ENDED} else None
