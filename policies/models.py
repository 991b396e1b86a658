"""The policies: one row, with its history."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q
from django.urls import reverse

from audit.history import history_of
from core.rights import Right
from policies.bounds import BOUNDS


def _number(name: str) -> models.BigIntegerField[int, int]:
    return models.BigIntegerField(default=BOUNDS[name].default)


class Policies(models.Model):
    """The rules of the shop. Rupiah and whole units of time; `policies.bounds` has the bounds of each number."""

    only = models.BooleanField(primary_key=True, default=True, editable=False)
    session_idle_minutes = _number("session_idle_minutes")
    pin_idle_minutes = _number("pin_idle_minutes")
    pin_order_limit = _number("pin_order_limit")
    seller_rise_limit = _number("seller_rise_limit")
    drawer_difference_limit = _number("drawer_difference_limit")
    approval_valid_hours = _number("approval_valid_hours")
    approval_alert_minutes = _number("approval_alert_minutes")
    order_verdict_after_minutes = _number("order_verdict_after_minutes")
    complaint_due_hours = _number("complaint_due_hours")
    alert_low_balance = _number("alert_low_balance")
    alert_low_balance_hours = _number("alert_low_balance_hours")
    exchanges_kept_days = _number("exchanges_kept_days")
    callbacks_kept_days = models.BigIntegerField(
        default=BOUNDS["callbacks_kept_days"].default, null=True, help_text="Empty: kept without end."
    )
    batch_texts_kept_days = models.BigIntegerField(
        default=BOUNDS["batch_texts_kept_days"].default, null=True, help_text="Empty: kept without end."
    )
    blind_count = models.BooleanField(default=False, help_text="Nobody sees the expected cash before the count.")
    opens_at = models.TimeField(null=True, help_text="Until `closes_at` cashiers sell; without both, always.")
    closes_at = models.TimeField(null=True)
    quiet_from = models.TimeField(null=True, help_text="Until `quiet_to` only critical alerts are sent.")
    quiet_to = models.TimeField(null=True)

    class Meta:
        default_permissions = ()
        permissions = Right.of("policies.policies")
        constraints = [
            models.CheckConstraint(condition=Q(only=True), name="policies_are_one_row"),
            models.CheckConstraint(
                condition=Q(quiet_from__isnull=True, quiet_to__isnull=True)
                | Q(quiet_from__isnull=False, quiet_to__isnull=False),
                name="policies_quiet_hours_have_both_ends",
            ),
            models.CheckConstraint(
                condition=Q(opens_at__isnull=True, closes_at__isnull=True)
                | (Q(opens_at__isnull=False, closes_at__isnull=False) & ~Q(opens_at=F("closes_at"))),
                name="policies_opening_hours_have_two_ends",
            ),
            *(
                models.CheckConstraint(
                    condition=Q(**{f"{name}__gte": bounds.least, f"{name}__lte": bounds.most}), name=f"policy_{name}"
                )
                for name, bounds in BOUNDS.items()
            ),
        ]

    def __str__(self) -> str:
        return "policies"

    def get_absolute_url(self) -> str:
        return reverse("policies")


PoliciesHistory = history_of(Policies)
