"""With many orders, entries and shifts, the frequent queries of a drawer read only the rows of its shift."""

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from drawers.models import DrawerDay, Shift
from drawers.services import Ending, close_shift, end_payments, lock_shift
from drawers.services.payments import take_in
from staff.models import User
from testing.people import browser_of, make_person
from tests.drawers.helpers import begin, pieces_of, sell
from tests.plans import MANY, asked, copy_many, too_wide, weigh

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def busy_drawers():
    """An open shift with a few sales, after thousands of orders, entries and closed shifts."""
    person = make_person("cashier")
    old = sell(person)
    earlier = begin(person)
    entry = earlier.entries.get()
    long_ago = "o.{0} - interval '30 days' - n * interval '1 minute'"
    copy_many("drawers_payment", old.payment, id="1000000 + n", ref_id="'OLD' || n", at=long_ago.format("at"))
    copy_many(
        "purchases_order",
        old,
        id=f"o.id - {MANY} - n",
        payment_id="1000000 + n",
        ref_id="'OLD' || n",
        idempotency_key="'OLD' || n",
        destination="'0899' || n",
        created_at=long_ago.format("created_at"),
        status="'cancelled'",
        final_at=long_ago.format("created_at"),
        ended_no="0",
        next_poll_at="NULL",
    )
    people = [person.pk, *(User.objects.create(username=f"seller-{n}").pk for n in range(19))]
    copy_many(
        "drawers_shift",
        earlier,
        cashier_id=f"(ARRAY{people})[1 + mod(n, {len(people)})]",
        id="100000 + n",
        opened_at=long_ago.format("opened_at"),
        closed_at=long_ago.format("opened_at"),
        closed_by_id="o.cashier_id",
        counted="o.opening",
        counted_pieces="o.opening_pieces",
        expected="o.opening",
        difference="0",
        day_id=str(DrawerDay.objects.create(day="2026-01-01").pk),
    )
    copy_many("drawers_drawerentry", entry, id="100000 + n", shift_id="100000 + n")
    ended = {"outcome": "'kept'", "cost": "1", "ended_at": long_ago.format("at"), "at": long_ago.format("at")}
    in_shifts = {"sold_in_id": "100000 + n", "ended_in_id": "100000 + n"}
    copy_many("drawers_payment", old.payment, id="2000000 + n", ref_id="'SOLD' || n", **ended, **in_shifts)
    for _ in range(3):
        sell(person)
    weigh()
    return earlier


def test_services_and_pages_read_their_own_shift_only(busy_drawers):
    order = busy_drawers.payments.first().order
    with CaptureQueriesContext(connection) as queries, transaction.atomic():
        take_in(lock_shift(busy_drawers.pk))
        end_payments([Ending(order.payment_id, timezone.now(), 1)])

    statements = [query["sql"] for query in queries.captured_queries if "drawers_payment" in query["sql"]]
    assert len(statements) == 2
    assert list(too_wide(statements)) == []

    # the pages
    browser = browser_of("admin")
    order = busy_drawers.payments.first().ref_id
    shift = f"/shifts/{busy_drawers.pk}/"
    faults = faults_of(browser, "/shifts/", shift, f"{shift}close/", f"/orders/{order}/")
    browser.force_login(busy_drawers.cashier)
    faults += faults_of(browser, "/drawer/", "/")
    close_shift(busy_drawers, pieces=pieces_of(300_000), actor=busy_drawers.cashier, reason="?")
    begin(busy_drawers.cashier, drawer=busy_drawers.drawer)
    browser = browser_of("admin", username="owner")
    faults += faults_of(browser, shift, f"/shifts/days/{timezone.localdate()}/", "/drawers/")

    assert faults == []
    assert Shift.objects.count() > MANY


def faults_of(browser, *addresses):
    """The faults in the queries of these pages, after a first view."""
    faults = []
    for address in addresses:
        browser.get(address)
        with CaptureQueriesContext(connection) as queries:
            assert browser.get(address).status_code == 200, address
        faults += too_wide(asked(queries.captured_queries))
        if len(queries) > 15:
            faults.append(f"{address}: {len(queries)} queries")
    return faults
