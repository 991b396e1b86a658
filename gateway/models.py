"""Every exchange with the upstream, and what we know of our account there."""

from __future__ import annotations

from typing import Any

import pgtrigger
from django.db import models
from django.db.models import Func, Q, Value

from upstream.endpoints import Endpoint

# For columns of other rooms whose rows take their place in the order of all exchanges.
NEXT_NUMBER = Func(
    Func(Value("gateway_exchange"), Value("id"), function="pg_get_serial_sequence"),
    function="nextval",
    output_field=models.BigIntegerField(),
)


class ExchangeQuerySet(models.QuerySet["Exchange"]):
    def readings(self) -> ExchangeQuerySet:
        """Answers that say our balance at their own time.

        A transaction's `balance` is the one "after the operation" (document, Transaction): of the past in the answer
        to a status request or to a repeated payment, and unclear in that of a sending that has failed already.
        """
        sendings = [Endpoint.TRANSACTION_CREATE, Endpoint.BILL_PAY]
        is_sending = Q(endpoint__in=sendings, status__in=["pending", "success"])
        return self.filter(Q(endpoint=Endpoint.BALANCE) | is_sending, balance__isnull=False)

    def of_order(self, ref_id: Any) -> ExchangeQuerySet:
        """Exchanges about an order or inquiry; `ref_id` may be an `OuterRef`."""
        # The second condition is that of the index: without it the database cannot know that the index holds them.
        return self.filter(ref_id=ref_id, ref_id__gt="")


class Exchange(models.Model):
    """One request to the upstream and its answer.

    The numbers of all exchanges and orders come from one sequence. The upstream acted after the number `id`, which was
    taken before the request left, and before the number `answered_no`, which was taken when the answer was in.
    """

    answered_no = models.BigIntegerField(
        null=True, db_default=NEXT_NUMBER, help_text="Taken when it is stored. Empty: no answer that we could use."
    )
    endpoint = models.CharField(max_length=30)
    ref_id = models.CharField(max_length=64, blank=True)
    sent_at = models.DateTimeField()
    answered_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=200, help_text='"answer", or the kind of error.')
    status = models.CharField(max_length=20, blank=True, help_text="Of the transaction or inquiry in the answer.")
    trx_id = models.CharField(max_length=100, blank=True)
    balance = models.BigIntegerField(null=True, help_text="Rupiah; below zero when the account is in debt.")
    raw = models.JSONField(null=True, help_text="The answer about an order or inquiry; secrets are masked.")

    objects = ExchangeQuerySet.as_manager()

    class Meta:
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
        ]
        triggers = [pgtrigger.Protect(name="append_only", operation=pgtrigger.Update)]

    def __str__(self) -> str:
        return f"{self.endpoint} {self.ref_id} {self.outcome}"


class UpstreamAccount(models.Model):
    """The one account at the upstream that this database belongs to, and how it answers us at present."""

    only = models.BooleanField(primary_key=True, default=True, editable=False)
    fingerprint = models.CharField(max_length=64, blank=True, help_text="Hash of the upstream's address and Secret ID.")
    last_answer_at = models.DateTimeField(null=True, help_text="When it last answered anything.")
    unreachable_since = models.DateTimeField(null=True, help_text="Since when it has answered nothing.")
    refused_since = models.DateTimeField(null=True, help_text="Since when nothing may be sent: it refuses our account.")
    refused_code = models.CharField(max_length=40, blank=True)

    class Meta:
        permissions = [("read_balance", "Can have the balance read now")]
        constraints = [models.CheckConstraint(condition=Q(only=True), name="upstream_account_is_one_row")]

    def __str__(self) -> str:
        return self.refused_code or ("unreachable" if self.unreachable_since else "ok")
