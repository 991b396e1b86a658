"""A bill check: what was asked, and what the biller answered. Paying it is an Order that carries the check's ref_id."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pgtrigger
from django.conf import settings
from django.db import models
from django.db.models import Case, Exists, F, Func, OuterRef, Q, Value, When
from django.db.models.functions import Coalesce, Now, NullIf
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from purchases.models import Order, OrderEvent, Product, SavedNumber
from purchases.models.orders import OrderQuerySet
from purchases.order_life import FINAL, HoldReason, Status

# For so long a payment of ours has paid the months of its bill. Some billers use one label for every month, which must
# not block next month's bill; and a month that is billed anew later is another bill.
_PAID_FOR = dt.timedelta(days=25)


class State(models.TextChoices):
    """What can be done with a check at this moment."""

    PENDING = "pending", _("Asking the biller")
    VALID = "valid", _("Payable")
    EXPIRED = "expired", _("Expired")
    PAID = "paid", _("Paid")
    NOT_PAYABLE = "not_payable", _("Not payable")


class Answer(models.TextChoices):
    """What the biller has answered; the one fact about its state that is stored."""

    NONE = "none", _("No answer yet")
    BILL = "bill", _("A bill")
    REFUSAL = "refusal", _("A refusal")


class BillCheckQuerySet(models.QuerySet["BillCheck"]):
    def with_state(self) -> BillCheckQuerySet:
        """Annotate `now_state`, the same as the property `state`, for lists and filters."""
        order = Order.objects.filter(ref_id=OuterRef("ref_id"))
        paid_before = BillCheck.objects.filter(
            _share_a_month(),
            Exists(_paid_lately().filter(ref_id=OuterRef("ref_id"))),
            product_code=OuterRef("product_code"),
            destination=OuterRef("destination"),
        )
        open_elsewhere = Order.objects.open().filter(
            ~Q(ref_id=OuterRef("ref_id")),
            ~Exists(lapsed_payments().filter(pk=OuterRef("pk"))),
            product_code=OuterRef("product_code"),
            destination=OuterRef("destination"),
        )
        return self.annotate(
            now_state=Case(
                When(Exists(order.filter(status=Status.SUCCESS)), then=Value(State.PAID)),
                When(Exists(order.filter(status__in=FINAL)), then=Value(State.NOT_PAYABLE)),
                When(answer=Answer.NONE, then=Value(State.PENDING)),
                When(answer=Answer.REFUSAL, then=Value(State.NOT_PAYABLE)),
                When(Exists(order.exclude(status=Status.HELD)), then=Value(State.VALID)),
                When(expires_at__lte=Now(), then=Value(State.EXPIRED)),
                When(Exists(paid_before) | Exists(open_elsewhere), then=Value(State.NOT_PAYABLE)),
                default=Value(State.VALID),
                output_field=models.CharField(),
            )
        )

    def due(self, now: dt.datetime) -> BillCheckQuerySet:
        """Checks that wait for an answer and are to be asked about now, oldest due first."""
        return self.filter(answer=Answer.NONE, next_ask_at__lte=now).order_by("next_ask_at", "pk")

    def same_bill(self, check: BillCheck) -> BillCheckQuerySet:
        """All checks of the same biller and customer number."""
        return self.filter(product_code=check.product_code, destination=check.destination)


def _paid_lately() -> OrderQuerySet:
    """The payments that count for "this month is paid"."""
    return Order.objects.filter(kind=Order.Kind.BILL, status=Status.SUCCESS, final_at__gte=timezone.now() - _PAID_FOR)


def lapsed_payments() -> OrderQuerySet:
    """Held payments whose own check has expired: never to be sent again, they give way to a new check's payment."""
    expired = BillCheck.objects.filter(ref_id=OuterRef("ref_id"), expires_at__lte=Now())
    in_doubt = OrderEvent.objects.filter(order=OuterRef("pk"), to_status=Status.UNKNOWN)
    held = Order.objects.filter(kind=Order.Kind.BILL, status=Status.HELD).exclude(hold_reason=HoldReason.NEVER_ARRIVED)
    return held.filter(Exists(expired), ~Exists(in_doubt))


def _share_a_month() -> Func:
    """In SQL: whether the check and that of the outer query have one of their `BillCheck.months` in common."""
    theirs = Func(
        _months(OuterRef("details"), OuterRef("period")),
        template="ARRAY(SELECT jsonb_array_elements_text(%(expressions)s))",
    )
    return Func(
        _months(F("details"), F("period")), theirs, function="jsonb_exists_any", output_field=models.BooleanField()
    )


def _months(details: F, period: F) -> Coalesce:
    """A JSON array: the labels that are not empty, else the period's text, else [null], which is like nothing."""
    labels = Func(
        details,
        template="""jsonb_path_query_array(%(expressions)s, '$[*].period ? (@ > "")')""",
        output_field=models.JSONField(),
    )
    whole = Func(NullIf(period, Value("")), function="jsonb_build_array", output_field=models.JSONField())
    return Coalesce(NullIf(labels, Value([], models.JSONField())), whole)


class BillCheck(models.Model):
    """One inquiry. Amounts in whole rupiah, empty until the biller has answered.

    Its state is not stored but told by what is: the answer, its expiry, and the order that carries its ref_id. So a
    check expires by itself, and can never disagree with its payment.
    """

    ref_id = models.CharField(max_length=64, unique=True, help_text="Ours; made before anything is asked.")
    product = models.ForeignKey(Product, on_delete=models.PROTECT, related_name="bill_checks")
    product_code = models.CharField(max_length=100)
    product_name = models.CharField(max_length=1000)
    destination = models.CharField(max_length=64)
    answer = models.CharField(max_length=10, choices=Answer.choices, default=Answer.NONE)

    customer_name = models.CharField(max_length=1000, blank=True)
    period = models.CharField(max_length=1000, blank=True)
    details = models.JSONField(default=list, help_text="[{period, amount, penalty}], rupiah.")
    amount = models.BigIntegerField(null=True, help_text="Rupiah.")
    admin_fee = models.BigIntegerField(null=True, help_text="Rupiah.")
    penalty = models.BigIntegerField(null=True, help_text="Rupiah.")
    total = models.BigIntegerField(null=True, help_text="Rupiah: what a payment deducts.")
    expires_at = models.DateTimeField(null=True, help_text="Until when it can be paid.")
    error_code = models.CharField(max_length=40, blank=True)
    message = models.CharField(max_length=1000, blank=True)

    checked_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    saved_number = models.ForeignKey(SavedNumber, null=True, on_delete=models.SET_NULL, related_name="bill_checks")
    batch = models.UUIDField(null=True, db_index=True, help_text="Checked together with others.")
    created_at = models.DateTimeField(default=timezone.now)
    answered_at = models.DateTimeField(null=True)
    asks = models.IntegerField(default=0, help_text="Requests sent for it.")
    next_ask_at = models.DateTimeField(null=True, help_text="When the sweep has to ask (again).")

    objects = BillCheckQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-pk"]
        permissions = [("check_bill", "Can check and pay bills")]
        constraints = [
            models.CheckConstraint(
                condition=~Q(answer="bill")
                | Q(total__gt=0, amount__gte=0, admin_fee__gte=0, penalty__gte=0, expires_at__isnull=False),
                name="bill_check_answer_is_complete",
            ),
            models.CheckConstraint(
                condition=Q(answer="none", answered_at__isnull=True) | ~Q(answer="none") & Q(next_ask_at__isnull=True),
                name="bill_check_asks_until_answered",
            ),
        ]
        indexes = [
            models.Index(fields=["-created_at", "-id"], name="bill_check_newest"),
            models.Index(fields=["product_code", "destination", "-created_at"], name="bill_check_by_customer"),
            models.Index(fields=["next_ask_at"], name="bill_check_due", condition=Q(next_ask_at__isnull=False)),
        ]
        triggers = [
            pgtrigger.ReadOnly(
                name="question_never_changes",
                fields=["ref_id", "product_code", "destination", "created_at"],
            ),
            pgtrigger.Protect(name="never_deleted", operation=pgtrigger.Delete),
        ]

    def __str__(self) -> str:
        return self.ref_id

    def get_absolute_url(self) -> str:
        return reverse("bill_detail", args=[self.ref_id])

    @property
    def order(self) -> Order | None:
        """Its payment, if anybody has paid or tried to."""
        return Order.objects.filter(ref_id=self.ref_id).first()

    @property
    def state(self) -> State:
        """What can be done with it now."""
        return self.state_with(self.order)

    def state_with(self, order: Order | None) -> State:
        """The same, for a page that has read the payment already."""
        if order is not None and order.is_final:
            return State.PAID if order.status == Status.SUCCESS else State.NOT_PAYABLE
        if self.answer != Answer.BILL:
            return State.PENDING if self.answer == Answer.NONE else State.NOT_PAYABLE
        if order is not None and order.status != Status.HELD:
            return State.VALID
        if self.is_past_expiry:
            return State.EXPIRED
        return State.NOT_PAYABLE if self.paid_before or self.open_elsewhere else State.VALID

    @property
    def months(self) -> frozenset[str]:
        """What it bills, in the biller's words: the labels of its details, or its period when there are none."""
        labels = frozenset(line["period"] for line in self.details if line.get("period"))
        return labels or frozenset({self.period} - {""})

    @property
    def paid_before(self) -> Order | None:
        """Our payment of this customer's bill that has paid one of its months lately; this check's own included."""
        paid = {
            order.ref_id: order
            for order in _paid_lately().filter(product_code=self.product_code, destination=self.destination)
        }
        checks = BillCheck.objects.filter(ref_id__in=paid)
        return next((paid[check.ref_id] for check in checks if check.months & self.months), None)

    @property
    def open_elsewhere(self) -> Order | None:
        """The open payment of this bill with another check, unless paying this one would make it give way."""
        same = Order.objects.open().filter(product_code=self.product_code, destination=self.destination)
        order = same.exclude(ref_id=self.ref_id).first()
        return None if order is None or lapsed_payments().filter(pk=order.pk).exists() else order

    @property
    def is_past_expiry(self) -> bool:
        """Whether the upstream would refuse a payment now (document, /v1/bill/pay 6)."""
        return self.expires_at is not None and self.expires_at <= timezone.now()

    def as_json(self) -> dict[str, Any]:
        """The check as the commands print it; amounts in whole rupiah, `None` where the biller has not said.

        `payment` is the status of the order that pays it.
        """
        order = self.order
        return {
            "ref_id": self.ref_id,
            "product_code": self.product_code,
            "destination": self.destination,
            "status": self.state_with(order).value,
            "payment": order.status if order else None,
            "customer_name": self.customer_name or None,
            "period": self.period or None,
            "details": self.details,
            "amount": self.amount,
            "admin_fee": self.admin_fee,
            "penalty": self.penalty,
            "total": self.total,
            "expires_at": self.expires_at.isoformat() if self.expires_at else None,
            "error_code": self.error_code or None,
            "message": self.message or None,
        }
