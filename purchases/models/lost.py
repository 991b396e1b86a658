"""Orders that are in the journal of what is sent, but not in the restored database."""

import datetime as dt
from typing import Any

import pgtrigger
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from core.rights import Right
from core.triggers import never_truncated
from purchases.models.orders import Order


class Lack(models.TextChoices):
    """A missing fact of an order that is taken in, or the reason why it cannot be taken in yet."""

    SELLER = "seller", _("its seller is not known here")
    SHIFT = "shift", _("its shift is not known here: the money is in no drawer's count")
    DEBTOR = "debtor", _("it is on no account: its debtor is not known here, or the account has no room")
    BILL = "bill", _("its bill is not known here")
    PRODUCT = "product", _("waits for its product: the catalogue is read again")
    TWIN = "twin", _("waits until another order for the same product and number has ended")


#: An order with one of these waits and is taken in automatically; a person handles every other lack.
WAITING = (Lack.PRODUCT, Lack.TWIN)


class LostOrder(models.Model):
    """An order that was sent after the moment to which the database was restored, and its state here."""

    ref_id = models.CharField(max_length=64, unique=True)
    line = models.JSONField(help_text="As it was sent last: purchases.services.sent.line_of. Rupiah.")
    sent_no = models.BigIntegerField(help_text="Taken after it was sent, and before anything was asked here.")
    found_at = models.DateTimeField()
    order = models.OneToOneField(
        Order, null=True, on_delete=models.PROTECT, related_name="lost", help_text="Empty until it is taken in."
    )
    lacks = ArrayField(models.CharField(max_length=10), default=list, help_text="Each a `Lack`.")

    class Meta:
        default_permissions = ()
        permissions = Right.of("purchases.lostorder")
        ordering = ["pk"]
        indexes = [models.Index(fields=["id"], name="lost_order_waits", condition=models.Q(order__isnull=True))]
        triggers = [
            pgtrigger.ReadOnly(name="as_it_was_sent", fields=["ref_id", "line", "sent_no", "found_at"]),
            pgtrigger.Protect(name="never_deleted", operation=pgtrigger.Delete),
            never_truncated(),
        ]

    def __str__(self) -> str:
        return self.ref_id

    @property
    def customer_pays(self) -> int:
        """Rupiah that the customer had to pay."""
        pays: int = self.line["payment"]["amount"]
        return pays

    @property
    def sent_at(self) -> dt.datetime:
        """The time of its last sending."""
        return dt.datetime.fromisoformat(self.line["time"])

    @property
    def words(self) -> list[Any]:
        """The words for its missing facts, or for what it waits for."""
        return [Lack(code).label for code in self.lacks]
