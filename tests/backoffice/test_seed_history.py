"""`seed_history`: the made-up rows are such as the services write, and nothing in the database is changed for them."""

import datetime as dt
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.models import Count
from django.utils import timezone

from audit.services import seal, seal_again, verify
from backoffice.management.commands.seed_history import Command
from core import heartbeats, stores
from ledger.models import Books, Entry
from ledger.services import first_day, read_days
from purchases.models import Order
from purchases.states import Status
from reconciliation.models import ReconciliationRun
from reconciliation.services import prove, reconcile
from staff.roles import create_demo_staff
from testing.factories import make_order
from testing.sandbox_process import SandboxProcess
from tests.audit.helpers import sold
from tests.gateway.helpers import read_balance
from tests.ledger.helpers import open_books

BALANCED = ReconciliationRun.Result.BALANCED


def seed(orders, *flags):
    create_demo_staff()
    call_command("seed_history", "--orders", str(orders), *flags, stdout=StringIO(), stderr=StringIO())


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


@pytest.fixture
def sandboxed(upstream, settings):
    settings.SANDBOX_URL = upstream.process.url
    stores.patient().delete(heartbeats._BEATS)  # of another test's processes
    return upstream


def test_given_history_when_compared_then_it_is_balanced(sandboxed):
    before = definitions()

    seed(6_000)

    assert Order.objects.count() == 6_000
    run = reconcile(ReconciliationRun.Trigger.PERSON)
    assert (run.state, run.difference) == (BALANCED, 0)
    assert sandboxed.process.control("ledger")["balance"] == Books.objects.get().balance == run.reported
    assert definitions() == before


def test_a_past_made_up_after_the_first_seal_breaks_no_audit(sandboxed):
    open_books(1_000_000)
    while seal():
        pass
    assert verify().rows

    seed(200)
    while seal():
        pass

    assert [str(flaw) for flaw in verify().flaws] == []


def test_seals_are_kept_with_a_real_upstream(settings):
    settings.SANDBOX = False
    with pytest.raises(RuntimeError):
        seal_again()


def test_the_sandbox_of_run_gets_the_token_with_the_balance(settings):
    process = SandboxProcess.fresh("seeded", SANDBOX_TOKEN="of-this-folder")
    settings.SANDBOX_URL, settings.SANDBOX_DASHBOARD_URL = process.url, f"{process.url}/?token=of-this-folder"
    try:
        Command()._tell_sandbox(1_234_567)
        assert process.control("ledger")["balance"] == 1_234_567
    finally:
        process.remove()


def test_given_history_then_ends_of_all_kinds_are_in_it(sandboxed):
    seed(4_000)

    found = dict(Order.objects.values_list("status").annotate(Count("pk")))
    assert found[Status.SUCCESS] > 3_000
    assert {Status.FAILED, Status.REJECTED, Status.CANCELLED, Status.REVERSED, Status.NEEDS_ACTION} <= set(found)
    year = read_days(first_day(), first_day().replace(year=first_day().year + 1))
    assert all(day.adds_up for day in year.closings)


def test_given_history_when_an_order_is_placed_its_id_is_new(sandboxed):
    seed(300)
    newest = Order.objects.latest("pk").pk

    assert make_order().pk == newest + 1


def test_given_opened_books_then_their_opening_comes_first(sandboxed):
    read_balance(7_000_000)
    assert reconcile().state == BALANCED

    seed(300)

    opening = Entry.objects.get(kind=Entry.Kind.OPENING)
    assert (opening.amount, opening) == (7_000_000, Entry.objects.order_by("at", "pk").first())
    assert reconcile(ReconciliationRun.Trigger.PERSON).state == BALANCED


def test_given_history_when_more_follows_then_it_is_balanced(sandboxed):
    seed(2_000)
    newest = Order.objects.latest("created_at", "pk")

    seed(1_500, "--more")

    assert Order.objects.count() == 3_500
    assert Order.objects.filter(pk__gt=newest.pk, created_at__gt=newest.created_at).count() == 1_500
    run = reconcile(ReconciliationRun.Trigger.PERSON)
    assert (run.state, run.difference) == (BALANCED, 0)
    assert sandboxed.process.control("ledger")["balance"] == Books.objects.get().balance == run.reported


def test_given_a_sale_just_now_when_more_then_it_is_refused(sandboxed):
    seed(300)
    sold()
    newest = Entry.objects.latest("pk").pk

    with pytest.raises(CommandError, match="a minute"):
        seed(300, "--more")
    assert Entry.objects.latest("pk").pk == newest
    assert prove(everything=True).flaw == ""


@pytest.mark.parametrize("later", [dt.timedelta(minutes=3), dt.timedelta(days=2)])
def test_given_sales_before_when_more_then_the_books_are_right(sandboxed, monkeypatch, later):
    seed(300)
    sold()
    clock = timezone.now
    monkeypatch.setattr(timezone, "now", lambda: clock() + later)
    assert prove(everything=True).flaw == ""

    seed(300, "--more")

    assert prove(everything=True).flaw == ""
    times = list(Entry.objects.order_by("pk").values_list("at", flat=True))
    assert times == sorted(times)


@pytest.mark.parametrize("role", ["web", "worker-2", "beat"])
def test_given_a_running_shop_when_more_then_it_is_refused(sandboxed, role):
    seed(300)
    heartbeats._recorded.clear()
    heartbeats.record(role)

    with pytest.raises(CommandError, match="is running"):
        seed(300, "--more")
    assert Order.objects.count() == 300


def test_given_orders_then_it_is_refused(sandboxed):
    seed(300)

    with pytest.raises(CommandError, match="--more"):
        seed(300)
    assert Order.objects.count() == 300


def test_given_a_real_account_then_nothing_is_written(transactional_db, settings):
    settings.SANDBOX = False

    with pytest.raises(CommandError, match="sandbox only"):
        call_command("seed_history", "--orders", "10", stdout=StringIO(), stderr=StringIO())
    assert not Order.objects.exists()
