"""The rows of the sandbox. Money is whole rupiah; the database's constraints refuse what must never happen.

Lock order: always the account's row first, then at most one transaction or inquiry.
"""

import uuid
from datetime import datetime

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.utils import timezone


class CallbackStyle(models.TextChoices):
    """The way in which callbacks are signed."""

    HMAC_SHA256_BODY = "hmac_sha256_body", "HMAC-SHA256 of the body"
    MD5_REF = "md5_ref", "MD5 of secret_id:secret_key:ref_id"
    NONE = "none", "Not signed"


class Account(models.Model):
    """The one merchant account: credentials, switches, balance in rupiah. Its row lock orders all money."""

    secret_id = models.CharField(max_length=64)
    secret_key = models.CharField(max_length=128)
    api_active = models.BooleanField(default=True)
    verified = models.BooleanField(default=True)
    allowed_ips: "models.Field[list[str], list[str]]" = ArrayField(models.CharField(max_length=64), default=list)
    callback_url = models.CharField(max_length=500, blank=True)
    callback_style = models.CharField(
        max_length=20, choices=CallbackStyle.choices, default=CallbackStyle.HMAC_SHA256_BODY
    )
    balance = models.BigIntegerField()
    opening_balance = models.BigIntegerField()
    # limits that a person or a test set, e.g. {"account": 20, "window": 2}; the others come from the settings
    limits = models.JSONField(default=dict)
    # the values of the last seeding, to know which values a person has changed since
    seeded = models.JSONField(default=dict)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(balance__gte=0), name="account_balance_not_negative"),
            models.CheckConstraint(condition=Q(pk=1), name="account_is_the_only_one"),
        ]

    def __str__(self) -> str:
        return self.secret_id


class Category(models.Model):
    """A category of products."""

    code = models.CharField(max_length=40, unique=True)
    name = models.CharField(max_length=80)
    type = models.CharField(max_length=8, choices=[("prepaid", "Prepaid"), ("postpaid", "Postpaid")])
    position = models.PositiveSmallIntegerField()

    class Meta:
        ordering = ["position"]

    def __str__(self) -> str:
        return self.name


class Brand(models.Model):
    """A brand within one category. Codes are unique over all categories; names are not."""

    code = models.CharField(max_length=40, unique=True)
    name = models.CharField(max_length=80)
    category = models.ForeignKey(Category, on_delete=models.CASCADE)
    position = models.PositiveSmallIntegerField()

    class Meta:
        ordering = ["position"]

    def __str__(self) -> str:
        return self.name


class Product(models.Model):
    """A product. `price` is what a purchase deducts; a bill's amount comes from its inquiry, plus `admin_fee`."""

    product_code = models.CharField(max_length=40, unique=True)
    product_name = models.CharField(max_length=120)
    brand = models.ForeignKey(Brand, on_delete=models.CASCADE)
    price = models.BigIntegerField()
    # the price in the product list after a rise, until the order that met it is accepted
    risen_price = models.BigIntegerField(null=True)
    admin_fee = models.BigIntegerField()
    status = models.CharField(max_length=8, choices=[("active", "Active"), ("inactive", "Inactive")], default="active")
    description = models.TextField(blank=True)
    cut_off_start = models.TimeField(null=True)
    cut_off_end = models.TimeField(null=True)
    position = models.PositiveIntegerField()
    delisted = models.BooleanField(default=False)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.CheckConstraint(condition=Q(price__gte=0) & Q(admin_fee__gte=0), name="product_money_not_negative")
        ]

    def __str__(self) -> str:
        return self.product_name

    @property
    def listed_price(self) -> int:
        """The price in the product list, rupiah."""
        return self.price if self.risen_price is None else self.risen_price

    def is_cut_off(self, at: datetime) -> bool:
        """Whether the nightly cut-off (Asia/Jakarta, may pass midnight) covers the aware time `at`."""
        start, end, local = self.cut_off_start, self.cut_off_end, timezone.localtime(at).time()
        if start is None or end is None:
            return False
        return start <= local < end if start <= end else local >= start or local < end


class Inquiry(models.Model):
    """An inquiry, one per ref_id. Pending until `valid_at` (null: until completed), payable until `expires_at`."""

    ref_id = models.CharField(max_length=64, unique=True)
    product = models.ForeignKey(Product, on_delete=models.CASCADE)
    destination = models.CharField(max_length=64)
    scenario = models.PositiveSmallIntegerField(null=True)
    status = models.CharField(max_length=7, choices=[("pending", "Pending"), ("valid", "Valid")])
    customer_name = models.CharField(max_length=80)
    amount = models.BigIntegerField()
    admin_fee = models.BigIntegerField()
    penalty = models.BigIntegerField()
    total = models.BigIntegerField()
    period = models.CharField(max_length=40)
    details = models.JSONField(default=list)
    valid_seconds = models.FloatField()
    created_at = models.DateTimeField(default=timezone.now)
    valid_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(total=F("amount") + F("admin_fee") + F("penalty")) & Q(total__gt=0),
                name="inquiry_total_is_the_sum",
            ),
            models.CheckConstraint(
                condition=Q(status="pending", expires_at=None) | Q(status="valid", expires_at__isnull=False),
                name="inquiry_valid_has_expiry",
            ),
        ]

    def __str__(self) -> str:
        return self.ref_id

    @property
    def state(self) -> str:
        """pending, valid or expired, now."""
        now = timezone.now()
        if self.expires_at is not None:
            return "expired" if self.expires_at <= now else "valid"
        return "valid" if self.valid_at is not None and self.valid_at <= now else "pending"


class Transaction(models.Model):
    """A purchase or a bill payment that was accepted and charged. `success` and `failed` are final."""

    trx_id = models.CharField(max_length=32, unique=True)
    ref_id = models.CharField(max_length=64, unique=True)
    kind = models.CharField(max_length=8, choices=[("purchase", "Purchase"), ("bill", "Bill payment")])
    product_code = models.CharField(max_length=40)
    product_name = models.CharField(max_length=120)
    destination = models.CharField(max_length=64)
    max_price = models.BigIntegerField(null=True)
    price = models.BigIntegerField()
    status = models.CharField(
        max_length=7, choices=[("pending", "Pending"), ("success", "Success"), ("failed", "Failed")], default="pending"
    )
    sn = models.CharField(max_length=120, null=True)  # noqa: DJ001 - null on the wire, never empty
    message = models.CharField(max_length=200)
    # the account's balance after this transaction's last movement: its debit or its refund
    balance = models.BigIntegerField()
    scenario = models.PositiveSmallIntegerField(null=True)
    settle_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=timezone.now)
    settled_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(condition=Q(price__gt=0), name="transaction_price_positive"),
            models.CheckConstraint(condition=Q(balance__gte=0), name="transaction_balance_not_negative"),
            models.CheckConstraint(
                condition=Q(status="success", sn__isnull=False) | (~Q(status="success") & Q(sn=None)),
                name="transaction_sn_only_when_successful",
            ),
        ]
        indexes = [
            models.Index(fields=["settle_at"], condition=Q(status="pending"), name="transaction_due"),
            models.Index(fields=["product_code", "destination"], name="transaction_bill"),
        ]

    def __str__(self) -> str:
        return self.ref_id


class MutationKind(models.TextChoices):
    """The reason why the balance moved."""

    DEBIT = "debit", "Debit"
    REFUND = "refund", "Refund"
    TOPUP = "topup", "Top-up"
    ADJUSTMENT = "adjustment", "Adjustment"


class Mutation(models.Model):
    """One movement of the balance, never changed. `amount` is signed: a charge is negative."""

    kind = models.CharField(max_length=10, choices=MutationKind.choices)
    ref_id = models.CharField(max_length=64, blank=True)
    amount = models.BigIntegerField()
    balance_after = models.BigIntegerField()
    note = models.CharField(max_length=200, blank=True)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["ref_id", "kind"], condition=Q(kind__in=["debit", "refund"]), name="mutation_once_per_ref_id"
            ),
            models.CheckConstraint(condition=Q(balance_after__gte=0), name="mutation_balance_not_negative"),
            models.CheckConstraint(
                condition=Q(kind="debit", amount__lt=0)
                | Q(kind__in=["refund", "topup"], amount__gt=0)
                | (Q(kind="adjustment") & ~Q(amount=0)),
                name="mutation_sign_fits_kind",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.amount}"


class ScenarioPlay(models.Model):
    """The time of a scenario's first play for a ref_id: a fault is played once, a repeat gets a normal answer."""

    ref_id = models.CharField(max_length=64)
    endpoint = models.CharField(max_length=40)
    at = models.DateTimeField(default=timezone.now)
    # the risen price that this order meets, rupiah
    price = models.BigIntegerField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["ref_id", "endpoint"], name="scenario_played_once")]

    def __str__(self) -> str:
        return self.ref_id


class LateArrival(models.Model):
    """A request whose connection was cut and which takes effect at `due_at`."""

    ref_id = models.CharField(max_length=64, unique=True)
    endpoint = models.CharField(max_length=40)
    fields = models.JSONField()
    due_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.ref_id


class LimitHit(models.Model):
    """An accepted request, which counts against a limit until its window has passed."""

    scope = models.CharField(max_length=60)
    at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["scope", "at"], name="limit_hit_scope_at")]

    def __str__(self) -> str:
        return self.scope


class ReceivedRequest(models.Model):
    """One request on the wire, without the value of its signature, and its answer."""

    at = models.DateTimeField(default=timezone.now)
    endpoint = models.CharField(max_length=60)
    method = models.CharField(max_length=10)
    source_ip = models.CharField(max_length=45)
    ref_id = models.CharField(max_length=64, blank=True)
    signature = models.CharField(
        max_length=11,
        choices=[("valid", "Valid"), ("wrong", "Wrong"), ("absent", "Absent"), ("not checked", "Not checked")],
        default="not checked",
    )
    # null: the connection was cut without an answer
    http_status = models.PositiveSmallIntegerField(null=True)
    error_code = models.CharField(max_length=40, blank=True)
    scenario = models.PositiveSmallIntegerField(null=True)
    answer = models.CharField(max_length=40, blank=True)
    body = models.TextField(blank=True)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["ref_id"], name="received_request_ref_id")]

    def __str__(self) -> str:
        return f"{self.endpoint} {self.http_status}"


class Delivery(models.Model):
    """A callback to deliver. `next_attempt_at` null: delivered, or given up."""

    delivery_id = models.UUIDField(default=uuid.uuid4, unique=True)
    ref_id = models.CharField(max_length=64)
    event = models.CharField(max_length=40)
    body = models.TextField()
    content = models.CharField(max_length=13, default="true")
    created_at = models.DateTimeField(default=timezone.now)
    next_attempt_at = models.DateTimeField(null=True)
    # attempts since it was queued or resent: the position in the schedule
    tries = models.PositiveSmallIntegerField(default=0)
    delivered_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["next_attempt_at"], condition=Q(next_attempt_at__isnull=False), name="delivery_due"),
            models.Index(fields=["ref_id"], name="delivery_ref_id"),
        ]

    def __str__(self) -> str:
        return str(self.delivery_id)

    @property
    def state(self) -> str:
        """waiting, delivered or given up."""
        if self.delivered_at is not None:
            return "delivered"
        return "given up" if self.next_attempt_at is None else "waiting"


class Attempt(models.Model):
    """One attempt of a delivery. `http_status` null: no answer within the time limit, see `error`."""

    delivery = models.ForeignKey(Delivery, on_delete=models.CASCADE, related_name="attempts")
    at = models.DateTimeField(default=timezone.now)
    url = models.CharField(max_length=500)
    http_status = models.PositiveSmallIntegerField(null=True)
    error = models.CharField(max_length=300, blank=True)
    milliseconds = models.PositiveIntegerField()

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.http_status or self.error}"
