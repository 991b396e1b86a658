"""Money that came into a shift, or went out, in addition to its sales.

Amounts in whole rupiah. Entries are added and never changed.
"""

import pgtrigger
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from core.transactions import TRANSACTION_NUMBER
from core.triggers import append_only, own_transaction
from credit.methods import CASH, method_words
from credit.models import CreditEntry
from drawers.models.shifts import Shift
from staff.models import User

# The trigger takes the shift's lock: an entry typed into `psql` waits for a closing under way, and is then refused.
_ENTERS_OPEN_SHIFT = """
    PERFORM FROM drawers_shift WHERE id = NEW.shift_id AND closed_at IS NULL FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'shift % takes no entries', NEW.shift_id;
    END IF;
    IF NEW.kind = 'paid_out' AND NEW.amount + coalesce((
        SELECT sum(amount) FROM drawers_drawerentry WHERE shift_id = NEW.shift_id AND is_cash
    ), 0) + coalesce((
        SELECT sum(amount) FROM drawers_payment WHERE sold_in_id = NEW.shift_id AND is_cash
    ), 0) < 0 THEN
        RAISE EXCEPTION 'shift % holds less cash than is paid out', NEW.shift_id;
    END IF;
    IF NEW.undoes_id IS NOT NULL THEN
        PERFORM FROM drawers_drawerentry
          WHERE id = NEW.undoes_id AND shift_id = NEW.shift_id AND kind = NEW.kind AND method = NEW.method
            AND amount = -NEW.amount AND undoes_id IS NULL;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'entry % is not undone so', NEW.undoes_id;
        END IF;
    END IF;
    RETURN NEW;
"""


class DrawerEntry(models.Model):
    """Money of a shift, other than sales, that came in or went out (below zero). Another entry undoes a wrong one."""

    class Kind(models.TextChoices):
        OPENING = "opening", _("Opening count")
        HANDOVER = "handover", _("Taken over")
        REFUND = "refund", _("Given back")
        PAID_IN = "paid_in", _("Paid in")
        PAID_OUT = "paid_out", _("Paid out")
        CREDIT = "credit", _("Credit payment")
        CREDIT_OUT = "credit_out", _("Credit paid out")

    shift = models.ForeignKey(Shift, on_delete=models.PROTECT, related_name="entries")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    method = models.CharField(max_length=20, default=CASH)
    is_cash = models.BooleanField(default=True, help_text="The method counts as cash: it is in the drawer, or was.")
    amount = models.BigIntegerField(help_text="Rupiah, below zero when it goes out.")
    ref_id = models.CharField(max_length=64, blank=True, help_text="The order whose money went back.")
    reason = models.CharField(max_length=500, blank=True)
    person = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+", help_text="Who did it.")
    at = models.DateTimeField()
    credit_entry = models.OneToOneField(
        CreditEntry,
        null=True,
        on_delete=models.PROTECT,
        related_name="drawer_entry",
        help_text="The customer's payment of what was owed, or its undoing; or what the shop paid out.",
    )
    undoes = models.OneToOneField("self", null=True, on_delete=models.PROTECT, related_name="undone_by")
    token = models.UUIDField(
        null=True, editable=False, help_text="The number of the form that entered it: sent twice, it is entered once."
    )
    txid = models.BigIntegerField(db_default=TRANSACTION_NUMBER, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["ref_id"], condition=Q(kind="refund"), name="drawer_entry_refund_once_an_order"
            ),
            models.UniqueConstraint(
                fields=["shift"], condition=Q(kind__in=["opening", "handover"]), name="drawer_entry_one_opening"
            ),
            models.UniqueConstraint(
                fields=["token"], condition=Q(token__isnull=False), name="drawer_entry_once_a_form"
            ),
            models.CheckConstraint(
                condition=Q(kind="refund", ref_id__gt="") | Q(~Q(kind="refund"), ref_id=""),
                name="drawer_entry_of_an_order_iff_it_names_one",
            ),
            models.CheckConstraint(
                condition=Q(kind__in=["refund", "credit", "credit_out"]) | Q(is_cash=True),
                name="drawer_entry_of_no_order_is_cash",
            ),
            models.CheckConstraint(
                condition=Q(undoes__isnull=True) | Q(kind="credit"), name="drawer_entry_only_a_credit_payment_is_undone"
            ),
            models.CheckConstraint(
                condition=Q(kind__in=["credit", "credit_out"], credit_entry__isnull=False)
                | Q(~Q(kind__in=["credit", "credit_out"]), credit_entry__isnull=True),
                name="drawer_entry_of_a_credit_payment_names_it",
            ),
            models.CheckConstraint(
                condition=Q(kind__in=["opening", "handover"], amount__gte=0)
                | Q(kind="paid_in", amount__gt=0, reason__gt="")
                | Q(kind="paid_out", amount__lt=0, reason__gt="")
                | Q(kind="credit", undoes__isnull=True, amount__gt=0)
                | Q(kind="credit", undoes__isnull=False, amount__lt=0)
                | Q(kind="credit_out", amount__lt=0)
                | Q(kind="refund", amount__lte=0),
                name="drawer_entry_has_its_sign",
            ),
            models.CheckConstraint(condition=~Q(method=CASH) | Q(is_cash=True), name="drawer_entry_cash_is_cash"),
        ]
        indexes = [
            models.Index(fields=["shift", "id"], name="drawer_entry_of_shift"),
            models.Index(fields=["at"], name="drawer_entry_by_time"),
            models.Index(fields=["txid", "id"], name="drawer_entry_to_seal"),
        ]
        triggers = [
            *append_only(),
            own_transaction(),
            pgtrigger.Trigger(
                name="enters_open_shift", when=pgtrigger.Before, operation=pgtrigger.Insert, func=_ENTERS_OPEN_SHIFT
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.amount}"

    def may_be_undone_by(self, person: User) -> bool:
        """Whether this person may undo this payment of a debt in its open shift, or later if it was not cash."""
        return self.shift.takes_entries_of(person) if self.shift.is_open else not self.is_cash

    @property
    def method_words(self) -> str:
        """The way in which the money moved, in words."""
        return method_words(self.method)
