"""A bill check: what was asked, and what the biller answered. Paying it is an Order that carries the check's ref_id."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pgtrigger
from django.conf import settings
from django.db import models
from django.db.models import Case, Exists, OuterRef, Q, Value, When
from django.db.models.functions import Now
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from purchases.models import Order, Product, SavedNumber
from purchases.order_life import FINAL, Status


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
        same_period = BillCheck.objects.filter(
            product_code=OuterRef("product_code"), destination=OuterRef("destination"), period=OuterRef("period")
        )
        paid_ones = Order.objects.filter(kind=Order.Kind.BILL, status=Status.SUCCESS).values("ref_id")
        return self.annotate(
            now_state=Case(
                When(Exists(order.filter(status=Status.SUCCESS)), then=Value(State.PAID)),
                When(Exists(order.filter(status__in=FINAL)), then=Value(State.NOT_PAYABLE)),
                When(answer=Answer.NONE, then=Value(State.PENDING)),
                When(answer=Answer.REFUSAL, then=Value(State.NOT_PAYABLE)),
                When(Exists(order.exclude(status=Status.HELD)), then=Value(State.VALID)),
                When(expires_at__lte=Now(), then=Value(State.EXPIRED)),
                When(~Q(period="") & Exists(same_period.filter(ref_id__in=paid_ones)), then=Value(State.NOT_PAYABLE)),
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
        return State.NOT_PAYABLE if self.paid_before else State.VALID

    @property
    def paid_before(self) -> Order | None:
        """Our successful payment of the same customer's same period, if there is one; this check's own included."""
        if not self.period:
            return None
        same_period = BillCheck.objects.same_bill(self).filter(period=self.period).values("ref_id")
        return Order.objects.filter(kind=Order.Kind.BILL, status=Status.SUCCESS, ref_id__in=same_period).first()

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
