"""Every exchange with the upstream, and the state of our account there."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pgtrigger
from django.db import models
from django.db.models import Func, Q, Value

from core.rights import Right
from core.triggers import never_truncated
from upstream.endpoints import Endpoint

# Also the default of columns in other rooms whose rows have a place in the order of all exchanges.
NEXT_NUMBER = Func(
    Func(Value("gateway_exchange"), Value("id"), function="pg_get_serial_sequence"),
    function="nextval",
    output_field=models.BigIntegerField(),
)


class ExchangeQuerySet(models.QuerySet["Exchange"]):
    def readings(self) -> ExchangeQuerySet:
        """Answers with our balance at the time of the answer.

        A transaction's `balance` is the one "after the operation" (document, Transaction): a past balance in the answer
        to a status request or to a repeated payment, and unclear in the answer to a request that has failed already.
        """
        sendings = [Endpoint.TRANSACTION_CREATE, Endpoint.BILL_PAY]
        is_sending = Q(endpoint__in=sendings, status__in=["pending", "success"])
        return self.filter(Q(endpoint=Endpoint.BALANCE) | is_sending, balance__isnull=False)

    def of_order(self, ref_id: Any) -> ExchangeQuerySet:
        """Exchanges about an order or inquiry; `ref_id` may be an `OuterRef`."""
        # The second condition is that of the index: without it the database cannot use the index.
        return self.filter(ref_id=ref_id, ref_id__gt="")

    def errors(self) -> ExchangeQuerySet:
        """Exchanges whose answer could not be used, or was a refusal."""
        return self.filter(error__gt="")

    def past(self, before: dt.datetime, from_no: int) -> ExchangeQuerySet:
        """Exchanges sent before this moment and this number, without the balance readings.

        The closing of every past day shows a balance reading.
        """
        return self.filter(sent_at__lt=before, pk__lt=from_no).exclude(endpoint=Endpoint.BALANCE, balance__isnull=False)

    def without_bodies(self) -> ExchangeQuerySet:
        """Without the request and the answer, for lists."""
        return self.defer("raw", "request")


class Exchange(models.Model):
    """One request to the upstream and its answer.

    The numbers of all exchanges and orders come from one sequence. The upstream acted after the number `id`, which was
    taken before the request left, and before the number `answered_no`, which was taken when the answer had come.
    """

    answered_no = models.BigIntegerField(
        null=True, db_default=NEXT_NUMBER, help_text="Taken when it is stored. Empty: no answer that we could use."
    )
    endpoint = models.CharField(max_length=30)
    ref_id = models.CharField(max_length=64, blank=True)
    sent_at = models.DateTimeField()
    answered_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=200, help_text='"answer", or the kind of error.')
    status = models.CharField(max_length=20, blank=True, help_text="The status in the answer.")
    trx_id = models.CharField(max_length=100, blank=True)
    balance = models.BigIntegerField(null=True, help_text="Rupiah; below zero when the account is in debt.")
    raw = models.JSONField(
        null=True, help_text="The answer, secrets masked; a list or a very long one only as size and digest."
    )
    request = models.JSONField(null=True, help_text="The fields that we sent, besides ref_id and credentials.")
    http_status = models.PositiveSmallIntegerField(null=True)
    latency_ms = models.IntegerField(null=True, help_text="Until its whole answer, or until we gave up.")
    waited_ms = models.IntegerField(null=True, help_text="Its wait for the rate budget, before it was sent.")
    attempt = models.IntegerField(default=1, help_text="Which request of its kind in a row this is, from 1.")
    error = models.CharField(
        max_length=140, blank=True, help_text="The kind of error and its code or reason: its group."
    )
    trace_id = models.CharField(max_length=32, blank=True)

    objects = ExchangeQuerySet.as_manager()

    class Meta:
        default_permissions = ()
        permissions = Right.of("gateway.exchange")
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(answered_no__isnull=True) | Q(answered_no__gt=models.F("id")), name="exchange_in_order"
            ),
            models.CheckConstraint(
                condition=Q(balance__isnull=True) | Q(answered_no__isnull=False), name="exchange_balance_is_answered"
            ),
        ]
        indexes = [
            models.Index(fields=["id"], name="exchange_readings", condition=Q(balance__isnull=False)),
            models.Index(fields=["ref_id", "id"], name="exchange_by_order", condition=Q(ref_id__gt="")),
            models.Index(fields=["sent_at"], name="exchange_by_time"),
            models.Index(fields=["endpoint", "sent_at"], name="exchange_by_endpoint"),
            # Few exchanges are errors; each filter of the errors, and their groups, has an index.
            models.Index(fields=["sent_at"], name="exchange_errors", condition=Q(error__gt="")),
            models.Index(fields=["error", "sent_at"], name="exchange_by_error", condition=Q(error__gt="")),
            models.Index(fields=["endpoint", "sent_at"], name="exchange_endpoint_errors", condition=Q(error__gt="")),
            models.Index(
                fields=["endpoint", "error", "sent_at", "id"], name="exchange_error_group", condition=Q(error__gt="")
            ),
        ]
        triggers = [
            pgtrigger.Protect(name="append_only", operation=pgtrigger.Update),
            pgtrigger.Trigger(
                name="kept_for_ninety_days",
                when=pgtrigger.Before,
                operation=pgtrigger.Delete,
                func="IF OLD.sent_at > now() - interval '90 days' THEN"
                " RAISE EXCEPTION 'exchange % is kept for 90 days', OLD.id; END IF; RETURN OLD;",
            ),
            never_truncated(),
        ]

    def __str__(self) -> str:
        return f"{self.endpoint} {self.ref_id} {self.outcome}"


class UpstreamAccount(models.Model):
    """The one account at the upstream that this database belongs to, and its present state."""

    only = models.BooleanField(primary_key=True, default=True, editable=False)
    fingerprint = models.CharField(max_length=64, blank=True, help_text="Hash of the upstream's address and Secret ID.")
    last_answer_at = models.DateTimeField(null=True, help_text="When it last answered anything.")
    unreachable_since = models.DateTimeField(null=True, help_text="Since when it has answered nothing.")
    refused_since = models.DateTimeField(null=True, help_text="Since when nothing may be sent: it refuses our account.")
    refused_code = models.CharField(max_length=40, blank=True)
    restored_at = models.DateTimeField(null=True, help_text="When this database was last restored from a backup.")
    restored_to = models.DateTimeField(null=True, help_text="The restored database has what was committed until then.")
    unwritten_at = models.DateTimeField(
        null=True, help_text="When the newest of `unwritten` was sent; empty when every line has come."
    )
    unwritten = models.JSONField(
        default=dict,
        db_default=Value({}, models.JSONField()),
        help_text="Orders that were sent before their line in the journal of what is sent was on the disk, and when.",
    )
    is_held = models.BooleanField(default=False, help_text="Restored, and not opened yet: nothing that spends is sent.")

    class Meta:
        default_permissions = ()
        permissions = Right.of("gateway.upstreamaccount")
        constraints = [models.CheckConstraint(condition=Q(only=True), name="upstream_account_is_one_row")]

    def __str__(self) -> str:
        return self.refused_code or ("unreachable" if self.unreachable_since else "ok")
