"""A trx_id that names another order's transaction opens an incident with the report, once; the outcome is applied."""

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from ledger.models import Entry
from purchases.models import Incident, Order
from purchases.services import Report, apply_reports, close_incident, submit
from purchases.states import Status
from testing.callbacks import body_for, post
from testing.factories import make_order, moves, reported
from testing.orders import CALLBACK, POLL, SUBMIT, Meanwhile, at_once, report
from testing.people import browser_of, make_person
from tests.conftest import Upstream
from tests.plans import asked, copy_many, plan_of, scans, weigh
from tests.purchases.helpers import incidents
from tests.purchases.magic import buy, place
from upstream.budget import CallClass

pytestmark = pytest.mark.django_db

OTHER = "081200000001"


def two_orders() -> tuple[Order, Order]:
    """An order with the trx_id "T-1", and an order that is to be reported."""
    return make_order(Status.PENDING, trx_id="T-1"), make_order(Status.SENDING, destination=OTHER)


def test_each_outcome_is_applied_and_the_first_order_stays():
    for status in ("pending", "success", "failed"):
        first, second = make_order(Status.PENDING, trx_id=f"T-{status}"), make_order(Status.SENDING, destination=OTHER)

        second = report(second, status, source=SUBMIT, trx_id=f"T-{status}")

        first.refresh_from_db()
        assert (first.status, second.status) == ("pending", status)
        assert (moves(first), moves(second)) == ([], [("sending", status, "submit")])
        assert [incident.kind for incident in second.incidents.all()] == ["doubled_trx_id"], status
        assert not first.incidents.exists(), status


def test_each_order_with_a_doubled_trx_id_leads_to_its_open_incident():
    first, second = two_orders()
    report(second, trx_id="T-1")
    third, other = make_order(Status.SUCCESS, trx_id="T-1"), make_order(Status.SUCCESS, trx_id="T-2")
    owner, mark = browser_of("admin"), f'data-incident-of="{second.ref_id}"'
    orders = (first, second, third, other)

    pages = [owner.get(order.get_absolute_url()).content.decode() for order in orders]

    assert [mark in page for page in pages] == [True, False, True, False]
    for page in (pages[0], pages[2]):  # it names that order, and not that order's incident about this one
        line = page.partition(mark)[2].partition("</li>")[0]
        assert f'href="{second.get_absolute_url()}#incidents"' in line
        assert (f">{second.ref_id}<" in line, first.ref_id in line) == (True, False)
    close_incident(Incident.objects.get(), actor=make_person("admin", username="second"), note="the same")
    assert not any(mark in owner.get(order.get_absolute_url()).content.decode() for order in orders)


def test_a_further_trx_id_of_another_order_is_named_too():
    first, second = (
        make_order(Status.PENDING, trx_id="T-1"),
        make_order(Status.PENDING, trx_id="T-2", destination=OTHER),
    )

    second = report(second, trx_id="T-1")
    report(second, trx_id="T-1")

    assert sorted(incidents()) == [(second.ref_id, "contradiction"), (second.ref_id, "doubled_trx_id")]
    assert first.ref_id in Incident.objects.get(kind="doubled_trx_id").detail
    assert (second.status, second.trx_id) == ("success", "T-1")


def test_the_same_order_and_other_letters_are_no_incident():
    first, second = two_orders()

    for source in (SUBMIT, POLL, CALLBACK):
        report(first, trx_id="T-1", source=source)
        report(second, trx_id="t-1", source=source)

    assert incidents() == []


@pytest.mark.django_db(transaction=True)
def test_answer_poll_and_callback_at_once_are_one_incident():
    _first, second = two_orders()

    at_once(*(lambda s=source: report(second, source=s, trx_id="T-1") for source in (SUBMIT, POLL, CALLBACK)))
    post(body_for(second, trx_id="T-1"))

    assert incidents() == [(second.ref_id, "doubled_trx_id")]
    assert len(moves(second)) == 1


@pytest.mark.django_db(transaction=True)
def test_of_two_orders_reported_at_once_the_second_has_it():
    orders = [make_order(Status.SENDING, destination=f"08120000000{n}") for n in range(2)]
    first, second = orders
    with transaction.atomic():
        report(first, trx_id="T-1")
        other = Meanwhile(lambda: report(second, trx_id="T-1"))
        waits = other.is_blocked_by_us()
    other.end()

    assert waits
    assert incidents() == [(second.ref_id, "doubled_trx_id")]


def test_a_success_with_anothers_trx_id_counts_with_an_incident_and_further_ones_open_no_more(upstream: Upstream):
    # given: a success, and two orders whose answers were lost
    first, second, third = buy(1), place(5), place(8)
    for order in (second, third):
        submit(order.pk, call_class=CallClass.INTERACTIVE)

    second, third = (report(order, source=CALLBACK, trx_id=first.trx_id) for order in (second, third))

    assert incidents() == [(second.ref_id, "doubled_trx_id")]
    assert first.ref_id in Incident.objects.get().detail
    for order in (second, third):
        assert (order.status, order.trx_id, order.price) == ("success", first.trx_id, order.max_price)
    for order in (first, second, third):
        entries = Entry.objects.filter(ref_id=order.ref_id).order_by("pk").values_list("kind", "balance_change")
        assert list(entries) == [("hold", 0), ("release", 0), ("debit", -order.price)]
        assert upstream.ledger(order) == [("debit", -order.price)]
        assert upstream.calls(order, "create") == ["/v1/transaction/create"]


def test_a_trx_id_is_named_again_once_its_incident_is_closed_and_another_one_at_once():
    _first, second = two_orders()
    report(second, trx_id="T-1")
    make_order(Status.PENDING, trx_id="T-2", destination="081300000001")
    other = report(make_order(Status.SENDING, destination="081300000002"), trx_id="T-2")
    named = [(order.ref_id, "doubled_trx_id") for order in (second, other)]
    assert incidents() == named
    close_incident(Incident.objects.get(order=second), actor=make_person("supervisor"), note="Asked the provider")

    later = [report(make_order(Status.SENDING, destination=f"08130000001{n}"), trx_id="T-1") for n in range(2)]

    assert incidents() == [*named, (later[0].ref_id, "doubled_trx_id")]


def test_of_one_batch_with_one_trx_id_a_single_order_has_it():
    orders = [make_order(Status.PENDING, destination=f"08120000000{n}") for n in range(4)]

    reports = {
        order.ref_id: Report(data=reported(order, trx_id="T-1"), source=CALLBACK, callback_id=order.pk)
        for order in orders
    }
    apply_reports(reports)

    assert incidents() == [(orders[1].ref_id, "doubled_trx_id")]
    assert Incident.objects.values_list("source", "callback_id").get() == ("callback", orders[1].pk)
    assert set(Order.objects.values_list("status", "trx_id")) == {("success", "T-1")}


def test_everybody_who_sees_the_order_reads_it_also_of_a_trx_id_of_odd_letters():
    odd = "\U000e0001" * 100  # of which each letter takes ten letters in the detail
    browser = browser_of("cashier")
    for trx_id in ("T-1", odd):
        first, second = make_order(Status.PENDING, trx_id=trx_id), make_order(Status.PENDING, destination=OTHER)
        report(second, trx_id=trx_id)
        for language, words in (("en", "is also the trx_id of"), ("id", "juga trx_id")):
            page = browser.get(second.get_absolute_url(), HTTP_ACCEPT_LANGUAGE=language).content.decode()
            assert f"{words} {first.ref_id}" in page, (trx_id, language)


def test_with_many_orders_the_look_up_reads_few(transactional_db):
    first, second = two_orders()
    copy_many(
        "purchases_order",
        first,
        id="-n",
        ref_id="'C' || n",
        idempotency_key="'C' || n",
        trx_id="'C' || n",
        destination="'C' || n",
    )
    weigh()
    with CaptureQueriesContext(connection) as queries:
        report(second, trx_id="T-1")
        report(second, trx_id="T-1")

    looked_up = [statement for statement in asked(queries.captured_queries) if "upper(other.trx_id)" in statement]
    assert len(looked_up) == 1  # then the order has the trx_id
    assert incidents() == [(second.ref_id, "doubled_trx_id")]
    steps = list(scans(plan_of(looked_up[0].partition(";")[2])))  # after it has taken its locks
    assert {kind for table, kind, _rows in steps if table == "purchases_order"} <= {"Index Scan", "Bitmap Heap Scan"}
    assert max(rows for table, _kind, rows in steps if table == "purchases_order") < 10
