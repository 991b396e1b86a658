"""A bill check: the question, and the biller's answer. Paying it is an Order that carries the check's ref_id."""

from __future__ import annotations

import datetime as dt
from typing import Any, Self

import pgtrigger
from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import models
from django.db.models import Case, Exists, F, OuterRef, Q, Subquery, Value, When
from django.db.models.functions import Coalesce, Now, Reverse
from django.urls import reverse
from django.utils import timezone

from audit.history import history_of
from bills.states import STANDINGS, AnswerKind, BillState, Standing
from catalogue.models import Product
from core import clock
from core.money import rupiah
from core.numbers import erased_name, erased_number
from core.rights import Right
from core.search import MOST_CLOSELY, found_by, newest_of, words_being_typed, words_of, words_that_begin
from core.together import Given
from core.transactions import TRANSACTION_NUMBER
from core.triggers import append_only, never_truncated, own_transaction, stays_erased
from customers.models import LEAST_END, SavedNumber
from gateway.models import UpstreamAccount
from purchases.models import Order
from purchases.models.orders import OrderQuerySet, may_be_charged
from purchases.states import FINAL, OPEN, UNFULFILLED, ActionReason, Status
from upstream.error_codes import meaning_of

# A payment of ours has paid the months of its bill for this time. Some billers use one label for every month, which
# must not block next month's bill; and a month that is billed again later is another bill.
PAID_FOR = dt.timedelta(days=25)
Moment = dt.datetime | Now | Given


class BillCheckQuerySet(models.QuerySet["BillCheck"]):
    def with_standing(
        self, now: dt.datetime | Given | None = None, paid_since: Given | None = None
    ) -> BillCheckQuerySet:
        """Annotate `now_standing` (a `Standing`), and the ref_ids of orders and checks that block the payment, or None.

        `paid_ref`: our latest order that has paid one of its months (any month, when the biller has refused it).
        `open_ref`: the open payment of the bill with another check. `newer_ref`: the newest check that can be paid.
        `now`, `paid_since`: only for a query that is built once a process and gets its moments later (`Given`).
        """
        now = now or clock.now()
        since: Any = paid_since or now - PAID_FOR
        same_bill = {"product_code": OuterRef("product_code"), "destination": OuterRef("destination")}
        others = Order.objects.filter(**same_bill).exclude(ref_id=OuterRef("ref_id"))
        paid = others.filter(kind=Order.Kind.BILL, status=Status.SUCCESS, final_at__gte=since)
        paid_month = paid.filter(bill_check__months__overlap=OuterRef("months"))
        open_one = others.open().exclude(_over(now))
        newer = BillCheck.objects.filter(
            ~Exists(paid_month), **same_bill, pk__gt=OuterRef("pk"), answer=AnswerKind.BILL, order=None
        ).filter(expires_at__gt=now)
        # The first true condition decides.
        table = {
            Standing.PAID: Q(order__status=Status.SUCCESS),
            Standing.ENDED: Q(order__status__in=FINAL),
            Standing.PAYING: Q(order__status__in=OPEN - {Status.NEEDS_ACTION}),
            Standing.UNANSWERED: Q(answer=AnswerKind.NONE, next_poll_at=None),
            Standing.ASKING: Q(answer=AnswerKind.NONE),
            Standing.DECIDE: Q(may_be_charged("order__"), _cannot_be_paid(now), order__isnull=False),
            Standing.REFUSED: Q(answer=AnswerKind.REFUSAL),
            Standing.EXPIRED: Q(expires_at__lte=now),
            Standing.PAID_BEFORE: Exists(paid_month),
            Standing.CONFIRM: Q(~Q(total=F("order__max_price")), order__action_reason=ActionReason.AMOUNT_MISMATCH),
            Standing.TOTAL_CHANGED: Q(
                ~Q(answered_at__gt=F("order__sent_at")), order__action_reason=ActionReason.AMOUNT_MISMATCH
            ),
            Standing.PAY_AGAIN: Q(order__isnull=False),
            Standing.OPEN_ELSEWHERE: Exists(open_one),
            Standing.REPLACED: Exists(newer),
        }
        last_paid, last_month = (
            Subquery(orders.order_by("-final_at", "-pk").values("ref_id")[:1]) for orders in (paid, paid_month)
        )
        return self.annotate(  # type: ignore[no-redef] # the model names what this adds
            now_standing=Case(
                *(When(condition, then=Value(standing)) for standing, condition in table.items()),
                default=Value(Standing.PAYABLE),
                output_field=models.CharField(),
            ),
            paid_ref=Case(When(answer=AnswerKind.REFUSAL, then=last_paid), default=last_month),
            open_ref=Subquery(open_one.values("ref_id")[:1]),
            newer_ref=Subquery(newer.order_by("-pk").values("ref_id")[:1]),
        )

    def for_table(self) -> BillCheckQuerySet:
        """The checks with everything that a row of the list and of its file shows."""
        return self.with_standing().select_related("order", "product")

    def in_state(self, state: str) -> BillCheckQuerySet:
        """Checks in this `BillState`."""
        now, wanted = clock.now(), BillState(state)
        every, needs_action = BillCheck.objects.all(), Q(order__status=Status.NEEDS_ACTION)
        if wanted == BillState.PAID:
            return self.filter(order__status=Status.SUCCESS)
        if wanted == BillState.EXPIRED:
            over = Q(Q(order=None) | needs_action, answer=AnswerKind.BILL, expires_at__lte=now)
            return self.filter(over | Q(may_be_charged("order__"), needs_action, answer=AnswerKind.REFUSAL))
        # The standing is computed only for the few that are unanswered, not expired yet, or being paid.
        moving = found_by(
            every.filter(answer=AnswerKind.NONE),
            every.filter(expires_at__gt=now),
            every.filter(order__in=Order.objects.open().filter(kind=Order.Kind.BILL).values("ref_id")),
        )
        moving_checks = every.filter(moving).with_standing().filter(now_standing__in=STANDINGS[wanted])  # type: ignore[misc]
        if wanted != BillState.NOT_PAYABLE:
            return self.filter(pk__in=moving_checks.values("pk"))
        refused = Q(order=None) | Q(needs_action & ~may_be_charged("order__"))
        ended = Q(order__status__in=UNFULFILLED)
        return self.filter(ended | Q(refused, answer=AnswerKind.REFUSAL) | Q(pk__in=moving_checks.values("pk")))

    def payable(self) -> BillCheckQuerySet:
        """Checks that can be paid now: their standing is `PAYABLE`."""
        # The standing is computed only for the few that have not expired.
        valid = self.filter(order=None, answer=AnswerKind.BILL, expires_at__gt=clock.now())
        return valid.with_standing().filter(now_standing=Standing.PAYABLE)  # type: ignore[misc]

    def matching(self, text: str, *, by_part: bool = True, closely: bool = False) -> BillCheckQuerySet:
        """Checks with this ref_id or customer number (also a beginning of either, or the end of a number), or words of
        the name.

        Only the last of several words may be unfinished, unless that finds no name. Without `by_part`, only the full
        number matches: for people who may not see it and could try digit after digit. `closely`: only the full ref_id,
        the full number or its last digits (at least `LEAST_END`), which few checks share.
        """
        plain = text.strip().upper()
        bare = "".join(c for c in text if c.isalnum())
        # Nobody finds the check of an erased customer by number or name.
        seen = self.filter(Q(number_erased=False) | Q(ref_id__startswith=plain))
        if closely:
            numbers = BillCheck.objects.alias(backwards=Reverse("destination"))
            ends = by_part and len(bare) >= LEAST_END
            number = {"backwards__startswith": bare[::-1]} if ends else {"destination": bare}
            return seen.filter(found_by(numbers.filter(ref_id=plain), numbers.filter(**number), most=MOST_CLOSELY))
        every = BillCheck.objects.alias(backwards=Reverse("destination"), words=words_of("customer_name"))
        typed = words_being_typed(text)
        named = newest_of(every.filter(words=typed)) if typed else []
        by_name = every.filter(pk__in=named) if named else every.filter(words=words_that_begin(text))
        ways = [every.filter(ref_id__startswith=plain), by_name]
        if bare and by_part:
            ways += [every.filter(destination__startswith=bare), every.filter(backwards__startswith=bare[::-1])]
        elif bare:
            ways.append(every.filter(destination=bare))
        return seen.filter(found_by(*ways))

    def forget_number(self) -> int:
        """Mask number and name of these checks for everybody; returns how many. `BillCheck.number_erased`.

        They are locked in the order of their keys, as a payment of several locks them. Call it in a transaction.
        """
        rows = self.filter(number_erased=False).order_by("pk").select_for_update(no_key=True)
        keys = list(rows.values_list("pk", flat=True))
        return BillCheck.objects.filter(pk__in=keys).update(number_erased=True)

    def due(self, now: dt.datetime) -> BillCheckQuerySet:
        """Checks that wait for an answer and whose biller is to be asked now, oldest due first."""
        return self.filter(answer=AnswerKind.NONE, next_poll_at__lte=now).order_by("next_poll_at", "pk")


def _cannot_be_paid(now: Moment, check: str = "") -> Q:
    """The condition that an answered check has expired or was refused. `check`: the lookup to it ("bill_check__")."""
    return Q(**{f"{check}expires_at__lte": now}) | Q(**{f"{check}answer": AnswerKind.REFUSAL})


def _over(now: Moment) -> Q:
    """The condition for payments that need action, were certainly not charged, and whose check can no longer be paid.

    A payment from before a restore is excluded: it may have been sent again in the lost time, so a person decides.
    """
    is_lost = UpstreamAccount.objects.filter(restored_at__gt=Coalesce(OuterRef("sent_at"), OuterRef("created_at")))
    return Q(~Exists(is_lost), _cannot_be_paid(now, "bill_check__"), ~may_be_charged(), status=Status.NEEDS_ACTION)


def open_payments() -> OrderQuerySet:
    """Payments of bills that have not ended, except those that can never be sent again.

    It uses the database's clock, so a query that is built once in a process may contain it.
    """
    return Order.objects.open().filter(kind=Order.Kind.BILL).exclude(_over(Now()))


def payments_that_are_over() -> OrderQuerySet:
    """Payments that need action and can never be sent again; the payment of a new check replaces them."""
    return Order.objects.filter(_over(clock.now()))


def _paid_for_good() -> pgtrigger.Trigger:
    """The amounts of a bill never change once its payment has succeeded."""
    return pgtrigger.Trigger(
        name="paid_for_good",
        when=pgtrigger.Before,
        operation=pgtrigger.Update,
        condition=pgtrigger.AnyChange("total", "amount", "admin_fee", "penalty", "details", "months", "order"),
        func="IF EXISTS (SELECT FROM purchases_order WHERE ref_id = OLD.order_id AND status IN ('success', 'reversed'))"
        " THEN RAISE EXCEPTION 'the bill % is paid: its amounts never change', OLD.ref_id; END IF; RETURN NEW;",
    )


# The same rule for two copies, as SQL. An answer that came during the settling of the payment may differ: it has an
# inquiry in the same transaction.
_CHANGED_AFTER_PAYMENT = """
    (old.total, old.amount, old.admin_fee, old.penalty, old.details, old.months, old.order_id) IS DISTINCT FROM
    (new.total, new.amount, new.admin_fee, new.penalty, new.details, new.months, new.order_id)
    AND EXISTS (
        SELECT FROM purchases_order payment JOIN purchases_orderhistory paid ON paid.pgh_obj_id = payment.id
         WHERE payment.ref_id = old.order_id AND paid.status IN ('success', 'reversed') AND paid.txid < new.txid
           AND NOT (new.pgh_created_at < paid.pgh_created_at + interval '10 minutes' AND EXISTS (
               SELECT FROM bills_inquiry asked
                WHERE asked.bill_check_id = new.pgh_obj_id AND asked.txid = new.txid))
    )
"""


class BillCheck(models.Model):
    """One question to a biller, with its present answer. Amounts in whole rupiah, empty until the biller has answered.

    Its standing is not stored: it follows from the answer, the expiry and the payments (`with_standing`). So a check
    expires by itself, and can never disagree with its payment.
    """

    ref_id = models.CharField(max_length=64, unique=True, help_text="Ours; made before anything is asked.")
    product = models.ForeignKey(Product, on_delete=models.PROTECT, related_name="bill_checks")
    product_code = models.CharField(max_length=100)
    product_name = models.CharField(max_length=1000)
    destination = models.CharField(max_length=64)
    number_erased = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Its customer was erased: no page and no file shows number and name whole any more.",
    )
    order = models.OneToOneField(
        Order, null=True, on_delete=models.PROTECT, related_name="bill_check", to_field="ref_id", help_text="Pays it."
    )
    answer = models.CharField(max_length=10, choices=AnswerKind.choices, default=AnswerKind.NONE)

    customer_name = models.CharField(max_length=1000, blank=True)
    period = models.CharField(max_length=1000, blank=True)
    details = models.JSONField(default=list, help_text="[{period, amount, penalty}], rupiah.")
    months = ArrayField(
        models.CharField(max_length=1000),
        default=list,
        help_text="What it bills, in the biller's words: the periods of its details, or else its whole period.",
    )
    amount = models.BigIntegerField(null=True, help_text="Rupiah.")
    admin_fee = models.BigIntegerField(null=True, help_text="Rupiah.")
    penalty = models.BigIntegerField(null=True, help_text="Rupiah.")
    total = models.BigIntegerField(null=True, help_text="Rupiah: what a payment deducts.")
    expires_at = models.DateTimeField(null=True, help_text="Until when it can be paid.")
    error_code = models.CharField(max_length=40, blank=True)
    message = models.CharField(max_length=1000, blank=True)

    checked_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="Who asked last; the inquiries are made for them.",
    )
    saved_number = models.ForeignKey(SavedNumber, null=True, on_delete=models.SET_NULL, related_name="bill_checks")
    batch = models.UUIDField(null=True, db_index=True, help_text="The same in bills that were checked together.")
    created_at = models.DateTimeField(default=timezone.now)
    answered_at = models.DateTimeField(null=True)
    polls = models.IntegerField(default=0, help_text="Inquiries sent for it.")
    next_poll_at = models.DateTimeField(null=True, help_text="When the sweep has to inquire (again).")

    objects = BillCheckQuerySet.as_manager()
    # The condition on two copies in a verification of the audit
    copy_rules = {"paid_for_good": _CHANGED_AFTER_PAYMENT}

    # Annotated by `with_standing`:
    now_standing: str
    paid_ref: str | None
    open_ref: str | None
    newer_ref: str | None

    class Meta:
        default_permissions = ()
        permissions = Right.of("bills.billcheck")
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.CheckConstraint(
                condition=~Q(answer="bill")
                | Q(total__gt=0, amount__gte=0, admin_fee__gte=0, penalty__gte=0, expires_at__isnull=False),
                name="bill_check_answer_is_complete",
            ),
            models.CheckConstraint(
                condition=Q(answer="none", answered_at__isnull=True) | ~Q(answer="none") & Q(next_poll_at__isnull=True),
                name="bill_check_polls_until_answered",
            ),
            models.CheckConstraint(
                condition=Q(order__isnull=True) | Q(order=F("ref_id")), name="bill_check_order_has_its_ref_id"
            ),
        ]
        indexes = [
            models.Index(fields=["-created_at", "-id"], name="bill_check_newest"),
            models.Index(fields=["product_code", "destination", "-created_at"], name="bill_check_by_customer"),
            models.Index(fields=["next_poll_at"], name="bill_check_due", condition=Q(next_poll_at__isnull=False)),
            models.Index(fields=["expires_at"], name="bill_check_by_expiry"),
            models.Index(fields=["-created_at"], name="bill_check_unanswered", condition=Q(answer="none")),
            # For the search.
            models.Index(fields=["destination"], opclasses=["varchar_pattern_ops"], name="bill_check_by_number"),
            models.Index(OpClass(Reverse("destination"), "text_pattern_ops"), name="bill_check_by_end_of_number"),
            GinIndex(words_of("customer_name"), name="bill_check_by_words"),
        ]
        triggers = [
            pgtrigger.ReadOnly(
                name="question_never_changes",
                fields=["ref_id", "product_code", "destination", "created_at"],
            ),
            pgtrigger.Protect(name="never_deleted", operation=pgtrigger.Delete),
            never_truncated(),
            _paid_for_good(),
            stays_erased(),
        ]

    def __str__(self) -> str:
        return self.ref_id

    def get_absolute_url(self) -> str:
        return reverse("bill_detail", args=[self.ref_id])

    @classmethod
    def from_db(cls, *facts: Any, **how: Any) -> Self:
        """The stored check. For an erased customer, its number and name are masked for every reader."""
        check = super().from_db(*facts, **how)
        if vars(check).get("number_erased"):
            check.destination = erased_number(check.destination, name=check.customer_name)
            check.customer_name = erased_name(check.customer_name)
        return check

    @property
    def fee(self) -> int:
        """Rupiah: the shop's fee, as the payment has it, or as the biller has it now."""
        return self.product.fee if self.order is None else self.order.fee or 0

    @property
    def to_pay(self) -> int | None:
        """Rupiah that the customer pays, the total with the shop's fee; None without a bill."""
        return None if self.total is None else self.total + self.fee

    @property
    def standing(self) -> Standing:
        """Its standing now: this reads the database (for lists: `with_standing`)."""
        return Standing(BillCheck.objects.with_standing().get(pk=self.pk).now_standing)

    @property
    def state(self) -> BillState:
        """The standing in short."""
        return self.standing.state

    def as_json(self) -> dict[str, Any]:
        """The check as the commands print it; amounts in whole rupiah, `None` where the biller has not said.

        `payment` is the status of the order that pays the bill.
        """
        return {
            "ref_id": self.ref_id,
            "product_code": self.product_code,
            "destination": self.destination,
            "status": self.state.value,
            "payment": self.order.status if self.order else None,
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


# Polling times and the masking of the number say nothing about money.
BillCheckHistory = history_of(BillCheck, exclude=["next_poll_at", "polls", "number_erased"])


class Inquiry(models.Model):
    """An answer of the biller as it came, one for each inquiry, also a refusal. Append-only."""

    bill_check = models.ForeignKey(BillCheck, on_delete=models.PROTECT, related_name="inquiries")
    sent_no = models.BigIntegerField(unique=True, help_text="The number of the exchange with the upstream.")
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    asked_at = models.DateTimeField(default=timezone.now)
    answer = models.CharField(
        max_length=10,
        choices=AnswerKind.choices,
        default=AnswerKind.NONE,
        help_text="The answer to this inquiry: a bill or a refusal; none if the bill was still being prepared.",
    )
    total = models.BigIntegerField(null=True, help_text="Rupiah.")
    error_code = models.CharField(max_length=40, blank=True)
    raw = models.JSONField(null=True, help_text="The upstream's message; it holds no secret and no signature.")
    txid = models.BigIntegerField(db_default=TRANSACTION_NUMBER, editable=False)

    class Meta:
        ordering = ["sent_no"]
        verbose_name_plural = "inquiries"
        indexes = [models.Index(fields=["txid", "id"], name="inquiry_to_seal")]
        triggers = [*append_only(), own_transaction()]

    def __str__(self) -> str:
        return f"{self.answer} {self.total or self.error_code}".strip()

    @property
    def words(self) -> str:
        """The total, or in a few words the reason for none."""
        return str(meaning_of(self.error_code).brief) if self.error_code else rupiah(self.total)
