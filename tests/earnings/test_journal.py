"""A day's journal agrees with payments, credit, drawers and books to the rupiah; its files balance."""

import csv
import datetime as dt
import io
import re
from collections import Counter
from typing import Any

import pytest
import time_machine
from django.db.models import Sum
from django.utils import timezone

from audit.models import AuditEvent
from core.times import start_of_day
from credit.models import CreditEntry
from drawers.models import DrawerEntry, Payment, Shift
from drawers.services import PaymentFacts, change_payment, close_shift, give_back, take_credit_payment
from earnings.journal_accounts import ACCOUNTS
from earnings.models import JournalAccountsHistory
from earnings.services.journal import Booking, account_names, choose_accounts, journal_of
from ledger.models import Entry
from staff.models import User
from testing.database import past_triggers
from testing.people import browser_of, make_person
from tests.core.helpers import has_id, words_at
from tests.credit.helpers import account_of, give_credit, sell_to, take_off
from tests.drawers.helpers import begin, end, pieces_of, sell
from tests.ledger.helpers import open_books, post

pytestmark = pytest.mark.django_db(transaction=True)


def today() -> list[Booking]:
    return journal_of(timezone.localdate())


def moved(key: str) -> int:
    """Debits less credits of an account."""
    return sum(each.amount for each in today() if each.debit == key) - sum(
        each.amount for each in today() if each.credit == key
    )


@pytest.fixture
def cashier() -> User:
    open_books(5_000_000)
    return make_person("cashier")


@pytest.fixture
def busy_day(cashier: User) -> Shift:
    """Make sales of each kind: arrived, failed and given back, on credit and paid, failed on credit; and other cash."""
    shift = begin(cashier, cash=200_000)
    sold = [end(sell(cashier, 12_000), "success") for _number in range(2)]
    failed = end(sell(cashier, 20_000), "failed")
    give_back(failed.payment, method="cash", actor=cashier, shift=shift)
    end(sell(cashier, 7_000), "failed")  # not given back yet
    customer = give_credit(cap=200_000)
    sold.append(end(sell_to(customer, 30_000, by=cashier), "success"))
    take_credit_payment(account_of(customer), amount=10_000, method="cash", actor=cashier)
    take_off(end(sell_to(customer, 15_000, by=cashier), "failed"), actor=cashier)
    for order in sold:
        post("debit", order.ref_id, 10_000)
    DrawerEntry.objects.create(
        shift=shift, kind="paid_out", amount=-5_000, reason="Ice", person=cashier, at=timezone.now()
    )
    return shift


def test_a_day_is_booked_exactly_and_its_accounts_are_what_the_rooms_say(busy_day: Shift, cashier: User):
    booked = {(each.debit, each.credit): each.amount for each in today()}

    assert booked == {
        ("cash", "sales"): 2 * 12_000 + 20_000 + 7_000,
        ("receivables", "sales"): 45_000,
        ("refunds", "owed"): 20_000 + 7_000 + 15_000,
        ("owed", "cash"): 20_000,
        ("owed", "receivables"): 15_000,
        ("cash", "receivables"): 10_000,
        ("cost", "deposit"): 30_000,
        ("other", "cash"): 5_000,
        ("deposit", "opening"): 5_000_000,
    }
    assert moved("deposit") == Entry.objects.aggregate(sum=Sum("balance_change"))["sum"] == 4_970_000
    assert moved("receivables") == CreditEntry.objects.aggregate(sum=Sum("amount"))["sum"] == 20_000
    owed = Payment.objects.owed().aggregate(sum=Sum("amount"))["sum"]
    assert moved("owed") == -owed == -7_000
    kept = Payment.objects.filter(outcome="kept").aggregate(sum=Sum("amount"))["sum"]
    assert -moved("sales") - moved("refunds") == kept == 54_000

    # then: the cash of the journal is that of the drawer
    close_shift(busy_day, pieces=pieces_of(212_000), actor=cashier, reason="Lost")
    busy_day.refresh_from_db()
    assert busy_day.difference is not None
    assert moved("differences") == -busy_day.difference
    assert moved("cash") == 212_000 - 200_000


def booked_on(day: dt.date) -> dict[tuple[str, str], int]:
    return {(each.debit, each.credit): each.amount for each in journal_of(day)}


def test_given_a_credit_sale_paid_in_cash_after_midnight_then_its_day_has_it():
    midnight = start_of_day(timezone.localdate())
    with time_machine.travel(midnight - dt.timedelta(minutes=10)) as moment:
        cashier = make_person("cashier")
        begin(cashier)
        order = sell_to(give_credit(), 45_000, by=cashier)
        day = timezone.localdate()
        assert booked_on(day) == {("receivables", "sales"): 45_000}
        moment.shift(dt.timedelta(minutes=20))
        change_payment(order.payment, method="cash", actor=cashier)
        assert timezone.localdate() > day

    assert booked_on(day) == {("cash", "sales"): 45_000}
    assert booked_on(midnight.date()) == {}


def test_given_a_credit_sale_on_no_account_then_no_customer_owes_it(cashier: User):
    order = sell(cashier, 12_000)
    with past_triggers() as cursor:  # as a restore leaves it
        row = "UPDATE drawers_payment SET method = 'credit', is_cash = false, cash_given = NULL WHERE id = %s"
        cursor.execute(row, [order.payment_id])

    assert booked_on(timezone.localdate()) == {("other", "sales"): 12_000, ("deposit", "opening"): 5_000_000}


@pytest.mark.usefixtures("busy_day")
def test_the_files_balance_and_hold_the_journal():
    owner = browser_of("admin")
    day = {"day": timezone.localdate().isoformat()}

    page = owner.get("/earnings/journal/", day).content.decode()
    answer = owner.get("/earnings/journal/csv/", day)
    bean = owner.get("/earnings/journal/beancount/", day).content.decode()

    total = sum(each.amount for each in today())
    rows = list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode("utf-8-sig"))))
    assert sum(int(row["debit"]) for row in rows) == sum(int(row["credit"]) for row in rows) == total
    assert sum(map(int, re.findall(r'data-amount="(\d+)"', page))) == total
    by_account: Counter[str] = Counter()
    for row in rows:
        by_account[f"{row['account_number']} {row['account_name']}"] += int(row["debit"]) - int(row["credit"])
    assert by_account == {name: moved(key) for key, name in account_names().items() if name in by_account}
    postings = re.findall(r"^  ([A-Z]\w+(?::[A-Z]\w+)+)  (-?\d+) IDR$", bean, re.MULTILINE)
    assert len(postings) == len(rows)
    plugin, _empty, *booked = bean.splitlines()
    assert plugin == 'plugin "beancount.plugins.auto_accounts"'
    allowed = (
        r'\d{4}-\d\d-\d\d \* "[^"\\]+"|  (Assets|Liabilities|Equity|Income|Expenses)(:[A-Z][A-Za-z]*)+  -?\d+ IDR|'
    )
    assert [line for line in booked if not re.fullmatch(allowed, line)] == []
    assert sum(int(amount) for _account, amount in postings) == 0
    assert {account for account, _amount in postings} <= {account.beancount for account in ACCOUNTS.values()}
    assert AuditEvent.objects.filter(subject="journal").count() == 2


def test_accounts_are_chosen_once_and_kept_with_their_history():
    owner = browser_of("admin")
    form: dict[str, Any] = account_names()

    assert owner.post("/earnings/journal/accounts/", form | {"cash": "Kas"}).status_code == 200  # no number
    assert account_names()["cash"] == ACCOUNTS["cash"].name
    owner.post("/earnings/journal/accounts/", form | {"cash": "1-10001 Kas Toko"})

    assert account_names()["cash"] == "1-10001 Kas Toko"
    assert JournalAccountsHistory.objects.latest("pgh_id").names["cash"] == "1-10001 Kas Toko"
    assert "1-10001 Kas Toko" in AuditEvent.objects.get(subject="journal accounts").after["accounts"]


def test_given_a_sale_of_a_shift_that_is_open_then_the_page_says_that_its_day_may_still_change():
    with time_machine.travel(start_of_day(timezone.localdate()) + dt.timedelta(hours=12)) as moment:
        cashier = make_person("cashier")
        shift = begin(cashier, cash=100_000)
        end(sell(cashier, 12_000), "success")
        moment.shift(dt.timedelta(days=1))
        owner = browser_of("admin")

        before = owner.get("/earnings/journal/")
        close_shift(shift, pieces=pieces_of(112_000), actor=cashier)
        after = owner.get("/earnings/journal/")

    assert (has_id(before, "journal-open"), has_id(after, "journal-open")) == (True, False)


def test_a_sale_waiting_for_a_shift_may_still_change_its_journal():
    with time_machine.travel(start_of_day(timezone.localdate()) + dt.timedelta(hours=12)) as moment:
        cashier = make_person("cashier")
        closed = begin(cashier, cash=100_000)
        close_shift(closed, pieces=pieces_of(100_000), actor=cashier)
        end(sell(cashier, 12_000, payment=PaymentFacts(agreed_in=closed.pk)), "success")
        moment.shift(dt.timedelta(days=1))
        owner = browser_of("admin")

        before = owner.get("/earnings/journal/")
        following = begin(cashier, cash=100_000, drawer=closed.drawer)
        close_shift(following, pieces=pieces_of(112_000), actor=cashier)
        after = owner.get("/earnings/journal/")

    assert (has_id(before, "journal-open"), has_id(after, "journal-open")) == (True, False)


@pytest.mark.usefixtures("busy_day")
def test_the_page_says_accounts_in_words_first_and_what_the_file_is_for():
    day = {"day": timezone.localdate().isoformat()}
    english, indonesian = (browser_of("admin", username=language, language=language) for language in ("en", "id"))

    assert "Cash · 1-1010" in words_at(english.get("/earnings/journal/", day), 'id="journal-rows"')
    assert "Tunai · 1-1010" in words_at(indonesian.get("/earnings/journal/", day), 'id="journal-rows"')
    choose_accounts(account_names() | {"cash": "1-10001 Kas Toko"}, actor=make_person("owner", username="chooser"))

    page = english.get("/earnings/journal/", day)

    assert "Kas Toko · 1-10001" in words_at(page, 'id="journal-rows"')
    assert has_id(page, "journal-for")
