"""Bills that come each month: the saved numbers that are followed, and the results of each month's check."""

from __future__ import annotations

import calendar
import datetime as dt

import pgtrigger
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Case, Count, Exists, F, OuterRef, Q, Subquery, Sum, Value, When
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from bills.models import PAID_FOR, BillCheck, open_payments
from bills.states import AnswerKind
from catalogue.models import ProductType
from core.looks import LookChoices
from core.triggers import never_truncated
from customers.models import SavedNumber
from purchases.models import Order
from purchases.models.orders import OrderQuerySet
from purchases.states import UNFULFILLED, Status
from upstream.error_codes import MEANINGS, ErrorCode, Next, OwnCode, Step

_OWES_NOTHING = (ErrorCode.BILL_NOT_AVAILABLE, ErrorCode.BILL_ALREADY_PAID, OwnCode.NOTHING_TO_PAY)
# With these codes the biller has not answered about the number, or they are about the ref_id of an earlier inquiry: we
# inquire again on another day.
NOT_NOW = [
    code
    for code, meaning in MEANINGS.items()
    if meaning.next in {Next.NEEDS_ACTION, Next.STOP, Next.ASK_STATUS} or meaning.step is Step.CHECK_AGAIN
]
_DAYS = (MinValueValidator(1), MaxValueValidator(31))


def day_in(month: dt.date, day: int) -> dt.date:
    """This day of the month; the last day of a shorter month."""
    return month.replace(day=min(day, calendar.monthrange(month.year, month.month)[1]))


class DueState(LookChoices):
    """The state of the bill of a month."""

    ASKING = "asking", "loader", "pending", _("Not answered yet")
    PAYING = "paying", "loader", "pending", _("Being paid")
    UNPAID = "unpaid", "file-invoice", "held", _("Unpaid")
    STAYS = "stays", "help", "unknown", _("Stays unpaid")
    GONE = "gone", "map-pin-off", "bad", _("Number gone or moved")
    PAID = "paid", "circle-check", "success", _("Paid")
    NOTHING = "nothing", "circle-check", "success", _("Nothing to pay")
    STOPPED = "stopped", "player-stop", "queued", _("No longer followed")


#: A bill without a fine is collected within this time.
COLLECT_WITHIN = dt.timedelta(days=3)
#: A person decides about these, once: go on, stop, or correct the number.
ASKS = (DueState.STAYS, DueState.GONE)
OWES = (DueState.UNPAID, DueState.STAYS)


def _home() -> Coalesce:
    """The branch of a row with a `number`: that of its last paid bill, else of the person who entered the customer."""
    paid = Order.objects.filter(
        destination=OuterRef("number__destination"),
        product=OuterRef("number__product"),
        kind=Order.Kind.BILL,
        status=Status.SUCCESS,
    )
    last = Subquery(paid.order_by("-created_at").values("payment__branch")[:1])
    return Coalesce(last, "number__customer__created_by__branch", output_field=models.BigIntegerField())


class FollowedNumberQuerySet(models.QuerySet["FollowedNumber"]):
    def waiting(self, today: dt.date) -> FollowedNumberQuerySet:
        """Numbers at a biller whose bill of this month was not checked yet: its day is still to come."""
        known = DueBill.objects.filter(number=OuterRef("number"), month__gte=today.replace(day=1))
        return self.filter(~Exists(known), number__product__type=ProductType.POSTPAID)

    def with_branch(self) -> FollowedNumberQuerySet:
        """Annotate `home`, the key of its branch."""
        return self.annotate(home=_home())


class FollowedNumber(models.Model):
    """A saved number at a biller whose bill is checked each month, on this day."""

    number = models.OneToOneField(SavedNumber, on_delete=models.CASCADE, primary_key=True, related_name="followed")
    day = models.PositiveSmallIntegerField(_("Day of the month"), validators=_DAYS)
    fine_day = models.PositiveSmallIntegerField(_("Fine from day"), null=True, blank=True, validators=_DAYS)
    first_month = models.DateField(help_text="The first day of the first month that is checked.")
    is_kept = models.BooleanField(
        default=False, help_text="A person wants to go on with it; the page asks again only after a bill is paid."
    )

    objects = FollowedNumberQuerySet.as_manager()

    class Meta:
        default_permissions = ()
        constraints = [
            models.CheckConstraint(condition=Q(day__gte=1, day__lte=31), name="followed_on_a_day"),
            models.CheckConstraint(
                condition=Q(fine_day__isnull=True) | Q(fine_day__gte=1, fine_day__lte=31), name="followed_fine_on_a_day"
            ),
        ]
        triggers = [never_truncated()]

    def __str__(self) -> str:
        return f"{self.number}: {self.day}"

    def next_day(self, today: dt.date) -> dt.date:
        """The day of the next check, if the number is `waiting`."""
        return day_in(max(self.first_month, today.replace(day=1)), self.day)


class DueBillQuerySet(models.QuerySet["DueBill"]):
    def open(self) -> DueBillQuerySet:
        """Bills that have not ended; at most one for each number."""
        return self.filter(closed_at=None)

    def with_branch(self) -> DueBillQuerySet:
        """Annotate `home`, the key of its branch."""
        return self.annotate(home=_home())

    def for_table(self) -> DueBillQuerySet:
        """Annotate everything that a list shows for a row, and read all of it.

        `old_total`: rupiah of the bill before. `paying_ref`: the ref_id of the open payment, or None.
        """
        before = BillCheck.objects.filter(
            product_code=OuterRef("bill_check__product_code"),
            destination=OuterRef("bill_check__destination"),
            answer=AnswerKind.BILL,
            created_at__lt=OuterRef("bill_check__created_at") - Value(PAID_FOR),
        )
        old_total = Subquery(before.order_by("-created_at", "-pk").values("total")[:1]) + F("number__product__fee")
        paying_ref = Subquery(_open_payment().order_by("-pk").values("ref_id")[:1])
        return self.annotate(old_total=old_total, paying_ref=paying_ref).select_related(  # type: ignore[no-redef] # the model names it
            "bill_check__product", "bill_check__order", "number__customer", "number__product__category"
        )

    def with_state(self) -> DueBillQuerySet:
        """Annotate `state` (a `DueState`), by the check, the payments and the clock of now."""
        since = OuterRef("bill_check__created_at")
        payments = Order.objects.filter(
            product_code=OuterRef("bill_check__product_code"),
            destination=OuterRef("bill_check__destination"),
            kind=Order.Kind.BILL,
            status=Status.SUCCESS,
            final_at__gte=since - Value(PAID_FOR),
        )
        # Another check of the bill may be the paid one: our check is valid for minutes.
        paid = payments.filter(Q(final_at__gte=since) | Q(bill_check__months__overlap=OuterRef("bill_check__months")))
        refused = Q(bill_check__answer=AnswerKind.REFUSAL)
        has_bill = Q(bill_check__answer=AnswerKind.BILL)
        table = {
            DueState.PAID: Exists(paid),
            DueState.PAYING: Exists(_open_payment()),
            DueState.NOTHING: refused & Q(bill_check__error_code__in=_OWES_NOTHING),
            DueState.GONE: refused & ~Q(bill_check__error_code__in=NOT_NOW),
            DueState.STAYS: has_bill & Q(was_unpaid=True, number__followed__is_kept=False),
            DueState.UNPAID: has_bill,
        }
        return self.annotate(  # type: ignore[no-redef] # the model names what this adds
            state=Case(
                When(~Q(outcome=""), then=F("outcome")),
                *(When(condition, then=Value(state)) for state, condition in table.items()),
                default=Value(DueState.ASKING),
                output_field=models.CharField(),
            )
        )

    def standing_at(self, *states: DueState) -> DueBillQuerySet:
        """Bills in one of these states now, `with_state`."""
        return self.with_state().filter(state__in=states)  # type: ignore[misc]

    def owed(self) -> dict[str, int | None]:
        """The bills to be paid, as they were checked: their `count`, and their `sum` in rupiah with the shop's fees."""
        total = Sum(F("bill_check__total") + F("number__product__fee"))
        return self.standing_at(*OWES).aggregate(count=Count("pk"), sum=total)


def _open_payment() -> OrderQuerySet:
    """The open payment of a row's bill, with any check."""
    return open_payments().filter(
        product_code=OuterRef("bill_check__product_code"), destination=OuterRef("bill_check__destination")
    )


class DueBill(models.Model):
    """The bill of one month of a followed number.

    While it is open, its state is not stored: it follows from its check and the payments (`with_state`). Any payment of
    the bill ends it, whichever check was paid.
    """

    number = models.ForeignKey(SavedNumber, on_delete=models.CASCADE, related_name="due_bills", db_index=False)
    month = models.DateField(help_text="Its first day.")
    due_on = models.DateField()
    fine_on = models.DateField(null=True)
    bill_check = models.ForeignKey(BillCheck, null=True, on_delete=models.PROTECT, related_name="+")
    ask_at = models.DateTimeField(help_text="When the biller is asked (again), while it has not answered.")
    asked_at = models.DateTimeField(null=True, help_text="When it was first asked.")
    was_unpaid = models.BooleanField(default=False, help_text="The month before ended unpaid.")
    closed_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=10, choices=DueState.choices, blank=True, help_text="How it ended.")

    objects = DueBillQuerySet.as_manager()

    # Annotated by `with_state` and `for_table`:
    state: str
    old_total: int | None
    paying_ref: str | None

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["number", "month"], name="due_bill_once_a_month"),
            models.UniqueConstraint(fields=["number"], condition=Q(closed_at=None), name="due_bill_one_open"),
            models.CheckConstraint(
                condition=Q(closed_at=None, outcome="") | Q(closed_at__isnull=False) & ~Q(outcome=""),
                name="due_bill_closed_with_outcome",
            ),
        ]
        indexes = [
            models.Index(fields=["due_on", "id"], name="due_bill_open", condition=Q(closed_at=None)),
            models.Index(fields=["outcome", "-due_on", "-id"], name="due_bill_ended"),
        ]
        triggers = [
            pgtrigger.Protect(
                name="closed_once", operation=pgtrigger.Update, condition=pgtrigger.Q(old__closed_at__isnull=False)
            ),
            never_truncated(),
        ]

    def __str__(self) -> str:
        return f"{self.number} {self.month:%Y-%m}"

    @property
    def to_pay(self) -> int | None:
        """Rupiah that the customer pays, with the shop's fee; None without a bill.

        An open bill whose payment failed has the present fee, as its next payment; an ended bill keeps the payment's.
        """
        check = self.bill_check
        if check is None or check.total is None:
            return None
        if self.closed_at is None and check.order and check.order.status in UNFULFILLED:
            return check.total + check.product.fee
        return check.to_pay

    @property
    def collect_by(self) -> dt.date:
        """The day by which it has to be collected, for the list of work: the day of the fine, or some days later."""
        return self.fine_on or self.due_on + COLLECT_WITHIN

    @property
    def has_fine(self) -> bool:
        """Whether the biller charges a fine by now, as far as we know."""
        fine = self.bill_check.penalty if self.bill_check else 0
        return bool(fine) or (self.fine_on is not None and self.fine_on <= timezone.localdate())

    @property
    def checked_late_on(self) -> dt.date | None:
        """The day on which it was first checked, if that was after its night."""
        day = timezone.localdate(self.asked_at) if self.asked_at else self.due_on
        return day if day > self.due_on else None
