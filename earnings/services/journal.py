"""The journal of a day: the movements of money, from payments, credit, drawers and the provider's books.

A sale is booked on the day on which it was placed, as in all earnings; an order that did not arrive is booked against
it on the day on which it ended. Each booking has one account in debit and one in credit, so a journal always balances.

A branch's part has its orders with their cost, its drawers, and its entries of credit. Top-ups, fees and the opening of
the provider's books belong only to the whole shop.
"""

import datetime as dt
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Sum

from audit.events import SETTING_CHANGED
from audit.services import record
from core.snapshot import snapshot
from credit.methods import CASH, CREDIT
from credit.models import CreditEntry
from drawers.models import TO_GIVE_BACK, DrawerEntry, Outcome, Payment, Shift
from drawers.models.payments import on_no_account
from drawers.services import credit_of_branch
from earnings.journal_accounts import ACCOUNTS, OTHER
from earnings.models import JournalAccounts
from earnings.services.figures import Period
from ledger.models import Entry
from staff.models import User

# The other account, for entries of credit and of the provider's books by kind; "" is the entry's method.
_OF_CREDIT = {"refund": "owed", "payment": "", "paid_back": "", "brought": "opening"}
_OF_BOOKS = {
    "debit": "cost",
    "refund": "cost",
    "reversal": "cost",
    "topup": "bank",
    "adjustment": "fees",
    "opening": "opening",
}


@dataclass(frozen=True, order=True)
class Booking:
    """Rupiah above zero from one account (`credit`) to another (`debit`); both are keys of `ACCOUNTS`."""

    debit: str
    credit: str
    amount: int


def journal_of(day: dt.date, branch: int | None = None) -> list[Booking]:
    """The bookings of a day of the shop, one for each pair of accounts and direction.

    `branch`: only this branch's part of them.
    """
    period = Period.of_days(day, day)
    within = (period.since, period.until)
    sums: Counter[tuple[str, str]] = Counter()

    def add(debit: str, credit: str, amount: int | None) -> None:
        if amount and amount < 0:
            debit, credit, amount = credit, debit, -amount
        sums[_account(debit), _account(credit)] += amount or 0

    with snapshot():
        of_branch = _in_branch(branch)
        payments = of_branch(Payment.objects.all(), "branch")
        sold = payments.filter(order__created_at__gte=within[0], order__created_at__lt=within[1])
        sold = sold.exclude(outcome=Outcome.NOTHING).annotate(is_debt=Q(debt__isnull=False))
        for method, is_debt, amount in _sums(sold, "method", "is_debt", amount=TO_GIVE_BACK):
            # After a restore a sale on credit may be on no account: no customer owes it until somebody enters it.
            add(OTHER if method == CREDIT and not is_debt else method, "sales", amount)
        ended = of_branch(Payment.objects.refunds(), "branch").filter(ended_at__gte=within[0], ended_at__lt=within[1])
        add("refunds", "owed", ended.aggregate(sum=Sum(TO_GIVE_BACK))["sum"])
        unpaid = payments.filter(on_no_account(), outcome=Outcome.OWED, ended_at__gte=within[0], ended_at__lt=within[1])
        add("refunds", OTHER, unpaid.aggregate(sum=Sum("amount"))["sum"])
        off_account = CreditEntry.objects.filter(kind=CreditEntry.Kind.REFUND, ref_id=OuterRef("ref_id"))
        given = payments.filter(given_at__gte=within[0], given_at__lt=within[1])
        for method, amount in _sums(given.exclude(Exists(off_account)), "given_method", amount=TO_GIVE_BACK):
            add("owed", method, amount)
        # Sales are booked above. What moves leaves one customer's account and comes to another's.
        credit = CreditEntry.objects.filter(at__gte=within[0], at__lt=within[1], kind__in=_OF_CREDIT)
        for kind, method, amount in _sums(credit_of_branch(credit, branch), "kind", "method"):
            add("receivables", _OF_CREDIT[kind] or method, amount)
        books = Entry.objects.filter(at__gte=within[0], at__lt=within[1], kind__in=_OF_BOOKS)
        if branch is not None:
            books = books.filter(Exists(Payment.objects.filter(branch=branch, ref_id=OuterRef("ref_id"))))
        for kind, amount in _sums(books, "kind", amount="balance_change"):
            add("deposit", _OF_BOOKS[kind], amount)
        beside = DrawerEntry.objects.filter(at__gte=within[0], at__lt=within[1], kind__in=["paid_in", "paid_out"])
        for method, amount in _sums(beside.filter(_in_shifts_of(branch, "shift__")), "method"):
            add(method, OTHER, amount)
        shifts = Shift.objects.filter(_in_shifts_of(branch))
        for shift in shifts.filter(day__day=day):
            add(CASH, "differences", shift.difference)
        for shift in shifts.filter(opened_at__gte=within[0], opened_at__lt=within[1]):
            add(CASH, "differences", shift.opening_difference)
    return sorted(Booking(debit, credit, amount) for (debit, credit), amount in sums.items() if amount)


def _in_branch(branch: int | None) -> Callable[[QuerySet[Any], str], QuerySet[Any]]:
    """A function that narrows rows to the branch at the end of a path; without a branch it returns all of them."""
    return lambda rows, path: rows if branch is None else rows.filter(**{path: branch})


def _in_shifts_of(branch: int | None, path: str = "") -> Q:
    """The condition that a shift is of the branch; `path`: the lookup to it ("shift__").

    A closed shift stays in the branch of its day, also when its drawer moves. An open drawer cannot move.
    """
    if branch is None:
        return Q()
    is_open = Q(**{f"{path}day": None, f"{path}drawer__branch": branch})
    return Q(**{f"{path}day__branch": branch}) | is_open


def _account(key: str) -> str:
    """The account of this key: other money for a method that the table no longer has, and for a mere note."""
    return "receivables" if key == CREDIT else key if key in ACCOUNTS else OTHER


def _sums(rows: QuerySet[Any], *keys: str, amount: Any = "amount") -> Iterable[tuple[Any, ...]]:
    sums: Iterable[Any] = rows.order_by().values_list(*keys).annotate(sum=Sum(amount))
    return sums


def account_names() -> dict[str, str]:
    """Number and name of each account, by its key, as the shop chose them."""
    row = JournalAccounts.objects.first()
    return {key: account.name for key, account in ACCOUNTS.items()} | (row.names if row else {})


def shown_accounts() -> dict[str, tuple[str, str]]:
    """Words and number of each account, by its key: the shop's words, or ours in the reader's language."""
    shown = {}
    for key, name in account_names().items():
        number, _space, words = name.partition(" ")
        shown[key] = (str(ACCOUNTS[key].words) if name == ACCOUNTS[key].name else words, number)
    return shown


def choose_accounts(names: dict[str, str], *, actor: User) -> None:
    """Store these accounts; later journals name them."""
    with transaction.atomic():
        row = JournalAccounts.objects.select_for_update().get_or_create(only=True)[0]
        before, row.names = row.names, names
        row.save(update_fields=["names"])
        changed = [key for key, name in names.items() if before.get(key) != name]
        record(
            SETTING_CHANGED,
            actor=actor,
            subject="journal accounts",
            before={"accounts": [before[key] for key in changed if key in before]},
            after={"accounts": [names[key] for key in changed]},
        )
