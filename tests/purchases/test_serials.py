"""The same SN twice in a brand, and an invalid token, open an incident with the report; the order stays."""

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from purchases.incident_words import incident_words
from purchases.models import Incident, Order
from purchases.services import Decision, Report, apply_reports, apply_verdict
from purchases.states import Status
from testing.factories import make_order, make_product, reported
from testing.orders import CALLBACK, STAFF, Meanwhile, never_arrived, report
from testing.people import browser_of
from tests.plans import asked, copy_many, plan_of, scans, weigh
from tests.purchases.helpers import incidents

pytestmark = pytest.mark.django_db

SN = "20261122-100045"
TOKEN = "12345678901234567890"


def token_product(**facts):
    return make_product(category="token-pln", brand="pln", name="Token PLN 20.000", **facts)


def succeed(sn: str | None, **facts) -> Order:
    return report(make_order(Status.PENDING, **facts), sn=sn)


def test_the_same_sn_of_a_brand_is_an_incident_and_the_status_stays():
    first = succeed(SN, product=make_product(category="pulsa"))
    second = succeed(f"{SN}/BUDI", product=make_product(category="data"))

    assert incidents() == [(second.ref_id, "doubled_sn")]
    assert first.ref_id in Incident.objects.get().detail
    assert second.status == Status.SUCCESS
    report(second, sn=f"{SN}/BUDI")
    assert len(incidents()) == 1


def test_what_proves_nothing_only_begins_so_or_is_of_another_brand_is_not_the_same():
    for sn in ("SUCCESS", "0", "-", "SN-1", ""):
        succeed(sn)
        succeed(sn)
        assert incidents() == [], sn

    succeed(SN)
    succeed(f"{SN}1")
    other = make_product(brand="indosat")
    other.brand.name = "Indosat"
    other.brand.save()
    succeed(SN, product=other)
    assert incidents() == []


def test_two_of_one_batch_are_compared_with_each_other():
    orders = [make_order(Status.PENDING, destination=f"08120000000{n}") for n in range(2)]
    reports = {
        order.ref_id: Report(data=reported(order, sn=SN), source=CALLBACK, callback_id=order.pk) for order in orders
    }

    apply_reports(reports)

    incident = Incident.objects.get()
    assert (incident.order_id, incident.source, incident.callback_id) == (orders[1].pk, "callback", orders[1].pk)


@pytest.mark.django_db(transaction=True)
def test_of_two_reports_at_one_moment_the_second_sees_the_first():
    first, second = (make_order(Status.PENDING, destination=f"08120000000{n}") for n in range(2))
    with transaction.atomic():
        report(first, sn=SN)
        other = Meanwhile(lambda: report(second, sn=SN))
        assert other.is_blocked_by_us()
    other.end()

    assert incidents() == [(second.ref_id, "doubled_sn")]
    assert first.ref_id in Incident.objects.get().detail
    assert set(Order.objects.values_list("status", flat=True)) == {Status.SUCCESS}


def test_what_two_people_decide_is_compared_too():
    succeed(SN)
    order = never_arrived(make_order(Status.QUEUED, destination="081200000001"))

    apply_verdict(order.pk, Decision(status=Status.SUCCESS, source=STAFF, sn=SN))

    assert incidents() == [(order.ref_id, "doubled_sn")]


def test_a_token_product_needs_a_token_and_a_bill_of_pln_none():
    for sn, kinds in (
        (TOKEN, []),
        (f"{TOKEN[:4]}-{TOKEN[4:-1]}9/BUDI/R1/1300VA/32,5", []),
        ("1234567890123456", ["no_token"]),
        (f"{TOKEN}1", ["no_token"]),
        (None, ["no_token"]),
    ):
        order = succeed(sn, product=token_product(), destination="12345678901")

        assert list(order.incidents.values_list("kind", flat=True)) == kinds, sn
        assert order.status == Status.SUCCESS, sn
    product = make_product(category="pln-pascabayar", brand="pln", name="PLN Pascabayar", type="postpaid")
    bill = succeed("2026112212345678", product=product, kind="bill", destination="12345678901")
    assert not bill.incidents.exists()


def test_a_success_takes_one_statement_more_and_a_failure_none():
    success, failure = make_order(Status.PENDING), make_order(Status.PENDING, destination="081200000001")
    with CaptureQueriesContext(connection) as failing:
        report(failure, "failed")

    with CaptureQueriesContext(connection) as succeeding:
        report(success, sn=SN)

    # The SNs' own lock: the trx_id, which each report has, is looked up together with the incidents, too.
    assert len([statement for statement in succeeding if "lock(20261122" in statement["sql"]]) == 1
    assert not [statement for statement in failing if "lock(20261122" in statement["sql"]]


def test_everybody_who_sees_orders_reads_about_the_sn_in_their_language():
    first, second = succeed(SN), succeed(SN)
    token = succeed("123", product=token_product())
    browser = browser_of("cashier")

    def page(order, language):
        return browser.get(order.get_absolute_url(), HTTP_ACCEPT_LANGUAGE=language).content.decode()

    assert f"is also the SN of {first.ref_id}" in page(second, "en")
    doubled, no_token = page(second, "id"), page(token, "id")
    assert (f"juga SN {first.ref_id}" in doubled, "is also" in doubled) == (True, False)
    assert ("SN-nya" in no_token, "the SN is" in no_token) == (True, False)


def test_the_words_of_an_incident():
    for detail, words in (
        ("failed is reported for an order that is success", "“Failed” is reported for an order that is “Success”"),
        ("charged 10500, confirmed were 10000 rupiah", "charged Rp10.500, confirmed Rp10.000"),
        ("accepted as 4711, now the status request says not found", None),
        ("something else: 10500", None),
    ):
        assert incident_words(detail) == (words or detail)


def test_with_many_orders_the_look_up_reads_few(transactional_db):
    order = succeed(SN)
    copy_many("purchases_order", order, id="-n", ref_id="'C' || n", idempotency_key="'C' || n", sn="'777' || n")
    weigh()
    with CaptureQueriesContext(connection) as queries:
        report(make_order(Status.PENDING, destination="081200000009"), sn=SN)

    looked_up = [
        statement for statement in asked(queries.captured_queries) if "unnest" in statement and "twin" in statement
    ]
    assert len(looked_up) == 1
    steps = list(scans(plan_of(looked_up[0].partition(";")[2])))  # after it has taken its locks
    assert {kind for table, kind, _rows in steps if table == "purchases_order"} <= {"Index Scan", "Bitmap Heap Scan"}
    assert max(rows for table, _kind, rows in steps if table == "purchases_order") < 10
