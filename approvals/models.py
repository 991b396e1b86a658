"""Requests for a second person, and their results."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Collection, Mapping
from typing import Any

import pgtrigger
from django.conf import settings
from django.db import models
from django.db.models import F, Func, Q, TextField, Value
from django.urls import reverse
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext_lazy as _, pgettext_lazy

from audit.history import history_of
from branches.models import Branch
from core.looks import LookChoices
from core.numbers import erased_name, erased_number
from core.rights import Right
from core.triggers import never_truncated, stays_erased
from staff.models import User

Content = Mapping[str, Any]
#: The customer's number in a canonical content; an index finds an approval by it.
NUMBER = Func(F("content"), Value('"destination":"([^"]*)"'), function="substring", output_field=TextField())


class ApprovalState(LookChoices):
    """The state of an approval. Only `ASKED` is open; every other state is final."""

    ASKED = "asked", "hourglass", "held", _("Waits for approval")
    APPROVED = "approved", "circle-check", "good", pgettext_lazy("approval", "Approved")
    REFUSED = "refused", "circle-x", "bad", pgettext_lazy("approval", "Refused")
    WITHDRAWN = "withdrawn", "arrow-back-up", "cancelled", pgettext_lazy("approval", "Withdrawn")
    EXPIRED = "expired", "clock-off", "cancelled", pgettext_lazy("approval", "Expired")
    VOID = "void", "ban", "warn", pgettext_lazy("approval", "Void")


def canonical(content: Content) -> str:
    """The one text of this content: JSON with sorted keys and without spaces. Raises `TypeError` for other values."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def hash_of(text: str) -> str:
    """SHA-256 of a content's text, in hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()


class ApprovalQuerySet(models.QuerySet["Approval"]):
    def open(self) -> ApprovalQuerySet:
        """The approvals that wait for a second person."""
        return self.filter(state=ApprovalState.ASKED)

    def overdue(self, now: dt.datetime) -> ApprovalQuerySet:
        """The open approvals whose time is over."""
        return self.open().filter(expires_at__lte=now)

    def for_table(self) -> ApprovalQuerySet:
        """Reads the people that the columns name in the same query."""
        return self.select_related("asked_by", "decided_by")

    def forget_numbers(self, numbers: Collection[str]) -> int:
        """Sets `number_erased` on the approvals of these numbers, which masks them for everybody; returns how many."""
        return self.alias(number=NUMBER).filter(number__in=numbers, number_erased=False).update(number_erased=True)


class Approval(models.Model):
    """One request for a second person's yes to exactly one content. Amounts in it are whole rupiah."""

    act = models.CharField(max_length=40, help_text="The `name` of an `approvals.acts.Act`.")
    subject = models.CharField(max_length=200, help_text="What it is about; only one may be open for each.")
    about = models.CharField(max_length=200, blank=True, help_text="The subject as people know it, for lists.")
    content = models.TextField(help_text="Canonical JSON of everything that will be sent or posted.")
    sha256 = models.CharField(max_length=64, help_text="The digest of the content's bytes, in hexadecimal digits.")
    number_erased = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Its customer was erased: no page shows the number whole any more.",
    )
    reason = models.CharField(max_length=500, blank=True)
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    asked_role = models.CharField(max_length=40, blank=True, help_text="The person's role when asking.")
    branch = models.ForeignKey(
        Branch,
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="The branch that it belongs to; empty: the whole shop.",
        db_index=False,
    )
    asked_at = models.DateTimeField()
    expires_at = models.DateTimeField(help_text="By the database's clock; it cannot be approved later.")
    state = models.CharField(max_length=10, choices=ApprovalState.choices, default=ApprovalState.ASKED)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="Empty while it is open, and where it expired. For a void one: the person who tried to approve it.",
    )
    decided_role = models.CharField(max_length=40, blank=True)
    decided_at = models.DateTimeField(null=True)
    decision_reason = models.CharField(max_length=500, blank=True)
    changes = models.JSONField(default=dict, help_text="For a void one: {name: [asked for, found]}, or {code, words}.")
    result = models.CharField(max_length=100, blank=True, help_text="What it became, such as an order's ref_id.")

    objects = ApprovalQuerySet.as_manager()

    class Meta:
        default_permissions = ()
        permissions = Right.of("approvals.approval")
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(condition=Q(state__in=sorted(ApprovalState.values)), name="approval_state_known"),
            models.CheckConstraint(
                condition=Q(
                    sha256=Func(
                        F("content"),
                        template="encode(sha256(convert_to(%(expressions)s, 'UTF8')), 'hex')",
                        output_field=TextField(),
                    )
                ),
                name="approval_hash_is_of_its_content",
            ),
            models.CheckConstraint(
                condition=~Q(state="approved") | ~Q(decided_by=F("asked_by")), name="approval_needs_two_people"
            ),
            models.CheckConstraint(
                condition=~Q(state="withdrawn") | Q(decided_by=F("asked_by")), name="approval_withdrawn_by_its_author"
            ),
            models.CheckConstraint(
                condition=Q(state="asked", decided_at__isnull=True, decided_by__isnull=True, result="")
                | Q(state="expired", decided_at__isnull=False, decided_by__isnull=True, result="")
                | Q(state="approved", decided_at__isnull=False, decided_by__isnull=False)
                | Q(state__in=["refused", "withdrawn", "void"], decided_at__isnull=False, decided_by__isnull=False)
                & Q(result=""),
                name="approval_decided_as_a_whole",
            ),
            models.CheckConstraint(
                condition=~Q(state="refused") | Q(decision_reason__gt=""), name="approval_refused_with_a_reason"
            ),
            models.CheckConstraint(
                condition=Q(expires_at__gt=F("asked_at")) & (~Q(state="approved") | Q(decided_at__lte=F("expires_at"))),
                name="approval_in_its_time",
            ),
            models.UniqueConstraint(fields=["act", "subject"], condition=Q(state="asked"), name="approval_open_once"),
        ]
        indexes = [
            models.Index(fields=["-asked_at", "-id"], name="approval_newest"),
            models.Index(fields=["asked_by", "-asked_at", "-id"], name="approval_by_asker"),
            models.Index(fields=["expires_at"], name="approval_open", condition=Q(state="asked")),
            models.Index(fields=["state", "-asked_at", "-id"], name="approval_by_state"),
            models.Index(fields=["result"], name="approval_by_result", condition=Q(result__gt="")),
            models.Index(NUMBER, name="approval_by_number"),
        ]
        triggers = [
            pgtrigger.Protect(
                name="begins_as_asked", operation=pgtrigger.Insert, condition=~pgtrigger.Q(new__state="asked")
            ),
            pgtrigger.ReadOnly(
                name="what_was_asked_never_changes",
                fields=[
                    *("act", "subject", "about", "content", "sha256", "reason"),
                    *("asked_by", "asked_role", "branch", "asked_at", "expires_at"),
                ],
            ),
            pgtrigger.Protect(
                name="decided_once",
                operation=pgtrigger.Update,
                condition=pgtrigger.Condition(
                    "OLD.state <> 'asked' AND to_jsonb(OLD) - 'number_erased' <> to_jsonb(NEW) - 'number_erased'"
                ),
            ),
            stays_erased(),
            pgtrigger.Protect(name="never_deleted", operation=pgtrigger.Delete),
            never_truncated(),
        ]

    def __str__(self) -> str:
        return f"{self.act} {self.subject}"

    def get_absolute_url(self) -> str:
        return reverse("approval_detail", args=[self.pk])

    @property
    def is_open(self) -> bool:
        """Whether it waits for a decision; an overdue approval does so until it is ended."""
        return self.state == ApprovalState.ASKED

    @property
    def seal(self) -> str:
        """A hash of the content, for the form that approves it; keyed, so that nobody finds costs in it by trying."""
        return salted_hmac("approvals.content", self.sha256, algorithm="sha256").hexdigest()

    @property
    def facts(self) -> dict[str, Any]:
        """The content, as it was asked for."""
        return self.with_erased(json.loads(self.content))

    def with_erased(self, content: Content) -> dict[str, Any]:
        """The content; that of an erased customer has a number and a name that are masked for every reader."""
        if not self.number_erased:
            return dict(content)
        name = content.get("customer_name") or ""
        number = erased_number(content["destination"], name=name)
        return {**content, "destination": number} | ({"customer_name": erased_name(name)} if name else {})

    def is_of(self, person: User) -> bool:
        """Whether this person asked."""
        return self.asked_by_id == person.pk


ApprovalHistory = history_of(Approval, exclude=["number_erased"])
