"""The payment of an order: one row for each order, stored with it. An order points to its payment (`payment.order`).

Amounts in whole rupiah. A closed shift's payments never change; a payment that was given back never changes.
"""

from __future__ import annotations

from typing import Any

import pgtrigger
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Coalesce
from django.utils.translation import gettext_lazy as _, pgettext_lazy

from audit.history import history_of
from branches.models import FIRST, Branch
from branches.services import branch_name
from core.rights import Right
from core.triggers import never_truncated
from credit.methods import CASH, METHODS, find_method, method_words
from credit.models import CreditEntry
from drawers.models.entries import DrawerEntry
from drawers.models.shifts import Shift
from staff.models import User


class Outcome(models.TextChoices):
    """The outcome of the payment."""

    OPEN = "open", _("Open")
    KEPT = "kept", _("Kept")
    OWED = "owed", pgettext_lazy("refund", "Refunds due")
    #: The order failed, and nobody had paid at a counter: a command placed it, or the shop uses no drawers.
    NOTHING = "nothing", _("Nothing was paid")
    GIVEN = "given", _("Given back")


_MOVES = [
    *(("open", after) for after in ("kept", "owed", "nothing")),
    ("kept", "owed"),
    ("owed", "given"),
    ("nothing", "given"),
]
_GIVEN = Q(outcome="given", given_at__isnull=False, given_by__isnull=False) & (
    Q(given_method__gt="") | Q(given_note__gt="")
)
_NOT_GIVEN = Q(
    ~Q(outcome="given"),
    given_at__isnull=True,
    given_by__isnull=True,
    given_method="",
    given_note="",
    refund_entry__isnull=True,
)
# A shift that takes a payment is locked in share mode: its closing waits for this transaction, or this for the closing.
_KEEPS_CLOSED_SHIFTS = """
    IF TG_OP = 'UPDATE' AND OLD.sold_in_id IS NOT NULL AND (
        OLD.sold_in_id IS DISTINCT FROM NEW.sold_in_id
        OR ROW(OLD.method, OLD.is_cash, OLD.amount, OLD.cash_given, OLD.reference)
            IS DISTINCT FROM ROW(NEW.method, NEW.is_cash, NEW.amount, NEW.cash_given, NEW.reference)
    ) THEN
        PERFORM FROM drawers_shift WHERE id = OLD.sold_in_id AND closed_at IS NULL FOR SHARE;
        IF NOT FOUND OR OLD.sold_in_id IS DISTINCT FROM NEW.sold_in_id THEN
            RAISE EXCEPTION 'payment %: what its shift sold never changes', NEW.ref_id;
        END IF;
    END IF;
    IF NEW.sold_in_id IS NOT NULL AND (TG_OP = 'INSERT' OR OLD.sold_in_id IS NULL) THEN
        PERFORM FROM drawers_shift WHERE id = NEW.sold_in_id AND closed_at IS NULL FOR SHARE;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'shift % takes no payments', NEW.sold_in_id;
        END IF;
    END IF;
    IF NEW.ended_in_id IS NOT NULL AND (TG_OP = 'INSERT' OR OLD.ended_in_id IS DISTINCT FROM NEW.ended_in_id) THEN
        PERFORM FROM drawers_shift WHERE id = NEW.ended_in_id AND closed_at IS NULL FOR SHARE;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'shift % takes no endings', NEW.ended_in_id;
        END IF;
    END IF;
    RETURN NEW;
"""


def orders() -> Any:
    """All orders; they belong to a room above, whose model points here."""
    order_model: Any = Payment._meta.get_field("order").related_model
    return order_model.objects


# `Payment.to_give_back` for a query.
TO_GIVE_BACK = Coalesce("debt__amount", "amount")


def on_no_account(path: str = "") -> Q:
    """`Payment.is_on_no_account` for a query. `path`: the lookup to the payment ("payment__")."""
    on_credit = [method.code for method in METHODS if method.needs_debtor]
    return Q(**{f"{path}debt": None, f"{path}method__in": on_credit})


def owed(path: str = "") -> Q:
    """`Payment.is_owed` for a query. `path`: the lookup to the payment ("payment__")."""
    return Q(~on_no_account(path), **{f"{path}outcome": Outcome.OWED})


class PaymentQuerySet(models.QuerySet["Payment"]):
    def owed(self) -> PaymentQuerySet:
        """Payments that the shop has to give back; never a sale that is on no account."""
        return self.filter(owed())

    def with_orders(self) -> PaymentQuerySet:
        """The payments with their orders, read by a second query: for a join PostgreSQL may read all orders."""
        return self.prefetch_related(models.Prefetch("order", queryset=orders().for_table()))

    def refunds(self) -> PaymentQuerySet:
        """Payments that the shop has to give back, or has given back."""
        # The first condition is that of the index `payment_refunds`.
        every = self.filter(outcome__in=[Outcome.OWED, Outcome.GIVEN])
        return every.exclude(on_no_account(), outcome=Outcome.OWED)


class Payment(models.Model):
    """The payment of one order by the customer, and its refund."""

    ref_id = models.CharField(max_length=64, unique=True, help_text="The order's.")
    seller = models.ForeignKey(
        User, null=True, on_delete=models.PROTECT, related_name="+", help_text="Who placed it.", db_index=False
    )
    branch = models.ForeignKey(
        Branch,
        db_default=FIRST,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="Where it was sold: that of the shift's drawer, else of the seller.",
        db_index=False,
    )
    at = models.DateTimeField(help_text="When it was placed.")
    method = models.CharField(max_length=20, default=CASH)
    is_cash = models.BooleanField(default=True, help_text="The method counts as cash in the drawer.")
    amount = models.BigIntegerField(help_text="Rupiah.")
    cash_given = models.BigIntegerField(null=True, help_text="Rupiah that the customer gave, where somebody said it.")
    reference = models.CharField(max_length=60, blank=True, help_text="The number on the slip.")
    paid_at_once = models.UUIDField(
        null=True, help_text="The same number in payments that the customer made as one, such as bills paid together."
    )
    debt = models.OneToOneField(
        CreditEntry,
        null=True,
        on_delete=models.PROTECT,
        related_name="payment",
        help_text="The entry of this sale on the customer's account.",
    )
    buyer = models.BigIntegerField(
        null=True,
        help_text="The key of the customer on whose account it is, else of the customer who had saved the number when"
        " it was sold. After a merge or an erasure no customer has this key any more.",
    )
    sold_in = models.ForeignKey(
        Shift,
        null=True,
        on_delete=models.PROTECT,
        related_name="payments",
        help_text="Empty if no drawer was open, or while it waits for the seller's next shift (`agreed_in`).",
        db_index=False,
    )
    agreed_in = models.ForeignKey(
        Shift,
        null=True,
        on_delete=models.PROTECT,
        related_name="sold_later",
        help_text="The shift in which the seller asked for it, if that had closed before it was approved and placed.",
        db_index=False,
    )

    outcome = models.CharField(max_length=10, choices=Outcome.choices, default=Outcome.OPEN)
    ended_at = models.DateTimeField(
        null=True, help_text="When the order ended; of a reversed order, when it was reversed."
    )
    ended_in = models.ForeignKey(
        Shift,
        null=True,
        on_delete=models.PROTECT,
        related_name="endings",
        help_text="The seller's shift that was open when the order ended, else the next one.",
        db_index=False,
    )
    cost = models.BigIntegerField(null=True, help_text="Rupiah: what the order cost, once it has arrived.")

    given_at = models.DateTimeField(null=True)
    given_by = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="+", db_index=False)
    given_method = models.CharField(max_length=20, blank=True, help_text="Empty where only the note says how.")
    given_note = models.CharField(_("note"), max_length=500, blank=True)
    refund_entry = models.OneToOneField(
        DrawerEntry,
        null=True,
        on_delete=models.PROTECT,
        related_name="payment",
        help_text="The entry of the shift that paid it; empty if no shift did, such as for a transfer from home.",
    )

    objects = PaymentQuerySet.as_manager()

    class Meta:
        default_permissions = ()
        permissions = Right.of("drawers.payment")
        constraints = [
            models.CheckConstraint(condition=Q(amount__gte=0), name="payment_amount_not_negative"),
            models.CheckConstraint(condition=Q(outcome__in=Outcome.values), name="payment_outcome_known"),
            models.CheckConstraint(condition=~Q(method=CASH) | Q(is_cash=True), name="payment_in_cash_is_cash"),
            models.CheckConstraint(
                condition=Q(cash_given__isnull=True) | Q(is_cash=True, cash_given__gte=F("amount")),
                name="payment_cash_given_is_enough",
            ),
            models.CheckConstraint(
                condition=Q(debt__isnull=True) | Q(is_cash=False, cash_given__isnull=True), name="payment_debt_no_cash"
            ),
            models.CheckConstraint(
                condition=Q(sold_in__isnull=True) | Q(agreed_in__isnull=True) | ~Q(sold_in=F("agreed_in")),
                name="payment_agreed_in_another",
            ),
            models.CheckConstraint(
                condition=Q(outcome="open", ended_at__isnull=True, ended_in__isnull=True, cost__isnull=True)
                | Q(~Q(outcome="open"), ended_at__isnull=False),
                name="payment_ended_iff_not_open",
            ),
            models.CheckConstraint(condition=~Q(outcome="kept") | Q(cost__gte=0), name="payment_kept_has_its_cost"),
            models.CheckConstraint(condition=_GIVEN | _NOT_GIVEN, name="payment_given_as_a_whole"),
            models.CheckConstraint(
                condition=~Q(given_method=CASH) | Q(refund_entry__isnull=False),
                name="payment_given_in_cash_out_of_a_drawer",
            ),
        ]
        indexes = [
            models.Index(fields=["sold_in", "-at", "-id"], name="payment_of_shift", condition=Q(sold_in__isnull=False)),
            models.Index(fields=["agreed_in"], name="payment_agreed_in", condition=Q(agreed_in__isnull=False)),
            models.Index(fields=["ended_in"], name="payment_ended_in", condition=Q(ended_in__isnull=False)),
            models.Index(
                fields=["seller"],
                name="payment_to_take_in",
                condition=Q(sold_in__isnull=True, agreed_in__isnull=False)
                | Q(sold_in__isnull=False, ended_at__isnull=False, ended_in__isnull=True),
            ),
            models.Index(
                fields=["-ended_at", "-id"], name="payment_refunds", condition=Q(outcome__in=["owed", "given"])
            ),
            models.Index(fields=["-ended_at", "-id"], name="payment_owed", condition=Q(outcome="owed")),
            models.Index(fields=["at"], name="payment_to_the_bank", condition=Q(is_cash=False, debt__isnull=True)),
            # Both for the bank: the payments nearest to an amount, and the sums of days.
            models.Index(
                fields=["amount", "at", "method"],
                name="payment_by_amount",
                condition=Q(is_cash=False, debt__isnull=True),
            ),
            models.Index(
                fields=["method", "at"],
                include=["amount", "outcome"],
                name="payment_sums_of_days",
                condition=Q(is_cash=False, debt__isnull=True),
            ),
            # For the closing of a day; in a shop with drawers hardly a sale is in no shift.
            models.Index(
                fields=["at"],
                name="payment_in_no_shift",
                condition=Q(sold_in__isnull=True, agreed_in__isnull=True, seller__isnull=False),
            ),
            # For the search of orders; few payments have a slip.
            models.Index(fields=["reference"], name="payment_by_slip", condition=Q(reference__gt="")),
            # For the orders that a customer bought.
            models.Index(fields=["buyer"], name="payment_of_buyer", condition=Q(buyer__isnull=False)),
            # For the sales of a branch other than the first, while they are few; a shop with one branch has no such
            # row.
            models.Index(fields=["branch"], name="payment_elsewhere", condition=~Q(branch=FIRST)),
            # For the customers who have bought in a branch.
            models.Index(fields=["branch", "buyer"], name="payment_buyers", condition=Q(buyer__isnull=False)),
            models.Index(fields=["given_at"], name="payment_given", condition=Q(given_at__isnull=False)),
        ]
        triggers = [
            pgtrigger.ReadOnly(
                name="whose_never_changes", fields=["ref_id", "seller", "branch", "at", "agreed_in", "paid_at_once"]
            ),
            pgtrigger.FSM(name="moves_as_money_does", field="outcome", transitions=_MOVES),
            pgtrigger.Trigger(
                name="keeps_closed_shifts",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert | pgtrigger.Update,
                func=_KEEPS_CLOSED_SHIFTS,
            ),
            # Only its shifts may still be filled in, by the seller's next shift.
            pgtrigger.Protect(
                name="given_once",
                operation=pgtrigger.Update,
                condition=pgtrigger.Condition(
                    "OLD.outcome = 'given' AND to_jsonb(OLD) - ARRAY['sold_in_id', 'ended_in_id']"
                    " <> to_jsonb(NEW) - ARRAY['sold_in_id', 'ended_in_id']"
                ),
            ),
            pgtrigger.Protect(name="never_deleted", operation=pgtrigger.Delete),
            never_truncated(),
        ]

    def __str__(self) -> str:
        return f"{self.method} {self.amount}"

    @property
    def method_words(self) -> str:
        """The way in which the customer paid, in words."""
        return method_words(self.method)

    @property
    def branch_name(self) -> str:
        """The branch where it was sold; empty while there is only one."""
        return branch_name(self.branch_id)

    @property
    def given_words(self) -> str:
        """The way in which it went back, in words; empty if only the note says it."""
        return method_words(self.given_method)

    @property
    def change(self) -> int | None:
        """Rupiah that the customer got back at once; None if nobody noted the given cash."""
        return None if self.cash_given is None else self.cash_given - self.amount

    @property
    def to_give_back(self) -> int:
        """Rupiah that go back if nothing is delivered. A debt follows the price even after its shift closed."""
        return self.debt.amount if self.debt else self.amount

    @property
    def is_on_no_account(self) -> bool:
        """Whether it was sold on credit and lacks its debt: after a restore the account was not known or had no room.

        Nobody has paid such a sale.
        """
        method = find_method(self.method)
        return method is not None and method.needs_debtor and self.debt_id is None

    @property
    def is_owed(self) -> bool:
        """Whether the shop has to give it back; never a sale that is on no account."""
        return self.outcome == Outcome.OWED and not self.is_on_no_account

    @property
    def is_given(self) -> bool:
        """Whether somebody noted that the customer has the money back."""
        return self.outcome == Outcome.GIVEN

    @property
    def was_taken_back(self) -> bool:
        """Whether the upstream took the order back after it had arrived."""
        return self.cost is not None and self.outcome in {Outcome.OWED, Outcome.GIVEN}


PaymentHistory = history_of(Payment)
