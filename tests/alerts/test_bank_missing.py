"""Payments that a statement of the bank should have and does not have are an alert."""

import datetime as dt
import re

import pytest
from django.utils import timezone

from alerts.kinds import in_words
from alerts.models import Alert
from bank.formats import columns_of, lines_of
from bank.models import BankFile, BankRow
from bank.services import read_file
from core.times import day_words, start_of_day
from staff.models import User
from testing.database import statements
from testing.people import browser_of, make_person
from tests.alerts.helpers import open_alerts
from tests.bank.helpers import paid
from tests.drawers.helpers import begin
from tests.ledger.helpers import open_books

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def seller() -> User:
    open_books(5_000_000)
    person = make_person("cashier")
    begin(person)
    return person


def _read(days_ago: int, amount: int, name: str = "BCA 1") -> None:
    day = timezone.localdate() - dt.timedelta(days=days_ago)
    content = f"Tanggal;Keterangan;Jumlah\n{day:%d/%m/%Y};BUDI;{amount}".encode()
    lines = lines_of(content)
    actor = User.objects.filter(username="reader").first() or make_person("owner", username="reader")
    read_file(name, content, lines, columns_of(lines), account=name, fee=100, actor=actor)


def test_what_a_read_day_lacks_is_one_alert_that_names_it(seller):
    # given: a payment that came, one that did not, one that is too old, and one of today
    paid(seller, 40_000, "transfer", days_ago=1)
    paid(seller, 5_500, "transfer", days_ago=1)
    paid(seller, 9_000, "transfer", days_ago=8)
    paid(seller, 7_000, "transfer")
    assert open_alerts() == []  # no statement was read

    _read(8, 1)
    assert open_alerts() == []  # nothing is said about days without a statement
    _read(1, 40_000, "MANDIRI 2")
    assert open_alerts() == []  # nor about days that one account lacks
    _read(1, 2)

    assert open_alerts() == open_alerts() == [("bank_missing", "")]
    yesterday = (timezone.localdate() - dt.timedelta(days=1)).isoformat()
    alert = Alert.objects.get()
    assert alert.facts == {"amount": 5_500, "first": yesterday, "last": yesterday}
    words = in_words(alert)
    assert "Rp5.500" in words.title
    page = browser_of("administrator").get(words.url)
    assert [line.amount for line in page.context["lines"]] == [5_500]


def test_a_day_that_went_on_after_its_download_is_not_missing_nor_what_was_matched(seller):
    yesterday = timezone.localdate() - dt.timedelta(days=1)
    key = paid(seller, 5_500, "transfer", days_ago=1)
    with statements() as asked:
        open_alerts()
    assert not [sql for sql in asked if "bank_bankrow" in str(sql)], "without a statement no payment is read"
    _read(1, 40_000)
    BankFile.objects.update(read_at=start_of_day(yesterday) + dt.timedelta(hours=12))
    assert open_alerts() == []

    _read(1, 2, "MANDIRI 2")
    assert open_alerts() == []  # the first account lacks the end of that day
    _read(1, 3)
    assert open_alerts() == [("bank_missing", "")]

    row = BankRow.objects.filter(amount=40_000)
    row.update(state="matched", item=f"sale:{key}", item_day=yesterday, item_amount=5_500)
    assert open_alerts() == []


def test_days_of_qris_are_not_counted_as_one_payment_each_and_yesterdays_only_after_today(seller):
    paid(seller, 50_000, "qris", days_ago=1)
    _read(1, 1)
    _read(0, 2)
    assert open_alerts() == []

    for amount in (10_000, 20_000, 30_000):
        paid(seller, amount, "qris", days_ago=2)
    _read(2, 1)
    _read(1, 2)

    assert open_alerts() == [("bank_missing", "")]
    alert = Alert.objects.get()
    assert alert.facts["amount"] == 60_000
    beside_the_day = in_words(alert).facts.replace(day_words(alert.facts["first"]), "")
    assert not re.search(r"\d", beside_the_day)


def test_the_page_behind_the_alert_says_what_the_alert_leaves_out(seller):
    # given: a missing transfer, and QRIS that may be paid out after the statement of the next day was downloaded
    paid(seller, 5_500, "transfer", days_ago=2)
    paid(seller, 20_000, "qris", days_ago=2)
    _read(2, 1)
    _read(1, 2)
    yesterday = timezone.localdate() - dt.timedelta(days=1)
    noon = start_of_day(yesterday) + dt.timedelta(hours=12)
    BankFile.objects.filter(last_day=yesterday).update(read_at=noon)

    assert open_alerts() == [("bank_missing", "")]
    alert = Alert.objects.get()
    browser = browser_of("administrator")
    page = browser.get(in_words(alert).url)

    missing = page.context["part"]
    assert (alert.facts["amount"], missing.came) == (5_500, 25_500)
    assert 'id="may-still-come" data-amount="20000"' in page.content.decode()
    BankFile.objects.update(read_at=timezone.now())
    assert open_alerts() == [("bank_missing", "")]
    assert Alert.objects.get().facts["amount"] == 25_500
    assert 'id="may-still-come"' not in browser.get(in_words(alert).url).content.decode()
