"""Customers' credit accounts (kasbon), and the entries that say what each of them owes.

Amounts are whole rupiah, above zero for a customer's debt. Entries are added and never changed. The database itself
adds each one to its account's balance, and refuses a sale that would pass the cap.
"""

from __future__ import annotations

from typing import Any, cast

import pgtrigger
from django.db import models
from django.db.models import Q
from django.db.models.deletion import SET_NULL, ProtectedError
from django.utils.translation import gettext_lazy as _

from audit.history import history_of
from branches.models import Branch
from core.rights import Right
from core.transactions import TRANSACTION_NUMBER
from core.triggers import append_only, never_truncated, own_transaction
from credit.methods import method_words
from customers.models import Customer
from staff.models import User

MOST_DUE_DAYS = 365


def unpaid(account: str, owed: str) -> str:
    """SQL for the debts of an account that are not paid, newest first, each with its unpaid part as `open`.

    A payment pays the debt that is due first, so the newest debts are the unpaid ones. Only those are read, one after
    the other, until they add up to `owed`; the history may be of any length.
    """
    debt = f"""
        SELECT e.id, e.ref_id, e.due_on, e.at, e.amount FROM credit_creditentry e
         WHERE e.account_id = {account} AND e.due_on IS NOT NULL
           AND NOT EXISTS (SELECT FROM credit_creditentry undoing WHERE undoing.undoes_id = e.id)
           {{before}} ORDER BY e.due_on DESC, e.id DESC LIMIT 1
    """  # noqa: S608 - our own text
    return f"""
        WITH RECURSIVE walk AS (
            SELECT newest.*, newest.amount AS run FROM ({debt.format(before="")}) newest
            UNION ALL
            SELECT older.*, walk.run + older.amount FROM walk CROSS JOIN LATERAL (
                {debt.format(before="AND (e.due_on, e.id) < (walk.due_on, walk.id)")}
            ) older WHERE walk.run < {owed}
        )
        SELECT id, ref_id, due_on, at, amount, least(amount, {owed} - (run - amount)) AS open
          FROM walk WHERE run - amount < {owed}
    """  # noqa: S608 - our own text


def forget_unless_owing(collector: Any, field: Any, accounts: Any, using: str) -> None:
    """Keep the account of a deleted customer. Raises `ProtectedError` while either side owes money.

    Call `delete` inside a transaction: nobody sells to the customer meanwhile.
    """
    locked = (
        CreditAccount.objects.using(using)
        .select_for_update(no_key=True)
        .filter(pk__in=[account.pk for account in accounts])
    )
    if owing := {cast("models.Model", account) for account in locked if account.balance}:
        raise ProtectedError("money is owed", owing)
    SET_NULL(collector, field, accounts, using)


class CreditAccount(models.Model):
    """The cap of a customer's credit, and the balance. With a cap of 0 nothing more is sold on credit."""

    customer = models.OneToOneField(Customer, null=True, on_delete=forget_unless_owing, related_name="credit")
    cap = models.BigIntegerField(_("cap"), help_text="Rupiah that may be owed at most.")
    due_days = models.PositiveSmallIntegerField(
        _("days until it is due"), help_text="Days from the sale until it is due."
    )
    due_on = models.DateField(
        _("due on"), null=True, blank=True, help_text="Sales until this day are due on it, such as a payday."
    )
    balance = models.BigIntegerField(default=0, editable=False, help_text="Rupiah: the sum of its entries.")
    oldest_due = models.DateField(null=True, editable=False, help_text="When the first of what is owed is due.")

    class Meta:
        default_permissions = ()
        permissions = Right.of("credit.creditaccount")
        constraints = [
            models.CheckConstraint(condition=Q(cap__gte=0), name="credit_cap_not_negative"),
            models.CheckConstraint(condition=Q(due_days__lte=MOST_DUE_DAYS), name="credit_due_within_a_year"),
            models.CheckConstraint(
                condition=Q(balance__gt=0, oldest_due__isnull=False) | Q(balance__lte=0, oldest_due__isnull=True),
                name="credit_due_iff_owed",
            ),
            models.CheckConstraint(
                condition=Q(customer__isnull=False) | Q(balance=0), name="credit_owed_by_somebody_or_nothing"
            ),
        ]
        indexes = [models.Index(fields=["oldest_due", "id"], name="credit_by_age", condition=Q(balance__gt=0))]
        triggers = [
            pgtrigger.Protect(
                name="begins_empty",
                operation=pgtrigger.Insert,
                condition=~pgtrigger.Q(new__balance=0) | pgtrigger.Q(new__oldest_due__isnull=False),
            ),
            # The depth is 0 for a statement that a person types, and 1 for the update by an entry's trigger.
            pgtrigger.Protect(
                name="balance_follows_its_entries",
                operation=pgtrigger.Update,
                condition=pgtrigger.Condition(
                    "pg_trigger_depth() = 0"
                    " AND (OLD.balance <> NEW.balance OR OLD.oldest_due IS DISTINCT FROM NEW.oldest_due)"
                ),
            ),
            pgtrigger.Protect(
                name="keeps_its_customer",
                operation=pgtrigger.Update,
                condition=pgtrigger.Condition(
                    "OLD.customer_id IS DISTINCT FROM NEW.customer_id"
                    " AND (NEW.customer_id IS NOT NULL OR OLD.balance <> 0)"
                ),
            ),
            pgtrigger.Protect(name="never_deleted", operation=pgtrigger.Delete),
            never_truncated(),
        ]

    def __str__(self) -> str:
        return f"credit account {self.pk}"

    @property
    def size(self) -> int:
        """Rupiah that the customer owes the shop, or the shop the customer; never below zero."""
        return abs(self.balance)

    @property
    def left(self) -> int:
        """Rupiah that can still be sold on credit; never below zero."""
        return max(0, self.cap - self.balance)


CreditAccountHistory = history_of(CreditAccount, exclude=["balance", "oldest_due"])


_FITS_THE_OTHERS = """
    IF NEW.undoes_id IS NOT NULL THEN
        PERFORM FROM credit_creditentry
          WHERE id = NEW.undoes_id AND account_id = NEW.account_id AND ref_id = NEW.ref_id AND method = NEW.method
            AND amount = -NEW.amount AND undoes_id IS NULL
            AND (kind = NEW.kind OR (kind IN ('sale', 'moved') AND NEW.kind IN ('refund', 'sale', 'moved'))
                 OR (kind = 'brought' AND NEW.kind = 'moved'));
        IF NOT FOUND THEN
            RAISE EXCEPTION 'credit entry % is not undone so', NEW.undoes_id;
        END IF;
    END IF;
    IF NEW.kind = 'moved' AND NEW.replaces_id IS NOT NULL THEN
        PERFORM FROM credit_creditentry former
            LEFT JOIN credit_creditentry undoing ON undoing.undoes_id = former.id AND undoing.kind = 'moved'
          WHERE former.id = NEW.replaces_id AND former.account_id <> NEW.account_id AND former.ref_id = NEW.ref_id
            AND former.due_on IS NOT DISTINCT FROM NEW.due_on
            AND CASE WHEN undoing.id IS NULL
                THEN former.kind = 'moved' AND former.undoes_id IS NULL AND former.replaces_id IS NULL
                     AND former.amount = -NEW.amount AND former.txid = transaction_number()
                ELSE former.amount = NEW.amount AND undoing.txid = transaction_number() END;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'credit entry % is not moved so', NEW.replaces_id;
        END IF;
    ELSIF NEW.replaces_id IS NOT NULL THEN
        PERFORM FROM credit_creditentry former JOIN credit_creditentry undoing ON undoing.undoes_id = former.id
          WHERE former.id = NEW.replaces_id AND former.ref_id = NEW.ref_id AND former.kind IN ('sale', 'moved')
            AND undoing.kind = 'sale';
        IF NOT FOUND THEN
            RAISE EXCEPTION 'credit entry % is not replaced so', NEW.replaces_id;
        END IF;
    END IF;
    RETURN NEW;
"""
# An amount that leaves an account comes to another account in the same transaction.
_COMES_TO_ANOTHER = """
    PERFORM FROM credit_creditentry WHERE replaces_id = coalesce(NEW.undoes_id, NEW.id) AND kind = 'moved';
    IF NOT FOUND THEN
        RAISE EXCEPTION 'credit entry % moves to no other account', NEW.id;
    END IF;
    RETURN NULL;
"""
# The account's row is locked by its own update, so entries wait for each other. The cap does not refuse a sale that
# replaces another one of the account in the same transaction for no more rupiah: it raises no debt.
_MOVES_THE_BALANCE = f"""
    UPDATE credit_creditaccount SET balance = balance + NEW.amount,
           oldest_due = CASE WHEN balance + NEW.amount > 0 THEN coalesce(oldest_due, current_date) END
     WHERE id = NEW.account_id RETURNING balance, cap INTO owed, most;
    IF owed IS DISTINCT FROM NEW.balance_after THEN
        RAISE EXCEPTION 'credit account %: % is owed after this entry, not %', NEW.account_id, owed, NEW.balance_after;
    END IF;
    IF NEW.kind = 'sale' AND NEW.undoes_id IS NULL AND owed > most AND NOT EXISTS (
        SELECT FROM credit_creditentry former JOIN credit_creditentry undoing ON undoing.undoes_id = former.id
         WHERE former.id = NEW.replaces_id AND former.account_id = NEW.account_id AND former.amount >= NEW.amount
           AND undoing.txid = transaction_number()
    ) THEN
        RAISE EXCEPTION 'credit account %: the sale passes the cap', NEW.account_id;
    END IF;
    IF NEW.kind = 'payment' AND NEW.undoes_id IS NULL AND owed < 0 THEN
        RAISE EXCEPTION 'credit account %: more is paid than is owed', NEW.account_id;
    END IF;
    IF NEW.kind = 'payment' AND NEW.undoes_id IS NOT NULL AND EXISTS (
        SELECT FROM credit_creditentry back
         WHERE back.account_id = NEW.account_id AND back.kind = 'paid_back' AND back.id > NEW.undoes_id
    ) THEN
        RAISE EXCEPTION 'credit account %: money went back since this payment', NEW.account_id;
    END IF;
    IF NEW.kind = 'paid_back' AND owed > 0 THEN
        RAISE EXCEPTION 'credit account %: more is paid back than the customer has', NEW.account_id;
    END IF;
    IF owed > 0 THEN
        SELECT min(due_on) INTO since FROM ({unpaid("NEW.account_id", "owed")}) unpaid;
        UPDATE credit_creditaccount SET oldest_due = since
         WHERE id = NEW.account_id AND oldest_due IS DISTINCT FROM since;
    END IF;
    RETURN NULL;
"""  # noqa: S608 - our own text


class CreditEntryQuerySet(models.QuerySet["CreditEntry"]):
    def current(self) -> CreditEntryQuerySet:
        """The entries that are neither undone nor undoing another."""
        return self.filter(undoes=None, undone_by=None)


class CreditEntry(models.Model):
    """An increase of a customer's debt, or a decrease (below zero). Another entry undoes a wrong one.

    A debt that moves to another account in a merge is undone here, and replaced there. Money that is kept for the
    customer moves by two entries, too: the entry there replaces the entry here.
    """

    class Kind(models.TextChoices):
        SALE = "sale", _("Sale")
        PAYMENT = "payment", _("Payment")
        REFUND = "refund", _("Given back")
        PAID_BACK = "paid_back", _("Paid out")
        BROUGHT = "brought", _("Owed from before")
        MOVED = "moved", _("Moved by a merge")

    account = models.ForeignKey(CreditAccount, on_delete=models.PROTECT, related_name="entries", db_index=False)
    kind = models.CharField(max_length=10, choices=Kind.choices)
    method = models.CharField(max_length=20, blank=True, help_text="The way that the money moved.")
    amount = models.BigIntegerField(help_text="Rupiah: what it does to what is owed.")
    balance_after = models.BigIntegerField(help_text="Rupiah.")
    ref_id = models.CharField(max_length=64, blank=True, help_text="The order that was sold, or whose money went back.")
    due_on = models.DateField(null=True, help_text="The day on which a debt is due.")
    reason = models.CharField(max_length=500, blank=True)
    person = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+", help_text="Who did it.")
    branch = models.ForeignKey(
        Branch,
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="Where it happened. Entries from before this column have none (`drawers.services.credit_of_branch`).",
        db_index=False,
    )
    at = models.DateTimeField()
    undoes = models.OneToOneField("self", null=True, on_delete=models.PROTECT, related_name="undone_by")
    replaces = models.OneToOneField("self", null=True, on_delete=models.PROTECT, related_name="replaced_by")
    token = models.UUIDField(
        null=True, editable=False, help_text="The number of the form that entered it: sent twice, it is entered once."
    )
    txid = models.BigIntegerField(db_default=TRANSACTION_NUMBER, editable=False)

    objects = CreditEntryQuerySet.as_manager()

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(
                fields=["ref_id"],
                condition=Q(kind="sale", undoes=None, replaces=None),
                name="credit_sale_once_an_order",
            ),
            models.UniqueConstraint(fields=["ref_id"], condition=Q(kind="refund"), name="credit_refund_once_an_order"),
            models.UniqueConstraint(
                fields=["token"], condition=Q(token__isnull=False), name="credit_entry_once_a_form"
            ),
            models.CheckConstraint(
                condition=Q(kind__in=["sale", "refund"], ref_id__gt="")
                | Q(kind__in=["payment", "brought"], ref_id="")
                | Q(kind__in=["paid_back", "moved"]),
                name="credit_entry_names_its_order",
            ),
            models.CheckConstraint(
                condition=Q(kind__in=["payment", "paid_back"], method__gt="")
                | Q(kind__in=["sale", "refund", "brought", "moved"], method=""),
                name="credit_entry_method_iff_money_moves",
            ),
            models.CheckConstraint(
                condition=Q(kind__in=["sale", "brought", "paid_back"], undoes__isnull=True, amount__gt=0)
                | Q(kind__in=["sale", "brought"], undoes__isnull=False, amount__lt=0)
                | Q(kind="payment", undoes__isnull=True, amount__lt=0)
                | Q(kind="payment", undoes__isnull=False, amount__gt=0)
                | Q(kind="refund", amount__lt=0)
                | Q(kind="moved", undoes__isnull=False, replaces__isnull=True, amount__lt=0)
                | Q(kind="moved", undoes__isnull=True, replaces__isnull=True, amount__gt=0)
                | (Q(kind="moved", undoes__isnull=True, replaces__isnull=False) & ~Q(amount=0)),
                name="credit_entry_has_its_sign",
            ),
            models.CheckConstraint(
                condition=Q(kind__in=["sale", "brought"], undoes__isnull=True, due_on__isnull=False)
                | Q(kind="moved", replaces__isnull=False, amount__gt=0, due_on__isnull=False)
                | Q(
                    ~Q(kind__in=["sale", "brought"]) | Q(undoes__isnull=False),
                    ~Q(kind="moved") | Q(replaces__isnull=True) | Q(amount__lt=0),
                    due_on__isnull=True,
                ),
                name="credit_entry_due_iff_debt",
            ),
            models.CheckConstraint(
                condition=Q(replaces__isnull=True) | Q(kind__in=["sale", "moved"], undoes__isnull=True),
                name="credit_entry_only_a_sale_replaces",
            ),
            models.CheckConstraint(
                condition=~Q(kind="brought") | Q(undoes__isnull=False) | Q(reason__gt=""),
                name="credit_entry_from_before_has_a_reason",
            ),
        ]
        indexes = [
            models.Index(fields=["account", "-at", "-id"], name="credit_entry_newest"),
            models.Index(
                fields=["account", "-due_on", "-id"], name="credit_entry_debts", condition=Q(due_on__isnull=False)
            ),
            models.Index(fields=["ref_id"], name="credit_entry_by_order", condition=Q(ref_id__gt="")),
            models.Index(fields=["account", "-id"], name="credit_entry_paid_back", condition=Q(kind="paid_back")),
            models.Index(fields=["at"], name="credit_refund_by_time", condition=Q(kind="refund")),
            models.Index(fields=["at"], name="credit_entry_by_time"),
            models.Index(fields=["txid", "id"], name="credit_entry_to_seal"),
        ]
        triggers = [
            *append_only(),
            own_transaction(),
            pgtrigger.Trigger(
                name="fits_the_others", when=pgtrigger.Before, operation=pgtrigger.Insert, func=_FITS_THE_OTHERS
            ),
            pgtrigger.Trigger(
                name="comes_to_another",
                when=pgtrigger.After,
                operation=pgtrigger.Insert,
                timing=pgtrigger.Deferred,
                condition=pgtrigger.Condition("NEW.kind = 'moved' AND NEW.replaces_id IS NULL"),
                func=_COMES_TO_ANOTHER,
            ),
            pgtrigger.Trigger(
                name="moves_the_balance",
                when=pgtrigger.After,
                operation=pgtrigger.Insert,
                declare=[("owed", "bigint"), ("most", "bigint"), ("since", "date")],
                func=_MOVES_THE_BALANCE,
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.amount}"

    @property
    def method_words(self) -> str:
        """The way in which the money moved, in words; empty if no money moved."""
        return method_words(self.method)

    @property
    def paid(self) -> int:
        """Rupiah of a payment, above zero."""
        return -self.amount
