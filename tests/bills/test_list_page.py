"""The list of bill checks, and the rights about bills."""

import datetime as dt
import re

import pytest
from django.utils import timezone

from bills.lists import read_checks
from bills.models import BillCheck
from bills.states import BillState, Standing
from purchases.models import Order
from purchases.states import Status
from testing.database import undone
from testing.factories import make_biller, make_check, make_payment
from tests.bills.helpers import expire, leads_to_counter, read, standing_on
from tests.core.helpers import cells, has_id, next_question

pytestmark = pytest.mark.django_db


# --- the list -----------------------------------------------------------------------------------------------------


def test_the_list_is_searched_and_narrowed_by_state(cashier):
    valid = make_check(destination="7777700001", customer_name="BUDI")
    refused = make_check("refusal", destination="8888800002", error_code="BILL_NOT_AVAILABLE", message="None.")

    def refs(query):
        page = cashier.get(f"/bills/?{query}").content.decode()
        return {check.ref_id for check in (valid, refused) if f"/bills/{check.ref_id}/" in page}

    assert refs("") == {valid.ref_id, refused.ref_id}
    assert refs("q=77777") == refs("q=00001") == {valid.ref_id}
    assert refs("q=bud") == {valid.ref_id}
    assert refs(f"q={refused.ref_id}") == {refused.ref_id}
    assert refs("state=not_payable") == {refused.ref_id}
    assert refs("state=paid") == set()
    assert has_id(cashier.get("/bills/?state=paid"), "none-matches")
    assert has_id(cashier.get("/bills/?state=nonsense"), "filter-faults")


def test_whole_words_of_a_name_come_before_unfinished_ones(cashier):
    rina = make_check(destination="7777700001", customer_name="RINA PERMANA 17")
    rinaldi = make_check(destination="7777700002", customer_name="RINALDI PERMANA")

    def refs(query):
        page = cashier.get(f"/bills/?q={query}").content.decode()
        return {check.ref_id for check in (rina, rinaldi) if f"/bills/{check.ref_id}/" in page}

    assert refs("rina+perm") == {rina.ref_id}
    assert refs("rinal+perm") == {rinaldi.ref_id}
    assert refs("rin+perm") == refs("permana") == {rina.ref_id, rinaldi.ref_id}
    assert refs("rina+x") == set()


def test_the_foot_sums_the_rows_that_are_payable(cashier):
    first = make_check(total=255_350)
    check = {"product": first.product, "destination": first.destination}
    other = make_check(product=first.product, destination="8888800002", total=40_000)
    make_check(**check, total=255_350)  # in place of the first check
    expire(make_check(product=first.product, destination="8888800003", total=1_000))
    open_elsewhere = make_check(product=first.product, destination="8888800004", total=7_000)
    make_payment(make_check(product=first.product, destination="8888800004", total=7_000), Status.PENDING)

    def payable() -> tuple[int, int]:
        answer = cashier.get("/bills/sums/")
        rows = [bill for bill in BillCheck.objects.with_standing() if bill.now_standing == Standing.PAYABLE]
        [_paid, (_words, shown)] = answer.context["facts"]
        return sum(bill.to_pay for bill in rows), int("".join(c for c in shown if c.isdigit()))

    assert payable() == (255_350 + 40_000,) * 2
    make_payment(other, Status.SUCCESS)
    assert payable() == (255_350,) * 2
    make_payment(make_check(**check, total=255_350), Status.SUCCESS)
    assert payable() == (0, 0)
    assert read(open_elsewhere).now_standing == Standing.OPEN_ELSEWHERE


def test_an_older_check_of_a_payable_bill_is_replaced_and_not_refused(cashier):
    older = make_check()
    newer = make_check(product=older.product, destination=older.destination)

    rows = cells(cashier.get("/bills/"), "status")

    assert rows == [str(BillState.VALID.label), str(BillState.REPLACED.label)]
    for state, check in ((BillState.REPLACED, older), (BillState.VALID, newer)):
        page = cashier.get(f"/bills/?state={state}").content.decode()
        assert re.findall(r'id="row-(\d+)"', page) == [f"{check.pk}"]
    assert not cells(cashier.get("/bills/?state=not_payable"), "status")


def test_the_list_follows_what_moves_and_gets_changed_rows(cashier):
    make_check()
    assert next_question(cashier.get("/bills/")) is None

    asking = make_check("none", destination="8888800002")
    question, _delay = next_question(cashier.get("/bills/"))
    assert cells(cashier.get(question), "status") == []

    asking.answer, asking.next_poll_at, asking.answered_at = "refusal", None, timezone.now()
    asking.save()
    news = cashier.get(question)
    assert f'id="row-{asking.pk}" hx-swap-oob="true"' in news.content.decode()
    assert len(cells(news, "status")) == 1
    assert next_question(news) is None


def test_checks_are_read_in_the_order_of_their_keys():
    keys = [make_check().pk, make_check(destination="8888800002").pk]

    for wanted in (keys, keys[::-1]):
        assert [check.pk for check in read_checks(wanted)] == wanted


def test_the_list_reads_the_clock_and_the_payments_at_each_look(cashier):
    assert has_id(cashier.get("/bills/"), "none-yet")
    check = make_check()
    assert cells(cashier.get("/bills/"), "status") == [str(BillState.VALID.label)]

    BillCheck.objects.filter(pk=check.pk).update(expires_at=timezone.now())
    assert cells(cashier.get("/bills/"), "status") == [str(BillState.EXPIRED.label)]

    make_payment(make_check(destination="8888800002"), Status.PENDING)
    assert cells(cashier.get("/bills/"), "status") == [str(Status.PENDING.label), str(BillState.EXPIRED.label)]


def test_in_the_list_a_month_is_paid_for_25_days(cashier):
    for days, state in ((24, BillState.NOT_PAYABLE), (26, BillState.VALID)):
        with undone():
            paid, at = make_check(), timezone.now() - dt.timedelta(days=days)
            make_payment(paid, Status.SUCCESS, final_at=at, created_at=at)
            make_check(product=paid.product, destination=paid.destination)

            assert cells(cashier.get("/bills/"), "status") == [str(state.label), str(BillState.PAID.label)]


def test_many_checks_are_paged(cashier):
    biller = make_biller()
    for i in range(52):
        make_check(product=biller, destination=f"12345678{i:02}")

    first = cashier.get("/bills/")
    older = re.search(r'href="(\?older=[^"]+)"', first.content.decode()).group(1)

    assert len(cells(first, "status")) == 50
    assert len(cells(cashier.get(f"/bills/{older}"), "status")) == 2


# --- who may ------------------------------------------------------------------------------------------------------


def test_an_auditor_sees_bills_and_can_do_nothing_about_them(auditor):
    check = make_check()
    page = auditor.get(f"/bills/{check.ref_id}/")

    assert standing_on(page) == "payable"
    assert "<form method" not in page.content.decode().split('id="bill-live"')[1].split("</main>")[0]
    assert auditor.get("/bills/").status_code == 200
    assert not leads_to_counter(auditor, check)
    assert auditor.get(f"/counter/bills/{check.ref_id}/").status_code == 403
    for action in ("pay", "ask", "again"):
        assert auditor.post(f"/counter/bills/{check.ref_id}/{action}/", {"amount": check.total}).status_code == 403
    assert BillCheck.objects.count() == 1
    assert not Order.objects.exists()


def test_the_address_of_a_refused_payment_leads_to_the_bill(cashier):
    check = make_check()

    answer = cashier.get(f"/counter/bills/{check.ref_id}/pay/")

    assert (answer.status_code, answer.url) == (302, f"/counter/bills/{check.ref_id}/")
    assert not Order.objects.exists()
