"""An entry of credit keeps its branch: a person who moves changes no past journal and no past day at the bank."""

import datetime as dt
from collections.abc import Mapping

import pytest
from django.utils import timezone

from bank.services.items import sums_by_day
from branches.models import FIRST, Branch
from credit.models import CreditEntry
from credit.services import bring_forward
from drawers.models import Drawer, Shift
from drawers.services import (
    change_drawer,
    change_payment,
    close_shift,
    expected_cash,
    give_back,
    merge_customers,
    pay_out_credit,
    take_credit_payment,
    undo_credit_payment,
)
from earnings.services.journal import journal_of
from staff.models import User
from staff.services import move
from testing.database import past_triggers
from testing.people import make_person
from tests.branches.helpers import make_branch
from tests.credit.helpers import account_of, give_credit, sell_to, take_off
from tests.drawers.helpers import begin, end, pieces_of, sell
from tests.tills.helpers import make_till
from tills.backends import PinBackend

pytestmark = pytest.mark.django_db(transaction=True)

# The rupiah of the accounts that customers owe, by debit and credit; and what each way to pay brings and takes.
Books = tuple[Mapping[tuple[str, str], int], Mapping[str, tuple[int, int]]]
NOTHING: Books = ({}, {})


@pytest.fixture
def second() -> Branch:
    return make_branch("Tebet")


@pytest.fixture
def boss() -> User:
    """An owner of the first branch."""
    return make_person("admin", username="boss")


def books_of(branch: int, day: dt.date | None = None) -> Books:
    """What a branch's journal of the day says of customers' debts, and what its day at the bank says."""
    day = day or timezone.localdate()
    booked = {(each.debit, each.credit): each.amount for each in journal_of(day, branch)}
    owed = {accounts: amount for accounts, amount in booked.items() if "receivables" in accounts}
    return owed, {method: sums for (_day, method), sums in sums_by_day(day, day, branch).items()}


def assert_books(first: Books, of_second: Books, second: Branch) -> None:
    """Assert these books of both branches, also for entries of an earlier version, which have no branch."""
    for _is_old in (False, True):
        assert (books_of(FIRST), books_of(second.pk)) == (first, of_second)
        as_before_the_column()


def swap(*people: User, second: Branch) -> None:
    """Close all shifts, and move each of these people to the other branch."""
    for shift in Shift.objects.filter(closed_at=None):
        close_shift(shift, pieces=pieces_of(expected_cash(shift)), actor=shift.cashier)
    mover = make_person("admin", username="mover")
    for person in people:
        person.refresh_from_db()
        move(person, branch=FIRST if person.branch_id == second.pk else second.pk, actor=mover)


def drawer_in(branch: Branch, cashier: User) -> Shift:
    """An open shift of this person at a drawer of the branch."""
    return begin(cashier, drawer=Drawer.objects.create(name=f"Drawer {branch.name}", branch=branch), cash=0)


def as_before_the_column() -> None:
    """Take the branch from all entries, as those of an earlier version have none."""
    with past_triggers() as cursor:
        cursor.execute("UPDATE credit_creditentry SET branch_id = NULL")


def test_given_the_person_of_a_payment_moves_then_its_day_stays(second, boss):
    cashier, account = make_person("cashier"), account_of(give_credit())
    bring_forward(account, amount=30_000, reason="notebook", actor=boss)
    take_credit_payment(account, amount=10_000, method="transfer", actor=cashier)

    swap(cashier, boss, second=second)

    here = {("receivables", "opening"): 30_000, ("transfer", "receivables"): 10_000}
    assert_books((here, {"transfer": (10_000, 0)}), NOTHING, second)


def test_given_a_drawer_of_another_branch_then_its_branch_has_all(second, boss):
    # given: a sale on credit, its payment, a failed sale and a corrected one; only the drawer is in the second branch
    cashier, customer = make_person("cashier"), give_credit()
    shift = drawer_in(second, cashier)
    end(sell_to(customer, 30_000, by=cashier), "success")
    failed = end(sell_to(customer, 15_000, by=cashier), "failed")
    corrected = sell(cashier, 5_000)
    change_payment(corrected.payment, method="credit", customer=customer, actor=cashier)
    take_credit_payment(account_of(customer), amount=10_000, method="transfer", actor=cashier)
    take_credit_payment(account_of(customer), amount=2_000, method="cash", actor=cashier)
    take_off(failed, actor=boss)
    assert {*CreditEntry.objects.values_list("branch", flat=True)} == {second.pk}

    swap(boss, second=second)
    change_drawer(shift.drawer, name="moved", is_active=True, branch=FIRST, actor=make_person("admin"))

    there = {
        ("receivables", "sales"): 50_000,
        ("transfer", "receivables"): 10_000,
        ("cash", "receivables"): 2_000,
        ("owed", "receivables"): 15_000,
    }
    assert_books(NOTHING, (there, {"transfer": (10_000, 0)}), second)


@pytest.mark.parametrize("is_old", [False, True])
def test_given_a_payment_undone_after_the_move_then_its_branch_books_it(second, boss, is_old):
    cashier, account = make_person("cashier"), account_of(give_credit())
    bring_forward(account, amount=30_000, reason="notebook", actor=boss)
    payment = take_credit_payment(account, amount=10_000, method="transfer", actor=cashier)
    with past_triggers() as cursor:
        cursor.execute("UPDATE credit_creditentry SET at = at - interval '1 day'")
    if is_old:
        as_before_the_column()
        payment.refresh_from_db()
    swap(cashier, boss, second=second)

    undo_credit_payment(payment, actor=boss, reason="typed wrongly")

    yesterday = timezone.localdate() - dt.timedelta(days=1)
    assert books_of(FIRST, yesterday)[0] == {("receivables", "opening"): 30_000, ("transfer", "receivables"): 10_000}
    assert books_of(FIRST) == ({("receivables", "transfer"): 10_000}, {})
    assert books_of(second.pk) == books_of(second.pk, yesterday) == NOTHING


def test_given_kept_money_paid_out_then_the_branch_of_the_payout_has_it(second):
    # given: a paid sale of the second branch fails, and its price is kept for the customer
    here, there = make_person("cashier"), make_person("cashier", username="there", branch=second)
    customer = give_credit()
    drawer_in(second, there)
    order = end(sell_to(customer, 20_000, by=there), "failed")
    take_credit_payment(account_of(customer), amount=20_000, method="cash", actor=there)
    take_off(order, actor=there)

    # when: a person without a drawer pays some of it out, and the cashier of the drawer the rest
    pay_out_credit(account_of(customer), amount=12_000, method="transfer", actor=here, reason="BCA")
    pay_out_credit(account_of(customer), amount=8_000, method="cash", actor=there)
    swap(here, there, second=second)

    assert books_of(FIRST) == ({("receivables", "transfer"): 12_000}, {"transfer": (0, 12_000)})
    of_second = {
        ("receivables", "sales"): 20_000,
        ("cash", "receivables"): 20_000,
        ("owed", "receivables"): 20_000,
        ("receivables", "cash"): 8_000,
    }
    assert books_of(second.pk) == (of_second, {})


def test_given_a_paid_sale_given_back_elsewhere_then_its_branch_has_it(second, boss):
    there, customer = make_person("cashier", branch=second), give_credit()
    order = end(sell_to(customer, 20_000, by=there), "failed")
    take_credit_payment(account_of(customer), amount=20_000, method="transfer", actor=there)

    give_back(order.payment, method="transfer", actor=boss, note="BCA")
    swap(there, boss, second=second)

    of_second = {
        ("receivables", "sales"): 20_000,
        ("transfer", "receivables"): 20_000,
        ("owed", "receivables"): 20_000,
        ("receivables", "transfer"): 20_000,
    }
    assert_books(NOTHING, (of_second, {"transfer": (20_000, 20_000)}), second)


def test_given_a_merge_elsewhere_then_each_moved_debt_keeps_its_branch(second, boss):
    # given: two tabs; one owes for a sale of the second branch, of which a part is paid, and from before
    there, stays, leaves = make_person("cashier", branch=second), give_credit("Bu Sri"), give_credit("Bu Sri W")
    end(sell_to(stays, 4_000, by=there), "success")
    order = end(sell_to(leaves, 30_000, by=there), "failed")
    bring_forward(account_of(leaves), amount=5_000, reason="notebook", actor=boss)
    take_credit_payment(account_of(leaves), amount=1_000, method="transfer", actor=there)

    merge_customers(stays, leaves, name="Bu Sri", note="", actor=boss)
    take_off(order, actor=boss)
    swap(there, boss, second=second)

    of_second = {
        ("receivables", "sales"): 34_000,
        ("transfer", "receivables"): 1_000,
        ("owed", "receivables"): 30_000,
    }
    assert books_of(second.pk) == (of_second, {"transfer": (1_000, 0)})
    assert books_of(FIRST) == ({("receivables", "opening"): 5_000}, {})
    moved = CreditEntry.objects.filter(kind="moved", due_on__isnull=False).order_by("amount")
    assert [*moved.values_list("amount", "branch")] == [(5_000, FIRST), (30_000, second.pk)]


def test_a_payment_at_a_till_belongs_to_the_branch_of_the_till(second, boss):
    cashier, account = make_person("cashier"), account_of(give_credit())
    bring_forward(account, amount=30_000, reason="notebook", actor=boss)
    make_till(branch=second, held_by=cashier)

    take_credit_payment(account, amount=10_000, method="qris", actor=PinBackend().get_user(cashier.pk))

    assert books_of(second.pk) == ({("qris", "receivables"): 10_000}, {"qris": (10_000, 0)})
