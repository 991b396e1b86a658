"""The progress of reconciliation, its findings, and people's decisions about them."""

from __future__ import annotations

import datetime as dt

import pgtrigger
from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy as _, pgettext_lazy

from approvals.models import Approval
from audit.history import history_of
from core.rights import Right
from core.triggers import never_truncated
from gateway.models import Exchange
from ledger.models import Entry
from purchases.models import Order


class Reconciliation(models.Model):
    """The progress of reconciliation. One row, locked by its runs; while `quiet` is empty the books are not open yet.

    The columns are those of `reconciliation.quiet.Progress`. Amounts in rupiah.
    """

    only = models.BooleanField(primary_key=True, default=True, editable=False)
    quiet = models.ForeignKey(
        Exchange, null=True, on_delete=models.PROTECT, related_name="+", help_text="The last quiet reading."
    )
    booked = models.BigIntegerField(default=0, help_text="Opening balance and entries of orders before that reading.")
    outside = models.BigIntegerField(default=0, help_text="Rupiah: the sum of the differences that no order explains.")
    judged_no = models.BigIntegerField(default=0, help_text="Readings that were answered by this number are judged.")
    read_again_at = models.DateTimeField(null=True, help_text="When to read the balance again, before its minute.")

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(only=True), name="reconciliation_is_one_row")]
        triggers = [pgtrigger.Protect(name="never_deleted", operation=pgtrigger.Delete)]

    def __str__(self) -> str:
        return f"judged up to {self.judged_no}" if self.quiet_id else "not begun"


class ReconciliationRun(models.Model):
    """One comparison of the books with the upstream's balance. Amounts in rupiah."""

    class Trigger(models.TextChoices):
        BEAT = "beat", _("By itself")
        READING = "reading", _("After a balance request")
        PERSON = "person", _("On demand")

    class Result(models.TextChoices):
        WAITING = "waiting", _("Waiting")
        BALANCED = "balanced", _("Balanced")
        PROVISIONAL = "provisional", _("Provisional")
        TOPUP = "topup_unacknowledged", _("Top-up, not yet acknowledged")
        UNEXPLAINED = "unexplained", _("Unexplained difference")

        @property
        def look(self) -> tuple[str, str]:
            """Its icon and colour. The word stands beside them, so that colour is never the only sign."""
            return _RESULT_LOOKS[self]

    at = models.DateTimeField(default=timezone.now)
    trigger = models.CharField(max_length=10, choices=Trigger.choices)
    state = models.CharField(max_length=20, choices=Result.choices)
    readings_evaluated = models.IntegerField(default=0)
    reported = models.BigIntegerField(null=True, help_text="The newest balance that the upstream reported.")
    expected = models.BigIntegerField(null=True, help_text="What our books expected at that moment.")
    difference = models.BigIntegerField(null=True, help_text="Reported − expected; empty while it cannot be said.")
    blocking = models.JSONField(default=list, help_text="ref_ids whose outcome it waits for.")

    class Meta:
        default_permissions = ()
        permissions = Right.of("reconciliation.reconciliationrun")
        ordering = ["-pk"]
        indexes = [
            models.Index(fields=["-at"], name="reconciliation_run_newest"),
            models.Index(fields=["state", "-at"], name="reconciliation_run_by_state"),
        ]
        triggers = [
            pgtrigger.ReadOnly(
                name="what_it_said_never_changes",
                fields=["trigger", "state", "reported", "expected", "difference", "blocking"],
            ),
            pgtrigger.Protect(name="never_deleted", operation=pgtrigger.Delete),
            never_truncated(),
        ]

    def __str__(self) -> str:
        return f"{self.state} at {self.at:%Y-%m-%d %H:%M:%S}"


def _closed(by: str = "") -> Q:
    """The condition of a difference that is closed by only the column `by`, or open."""
    columns = {f"{name}__isnull": name != by for name in ("entry", "closed_with", "explained_by")}
    return Q(state="acknowledged" if by else "open", acknowledged_at__isnull=not by, **columns)


_RESULT_LOOKS = {
    ReconciliationRun.Result.WAITING: ("hourglass", "queued"),
    ReconciliationRun.Result.BALANCED: ("circle-check", "good"),
    ReconciliationRun.Result.PROVISIONAL: ("clock", "queued"),
    ReconciliationRun.Result.TOPUP: ("cash", "warn"),
    ReconciliationRun.Result.UNEXPLAINED: ("alert-octagon", "bad"),
}


class DifferenceQuerySet(models.QuerySet["Difference"]):
    def open(self) -> DifferenceQuerySet:
        """Differences that nobody has acknowledged yet."""
        return self.filter(state=Difference.State.OPEN)


class Difference(models.Model):
    """The upstream's balance moved by `amount` (rupiah, signed), and no order of ours explains it. Final, and exact."""

    class State(models.TextChoices):
        OPEN = "open", pgettext_lazy("difference", "Open")
        ACKNOWLEDGED = "acknowledged", _("Acknowledged")

    class Label(models.TextChoices):
        TOPUP = "topup", _("Top-up, not yet acknowledged")
        UNREPORTED_REFUND = "unreported_refund", _("Refund of an order that has not failed")
        DOUBLE_REFUND = "double_refund", _("Refunded twice")
        LATE_REFUND = "late_refund", _("Late refund")
        ADJUSTED_BEFORE = "adjusted_before", _("Adjusted before its order was decided")
        MISSING_REFUND = "missing_refund", _("Refund is missing")
        UNEXPLAINED = "unexplained_debit", _("Unexplained debit")

        @property
        def look(self) -> tuple[str, str]:
            return _LABEL_LOOKS[self]

    class Why(models.TextChoices):
        """The reason why an order may be behind it."""

        MISSING_REFUND = "missing_refund", _("It failed in that time, so its price should have come back.")
        OUTCOME_UNKNOWN = "outcome_unknown", _("Its outcome is not known; the provider may have charged it.")
        CHARGED_AFTER_ALL = "charged_after_all", _("We know of no charge for it; it may have been charged after all.")
        TWO_TOGETHER = "two_together", _("It may have been charged: with the other one it makes exactly this amount.")
        DOUBLE_DEBIT = "double_debit", _("It was charged in that time, perhaps twice.")
        DOUBLE_REFUND = "double_refund", _("It was refunded in that time, perhaps twice.")
        REFUND_UNREPORTED = "refund_unreported", _("It is still open; the provider may have refunded it.")
        REFUND_WITHOUT_FAILURE = "refund_without_failure", _("It succeeded; the provider may have taken it back.")
        NEVER_DEBITED = "never_debited", _("It was accepted in that time and perhaps never charged.")
        LATE_REFUND = "late_refund", _("Its refund was missing and has come after all.")
        ADJUSTED_BEFORE = "adjusted_before", _("It was adjusted for before it was decided; its own entry came later.")

    amount = models.BigIntegerField(help_text="Rupiah, signed: above zero the upstream has more than our books.")
    from_no = models.BigIntegerField(help_text="The number after which it happened.")
    to_no = models.BigIntegerField(help_text="The number before which it had happened.")
    from_at = models.DateTimeField(help_text="When the last quiet reading before it was asked for.")
    to_at = models.DateTimeField(help_text="When the first quiet reading after it was answered.")
    found_at = models.DateTimeField(default=timezone.now)
    label = models.CharField(max_length=20, choices=Label.choices)
    candidates = models.JSONField(default=list, help_text="Orders that may be behind it: [{ref_id, why}].")
    state = models.CharField(max_length=15, choices=State.choices, default=State.OPEN)
    acknowledged_at = models.DateTimeField(null=True)
    acknowledged_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+", help_text="Empty: by itself."
    )
    note = models.CharField(max_length=500, blank=True)
    entry = models.OneToOneField(Entry, null=True, on_delete=models.PROTECT, related_name="difference")
    closed_with = models.OneToOneField(
        "self", null=True, on_delete=models.PROTECT, related_name="+", help_text="The later opposite that cancels it."
    )
    explained_by = models.ForeignKey(
        Order,
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="The order, decided late, that explains all or a part of the difference.",
    )
    rest_of = models.OneToOneField(
        "self",
        null=True,
        on_delete=models.PROTECT,
        related_name="rest",
        help_text="The difference of which this is the rest, after an order has explained a part.",
    )
    makes_good = models.OneToOneField(
        "self",
        null=True,
        on_delete=models.PROTECT,
        related_name="made_good_by",
        help_text="The earlier difference that this one cancels, as its opposite.",
    )

    objects = DifferenceQuerySet.as_manager()

    class Meta:
        default_permissions = ()
        permissions = Right.of("reconciliation.difference")
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(condition=~Q(amount=0), name="difference_not_zero"),
            models.CheckConstraint(condition=Q(to_no__gt=F("from_no")), name="difference_in_order"),
            models.CheckConstraint(
                condition=_closed() | _closed("entry") | _closed("closed_with") | _closed("explained_by"),
                name="difference_closed_by_one_thing",
            ),
            models.CheckConstraint(
                condition=Q(makes_good__isnull=True) | Q(label__in=["late_refund", "adjusted_before"]),
                name="difference_makes_another_good",
            ),
        ]
        indexes = [
            models.Index(fields=["id"], name="difference_open", condition=Q(state="open")),
            models.Index(fields=["-found_at", "-id"], name="difference_newest"),
        ]
        triggers = [
            pgtrigger.ReadOnly(
                name="what_was_found_never_changes",
                fields=["amount", "from_no", "to_no", "from_at", "to_at", "found_at"],
            ),
            pgtrigger.Protect(
                name="acknowledged_for_good",
                operation=pgtrigger.Update,
                condition=pgtrigger.Q(old__state="acknowledged"),
            ),
            pgtrigger.Protect(name="never_deleted", operation=pgtrigger.Delete),
            never_truncated(),
        ]

    def __str__(self) -> str:
        return f"{self.label} {self.amount}"

    @property
    def colour(self) -> str:
        """The look of its panel: whether something has to be done, and how bad it is."""
        if self.state == self.State.ACKNOWLEDGED:
            return "success"
        return "bad" if self.amount < 0 else "warn"

    @property
    def size(self) -> int:
        """Its amount without the sign, in rupiah."""
        return abs(self.amount)

    @property
    def shown_label(self) -> str:
        """Its name, open or acknowledged."""
        is_settled_topup = self.label == self.Label.TOPUP and self.state == self.State.ACKNOWLEDGED
        return gettext("Top-up") if is_settled_topup else self.get_label_display()


DifferenceHistory = history_of(Difference)

_LABEL_LOOKS = {
    Difference.Label.TOPUP: ("cash", "warn"),
    Difference.Label.UNREPORTED_REFUND: ("arrow-back-up-double", "warn"),
    Difference.Label.DOUBLE_REFUND: ("alert-triangle", "warn"),
    Difference.Label.LATE_REFUND: ("arrow-back-up", "good"),
    Difference.Label.ADJUSTED_BEFORE: ("arrow-back-up", "warn"),
    Difference.Label.MISSING_REFUND: ("alert-octagon", "bad"),
    Difference.Label.UNEXPLAINED: ("alert-octagon", "bad"),
}


# An announced top-up expires after this time: a person decides about money that comes later.
EXPECTED_FOR = dt.timedelta(days=7)


class ExpectedTopUpQuerySet(models.QuerySet["ExpectedTopUp"]):
    def waiting(self) -> ExpectedTopUpQuerySet:
        """Announcements that can match an arriving top-up: not arrived, not withdrawn, not expired."""
        since = timezone.now() - EXPECTED_FOR
        return self.filter(difference__isnull=True, cancelled_at__isnull=True, announced_at__gt=since)


class ExpectedTopUp(models.Model):
    """A top-up that staff announced: exactly this amount, if it arrives in time, is acknowledged automatically."""

    amount = models.BigIntegerField(help_text="Rupiah, above zero.")
    note = models.CharField(max_length=500, blank=True)
    announced_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    announced_at = models.DateTimeField(default=timezone.now)
    cancelled_at = models.DateTimeField(null=True)
    cancelled_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    difference = models.OneToOneField(Difference, null=True, on_delete=models.PROTECT, related_name="expected")

    objects = ExpectedTopUpQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(condition=Q(amount__gt=0), name="expected_topup_positive"),
            models.CheckConstraint(
                condition=Q(difference__isnull=True) | Q(cancelled_at__isnull=True),
                name="expected_topup_arrived_or_cancelled",
            ),
        ]
        indexes = [
            models.Index(fields=["announced_at"], name="expected_topup_by_time", condition=Q(cancelled_at=None)),
        ]
        triggers = [
            pgtrigger.ReadOnly(
                name="what_was_announced_never_changes", fields=["amount", "note", "announced_by", "announced_at"]
            ),
            pgtrigger.Protect(name="never_deleted", operation=pgtrigger.Delete),
            never_truncated(),
        ]

    def __str__(self) -> str:
        return f"expected {self.amount}"

    @property
    def is_expired(self) -> bool:
        """Whether its time is over: money that comes now does not match it."""
        is_open = self.difference_id is None and self.cancelled_at is None
        return is_open and self.announced_at <= timezone.now() - EXPECTED_FOR


ExpectedTopUpHistory = history_of(ExpectedTopUp)


class Adjustment(models.Model):
    """A request to take a negative difference into the books: one person proposes it, another person approves it."""

    difference = models.ForeignKey(Difference, on_delete=models.PROTECT, related_name="adjustments")
    reason = models.CharField(max_length=500)
    proposed_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    proposed_at = models.DateTimeField(default=timezone.now)
    approved_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    declined_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="Empty also if it expired without a decision.",
    )
    decided_at = models.DateTimeField(null=True)
    approval = models.OneToOneField(
        Approval, null=True, on_delete=models.PROTECT, related_name="+", help_text="Where the second person decides."
    )

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(condition=Q(reason__gt=""), name="adjustment_has_a_reason"),
            models.CheckConstraint(
                condition=Q(approved_by__isnull=True) | ~Q(approved_by=F("proposed_by")),
                name="adjustment_needs_two_people",
            ),
            models.CheckConstraint(
                condition=Q(decided_at__isnull=True, approved_by__isnull=True, declined_by__isnull=True)
                | Q(decided_at__isnull=False, approved_by__isnull=False, declined_by__isnull=True)
                | Q(decided_at__isnull=False, approved_by__isnull=True),
                name="adjustment_decided_by_one",
            ),
            models.UniqueConstraint(
                fields=["difference"], condition=Q(decided_at__isnull=True), name="adjustment_proposed_once"
            ),
        ]
        triggers = [
            pgtrigger.ReadOnly(
                name="what_was_proposed_never_changes", fields=["difference", "reason", "proposed_by", "proposed_at"]
            ),
            pgtrigger.Protect(
                name="decided_for_good",
                operation=pgtrigger.Update,
                condition=pgtrigger.Q(old__decided_at__isnull=False),
            ),
            pgtrigger.Protect(name="never_deleted", operation=pgtrigger.Delete),
            never_truncated(),
        ]

    def __str__(self) -> str:
        return f"adjustment of {self.difference}"


AdjustmentHistory = history_of(Adjustment)
