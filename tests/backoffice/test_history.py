"""`benchmarks/history.py`: a copied morning looks as the services write it, and nothing else changes.

Over these thousands of orders, every page, every search and all periodic work read only the rows that they need, by an
index.
"""

import pytest
from django.db import connection
from django.db.models import Count, F
from django.test import Client

from audit.services import seal, verify
from benchmarks.counter_pages import fill_counter
from benchmarks.history import seed, tell_sandbox
from benchmarks.office_pages import fill_office
from core import heartbeats, stores
from core.errors import Refused
from credit.models import CreditAccount
from drawers.models import Payment, Shift
from ledger.models import Books, Entry
from ledger.services import first_day, read_days
from purchases.models import Order
from purchases.states import Status
from reconciliation.models import ReconciliationRun
from reconciliation.services import prove, reconcile
from staff.models import User
from staff.roles import create_demo_staff
from testing.factories import make_order
from tests.backoffice.plans import too_many_of_pages, too_wide_of_pages, too_wide_of_periodic_work
from tests.ledger.helpers import open_books

ORDERS = 6_000


def definitions():
    """Every index, constraint and trigger, and whether it is on."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT indexname, '' FROM pg_indexes WHERE schemaname = 'public'"
            " UNION ALL SELECT conname, contype::text || convalidated::text FROM pg_constraint"
            " UNION ALL SELECT attrelid::regclass::text, attstattarget::text FROM pg_attribute WHERE attstattarget >= 0"
            " UNION ALL SELECT tgname, tgenabled::text FROM pg_trigger WHERE NOT tgisinternal"
        )
        return sorted(cursor.fetchall())


def look_as_written_by_services() -> None:
    """Assert that all kinds of orders are there, in order of time and paid, and that accounts and shifts add up."""
    ends = dict(Order.objects.values_list("status").annotate(Count("pk")))
    assert ends[Status.SUCCESS] > ORDERS * 0.9
    assert {Status.FAILED, Status.REJECTED, Status.CANCELLED, Status.REVERSED, Status.NEEDS_ACTION} <= set(ends)
    copied = Entry.objects.exclude(kind=Entry.Kind.OPENING)  # the books were opened before
    for rows, moment in ((copied, "at"), (Order.objects.all(), "created_at"), (Payment.objects.all(), "at")):
        times = list(rows.order_by("pk").values_list(moment, flat=True))
        assert times == sorted(times)
    assert set(Payment.objects.values_list("method", flat=True)) == {"cash", "qris", "transfer", "card", "credit"}
    assert not Payment.objects.exclude(order__ref_id=F("ref_id")).exists()
    for account in CreditAccount.objects.all():
        assert account.balance == sum(account.entries.values_list("amount", flat=True)) > 0
    for shift in Shift.objects.exclude(left_before=None):
        assert shift.left_before == shift.opening
    assert make_order().pk == Order.objects.latest("pk").pk


@pytest.fixture
def sandboxed(upstream, settings):
    settings.SANDBOX_URL = upstream.process.url
    stores.patient().delete(heartbeats._BEATS)  # of another test's processes
    create_demo_staff()
    return upstream


def assert_sound(sandbox, balance):
    """Assert that the books equal the sandbox's, each day adds up, and everything is proved and sealed."""
    tell_sandbox(balance)
    assert prove(everything=True).flaw == ""
    run = reconcile(ReconciliationRun.Trigger.PERSON)
    assert (run.state, run.difference) == (ReconciliationRun.Result.BALANCED, 0)
    assert sandbox.process.control("ledger")["balance"] == Books.objects.get().balance == run.reported
    year = read_days(first_day(), first_day().replace(year=first_day().year + 1))
    assert len(year.closings) > 360
    assert all(day.adds_up for day in year.closings)
    while seal():
        pass
    assert [str(flaw) for flaw in verify().flaws] == []


def fill_up():
    """Fill the tables that the history leaves empty, and update the statistics; returns the owner's browser."""
    fill_counter()
    fill_office()
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")  # else plans follow the rows that other tests have left in the tables' files
        # An index made over changed rows serves only after every older transaction, also another test's, has ended.
        cursor.execute("SELECT indexrelid::regclass::text FROM pg_index WHERE indcheckxmin")
        for (name,) in cursor.fetchall():
            cursor.execute(f"REINDEX INDEX {name}")
    browser = Client()
    browser.force_login(User.objects.get(username="owner"))
    return browser


# One test, since a year takes long to make. Only the periodic work, which comes last, changes it.
@pytest.mark.long
def test_given_history_then_it_is_sound_as_services_write_it_and_nothing_reads_it_whole(sandboxed):
    open_books(1_000_000)
    while seal():
        pass
    before = definitions()

    balance = seed(ORDERS)

    assert definitions() == before
    assert_sound(sandboxed, balance)
    look_as_written_by_services()
    owner = fill_up()
    assert (too_wide_of_pages(owner), too_many_of_pages(owner), too_wide_of_periodic_work()) == ([], {}, [])


def test_given_orders_a_running_shop_or_a_real_account_then_refused(sandboxed, settings):
    heartbeats._recorded.clear()
    heartbeats.record("web")
    with pytest.raises(Refused, match="is running"):
        seed(300)
    make_order()
    with pytest.raises(Refused, match="already"):
        seed(300)
    settings.SANDBOX = False
    with pytest.raises(Refused, match="sandbox only"):
        seed(300)
    assert not Entry.objects.exists()
