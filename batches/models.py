"""A batch: the rows of one table, each with the ref_id of the only order that it may become. Whole rupiah."""

from __future__ import annotations

import datetime as dt
from uuid import NAMESPACE_OID, uuid5

import pgtrigger
from django.conf import settings
from django.db import models
from django.db.models import Count, Exists, OuterRef, Q, Sum
from django.urls import reverse

from approvals.models import Approval
from batches.states import FOR_A_PERSON, NAMES_AN_ORDER, BatchState, Fault, RowState
from bills.models import BillCheck
from branches.models import Branch
from catalogue.models import Product
from core import clock
from core.rights import Right
from core.triggers import never_truncated
from credit.methods import CASH, CREDIT
from customers.models import Customer
from drawers.models import Shift
from drawers.services import PaymentFacts
from purchases.models import Order
from purchases.states import UNFULFILLED, Status
from staff.models import User
from upstream.error_codes import meaning_of

#: The most rows of one table.
MOST_ROWS = 5_000
#: The texts that people have typed in a row; they are emptied at the end of the time for which they are kept.
TEXTS = ("typed", "what", "name", "note", "said")
# The condition of a refused change: a placed row may change only its texts, and only to empty ones.
_MORE_THAN_FORGETTING = """
    OLD.order_id IS NOT NULL AND (
        to_jsonb(OLD) - '{typed,what,name,note,said}'::text[]
            IS DISTINCT FROM to_jsonb(NEW) - '{typed,what,name,note,said}'::text[]
        OR concat(NEW.typed, NEW.what, NEW.name, NEW.note, NEW.said) <> ''
    )
"""
_RELEASED = (BatchState.RUNNING, BatchState.PAUSED, BatchState.ENDED)
#: A batch that was cancelled before anybody released it.
DROPPED = Q(state=BatchState.CANCELLED, released_at=None)
_COMPLETE = Q(product__isnull=False, destination__gt="", max_price__gt=0, selling_price__gt=0)


def outcome_is_unknown(*, way: str = "") -> Q:
    """Orders of unknown outcome, and those whose call must have ended: its worker was killed, or stored no answer.

    `way`: the way from a row to its order.
    """
    longest_call = dt.timedelta(seconds=settings.UPSTREAM_CONNECT_TIMEOUT + settings.UPSTREAM_READ_TIMEOUT)
    ended = {f"{way}status": Status.SENDING, f"{way}sent_at__lte": clock.now() - longest_call}
    return Q(**{f"{way}status": Status.UNKNOWN}) | Q(**ended)


class Batch(models.Model):
    """The rows of one table, checked as a whole; the same table again, by `sha256` and `nth`, is this batch."""

    name = models.CharField(max_length=100, help_text="The name of the file; empty for pasted rows.", blank=True)
    branch = models.ForeignKey(Branch, on_delete=models.PROTECT, related_name="+", db_index=False)
    sha256 = models.CharField(max_length=64, help_text="The digest of what the rows say.")
    nth = models.PositiveSmallIntegerField(
        default=1, help_text="Which batch of the same rows this is, from 1: a person wanted each."
    )
    again_of = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="again", db_index=False)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="+", db_index=False)
    state = models.CharField(max_length=10, choices=BatchState.choices, default=BatchState.CHECKED)

    # How the whole batch is paid, as it was released.
    method = models.CharField(max_length=20, default=CASH)
    customer = models.ForeignKey(Customer, null=True, on_delete=models.SET_NULL, related_name="+")
    reference = models.CharField(max_length=60, blank=True)
    agreed_in = models.ForeignKey(Shift, null=True, on_delete=models.PROTECT, related_name="+", db_index=False)
    released_by = models.ForeignKey(
        User,
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        db_index=False,
        help_text="Who sells it; empty: a command.",
    )
    released_at = models.DateTimeField(null=True)
    approval = models.ForeignKey(Approval, null=True, on_delete=models.PROTECT, related_name="+", db_index=False)

    next_at = models.DateTimeField(null=True, help_text="When its next bills are checked, or its next rows placed.")
    ended_at = models.DateTimeField(null=True)
    stopped_by = models.CharField(max_length=40, blank=True, help_text="The code of what paused it; empty: a person.")
    why_stopped = models.CharField(max_length=500, blank=True, help_text="Why it was paused, in words.")
    owes_back = models.BooleanField(
        default=False, db_default=False, help_text="Money was paid for rows that are never sold; it has to go back."
    )
    settled_at = models.DateTimeField(null=True, help_text="When a person noted that it has.")
    settled_by = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="+", db_index=False)
    texts_gone_at = models.DateTimeField(null=True, help_text="When what was typed in its rows was emptied.")

    class Meta:
        default_permissions = ()
        permissions = Right.of("batches.batch")
        constraints = [
            models.UniqueConstraint(fields=["branch", "sha256", "nth"], name="batch_meant_once"),
            models.CheckConstraint(condition=Q(state__in=BatchState.values), name="batch_state_known"),
            models.CheckConstraint(
                condition=Q(state=BatchState.CHECKED)
                | Q(state=BatchState.RUNNING, next_at__isnull=False)
                | Q(~Q(state=BatchState.RUNNING), next_at__isnull=True),
                name="batch_never_forgotten",
            ),
            models.CheckConstraint(
                condition=~Q(state__in=_RELEASED) | Q(released_at__isnull=False), name="batch_released_before_it_runs"
            ),
            models.CheckConstraint(
                condition=Q(state__in=[BatchState.ENDED, BatchState.CANCELLED], ended_at__isnull=False)
                | Q(~Q(state__in=[BatchState.ENDED, BatchState.CANCELLED]), ended_at__isnull=True),
                name="batch_ended_at_iff_ended",
            ),
            models.CheckConstraint(
                condition=~Q(owes_back=True) | Q(state__in=[BatchState.ENDED, BatchState.CANCELLED], settled_at=None),
                name="batch_owes_back_after_its_end",
            ),
            models.CheckConstraint(
                condition=Q(settled_at=None, settled_by=None) | Q(settled_at__isnull=False, settled_by__isnull=False),
                name="batch_settled_by_a_person",
            ),
        ]
        indexes = [
            models.Index(fields=["next_at"], name="batch_due", condition=Q(next_at__isnull=False)),
            models.Index(fields=["-created_at", "-id"], name="batch_newest"),
            models.Index(fields=["created_at"], name="batch_checked", condition=Q(state=BatchState.CHECKED)),
            models.Index(fields=["released_at"], name="batch_stopped", condition=Q(stopped_by__gt="")),
            models.Index(fields=["ended_at"], name="batch_owes_back", condition=Q(owes_back=True)),
            models.Index(fields=["released_at"], name="batch_paused", condition=Q(state=BatchState.PAUSED)),
        ]
        triggers = [
            pgtrigger.ReadOnly(name="what_it_is_never_changes", fields=["branch", "sha256", "nth", "again_of"]),
            pgtrigger.Protect(name="never_deleted", operation=pgtrigger.Delete),
            never_truncated(),
        ]

    def __str__(self) -> str:
        return f"{self.pk} {self.name}".strip()

    def get_absolute_url(self) -> str:
        return reverse("batch_detail", args=[self.pk])

    @property
    def is_released(self) -> bool:
        """Whether a person has released it: from then on its rows stay as they are."""
        return self.released_at is not None

    @property
    def is_paid_before(self) -> bool:
        """Whether customers paid for all rows at the release: not for a command, and not for a sale on an account."""
        return self.released_by_id is not None and self.method != CREDIT

    @property
    def payment(self) -> PaymentFacts:
        """The payment of each of its orders."""
        return PaymentFacts(
            method=self.method,
            customer=self.customer,
            reference=self.reference,
            agreed_in=self.agreed_in_id,
            is_agreed=True,
            branch=self.branch_id,
            paid_at_once=uuid5(NAMESPACE_OID, f"batch {self.pk}"),
        )


class BatchRowQuerySet(models.QuerySet["BatchRow"]):
    def for_table(self) -> BatchRowQuerySet:
        """The rows with everything that a list and its file show, read at once."""
        return self.select_related("batch", "product__brand", "product__category", "order__product", "bill_check")

    def counts(self) -> dict[str, int]:
        """The number of rows in all, of each group of `GROUPS`, and of those whose outcome is `unknown`."""
        groups = {name: Count("pk", filter=condition) for name, condition in GROUPS.items()}
        unknown = Count("pk", filter=outcome_is_unknown(way="order__"))
        return self.aggregate(all=Count("pk"), unknown=unknown, **groups)

    def totals(self) -> dict[str, int]:
        """The `count` of the rows to be sold, their `cost`, and what customers pay for them (`pays`); rupiah."""
        ready = self.filter(state=RowState.READY)
        return ready.aggregate(
            count=Count("pk"), cost=Sum("max_price", default=0), pays=Sum("selling_price", default=0)
        )

    def sold(self) -> dict[str, int]:
        """The same sums for the sold rows: what they have cost, and what customers have paid."""
        sold = self.filter(GROUPS["done"])
        return sold.aggregate(
            count=Count("pk"), cost=Sum("order__price", default=0), pays=Sum("order__selling_price", default=0)
        )

    def not_tried_again(self) -> BatchRowQuerySet:
        """The rows that no later batch tries again under the same line; a batch that was dropped does not count."""
        later = Batch.objects.filter(~DROPPED, again_of=OuterRef("batch"), rows__line=OuterRef("line"))
        return self.filter(~Exists(later))

    def never_ordered(self) -> dict[str, int]:
        """`count` and `pays` (rupiah) of the released rows without an order."""
        return self.filter(NEVER_ORDERED).aggregate(count=Count("pk"), pays=Sum("selling_price", default=0))


class BatchRow(models.Model):
    """One row: what was written, what it means, and the order that it became.

    A bill is paid by the order of its `bill_check`, which has the check's ref_id; the order of a purchase has `ref_id`.
    """

    batch = models.ForeignKey(Batch, on_delete=models.PROTECT, related_name="rows", db_index=False)
    line = models.PositiveIntegerField(help_text="Its line in the table, from 1.")
    kind = models.CharField(max_length=10, default=Order.Kind.PURCHASE)
    typed = models.CharField(max_length=100, blank=True, help_text="The number as it was written.")
    what = models.CharField(max_length=100, blank=True, help_text="The product or denomination as it was written.")
    name = models.CharField(max_length=120, blank=True)
    note = models.CharField(max_length=200, blank=True)
    reference = models.CharField(max_length=60, blank=True, help_text="The shop's or the customer's own.")

    product = models.ForeignKey(Product, null=True, on_delete=models.PROTECT, related_name="+", db_index=False)
    destination = models.CharField(max_length=64, blank=True)
    bill_check = models.ForeignKey(
        BillCheck,
        null=True,
        on_delete=models.PROTECT,
        related_name="batch_rows",
        help_text="Of a bill: the check whose total is paid.",
    )
    max_price = models.BigIntegerField(null=True, help_text="Rupiah: the cost, as it was checked.")
    selling_price = models.BigIntegerField(null=True, help_text="Rupiah: what the customer pays, as it was checked.")
    is_repeat_meant = models.BooleanField(
        default=False, help_text="A person wants it although the same was sold before."
    )
    is_twice_meant = models.BooleanField(
        default=False, db_default=False, help_text="A person wants it although the table has it twice."
    )
    state = models.CharField(max_length=10, choices=RowState.choices)
    fault = models.CharField(max_length=40, blank=True, help_text="A `Fault`, or the code of what refused its order.")
    said = models.CharField(
        max_length=500, blank=True, help_text="More about a `Fault`; for another code, the whole text."
    )
    ref_id = models.CharField(max_length=32, unique=True, help_text="The ref_id of the only order that it may become.")
    order = models.OneToOneField(Order, null=True, on_delete=models.PROTECT, related_name="batch_row")

    objects = BatchRowQuerySet.as_manager()

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["batch", "line"], name="batch_row_once"),
            models.CheckConstraint(condition=Q(state__in=RowState.values), name="batch_row_state_known"),
            models.CheckConstraint(
                condition=~Q(state__in=[RowState.READY, RowState.PLACED, RowState.REFUSED]) | _COMPLETE,
                name="batch_row_complete_before_it_is_sold",
            ),
            models.CheckConstraint(
                condition=~Q(kind=Order.Kind.BILL, state__in=[RowState.READY, RowState.PLACED])
                | Q(bill_check__isnull=False),
                name="batch_row_bill_checked_before_it_is_paid",
            ),
            models.CheckConstraint(
                condition=Q(state=RowState.PLACED, order__isnull=False)
                | Q(~Q(state=RowState.PLACED), order__isnull=True),
                name="batch_row_placed_iff_order",
            ),
            models.CheckConstraint(
                condition=Q(state__in=[RowState.WRONG, RowState.REFUSED], fault__gt="")
                | Q(state__in=[RowState.READY, RowState.PLACED], fault="")
                | Q(state__in=[RowState.LEFT_OUT, RowState.CANCELLED]),
                name="batch_row_fault_iff_wrong",
            ),
        ]
        indexes = [
            models.Index(fields=["batch", "state", "line"], name="batch_row_next"),
            models.Index(fields=["reference"], name="batch_row_by_reference", condition=Q(reference__gt="")),
        ]
        triggers = [
            pgtrigger.ReadOnly(name="its_order_is_one", fields=["batch", "line", "ref_id", "reference"]),
            pgtrigger.Protect(
                name="placed_once", operation=pgtrigger.Update, condition=pgtrigger.Condition(_MORE_THAN_FORGETTING)
            ),
            pgtrigger.Protect(name="never_deleted", operation=pgtrigger.Delete),
            never_truncated(),
        ]

    def __str__(self) -> str:
        return f"{self.batch_id}:{self.line}"

    def mark_wrong(self, fault: Fault, about: str = "") -> None:
        """Mark the row with this fault, and with more words `about` it; nothing is stored."""
        self.state, self.fault, self.said = RowState.WRONG, fault.value, about[:500]

    @property
    def is_bill(self) -> bool:
        return self.kind == Order.Kind.BILL

    @property
    def may_be_ticked(self) -> bool:
        """Whether it is a payable bill: a person chooses whether to pay it."""
        return self.is_bill and (self.state == RowState.READY or (self.state == RowState.LEFT_OUT and not self.fault))

    @property
    def fee(self) -> int:
        """Rupiah: the shop's fee of a bill, as it was checked."""
        return (self.selling_price or 0) - (self.max_price or 0) if self.is_bill else 0

    @property
    def idempotency_key(self) -> str:
        """The idempotency key of its order, if it is a purchase: the same for all tries."""
        return f"batch:{self.ref_id}"

    @property
    def holds_no_number(self) -> bool:
        """Whether `said` is the ref_id of another order, or amounts: no number of a customer."""
        return self.fault in {*NAMES_AN_ORDER, Fault.TOTAL_CHANGED}

    @property
    def words(self) -> str:
        """The reason why it cannot be sold, or was not placed; "" for a row without a fault."""
        if not self.fault:
            return ""
        label = str(Fault(self.fault).label) if self.fault in Fault.values else ""
        said = str(meaning_of(self.said).words) if self.fault == Fault.BILLER else self.said
        return ": ".join(filter(None, (label, said)))


#: Bills whose biller is being asked.
ASKING = Q(state=RowState.WRONG, fault=Fault.ASKING)
#: Bills whose biller had not answered when a person went on without the answer.
GIVEN_UP = Q(state=RowState.LEFT_OUT, fault=Fault.ASKING)
#: Bills that can be paid: a person has ticked them, or has not.
TICKED = Q(kind=Order.Kind.BILL, state=RowState.READY)
UNTICKED = Q(kind=Order.Kind.BILL, state=RowState.LEFT_OUT, fault="")
#: Rows of a released batch about which a person decides.
WAITING_FOR_A_PERSON = Q(state=RowState.WRONG, fault__in=sorted(FOR_A_PERSON))
#: Released rows without an order; each has a price. Rows that were wrong before the release are not among them.
NEVER_ORDERED = Q(selling_price__gt=0) & (
    Q(state=RowState.REFUSED)
    | Q(state__in=[RowState.WRONG, RowState.CANCELLED], fault__in=["", Fault.ASKING, *sorted(FOR_A_PERSON)])
)
#: The rows of a released batch by their result; each is in one group.
GROUPS: dict[str, Q] = {
    "asking": ASKING,
    "wrong": Q(~Q(fault=Fault.ASKING), state=RowState.WRONG),
    "waiting": Q(state=RowState.READY),
    "open": Q(state=RowState.PLACED) & ~Q(order__status__in=sorted({Status.SUCCESS, *UNFULFILLED})),
    "done": Q(state=RowState.PLACED, order__status=Status.SUCCESS),
    "failed": Q(state=RowState.REFUSED) | Q(state=RowState.PLACED, order__status__in=sorted(UNFULFILLED)),
    "left": Q(state__in=[RowState.LEFT_OUT, RowState.CANCELLED]),
}
