"""The list of bill checks, and who may see and do what about bills."""

import re

import pytest

from bills.models import BillCheck
from purchases.models import Order
from purchases.order_life import Status
from tests.factories import make_biller, make_check, make_payment
from tests.pages.conftest import browser_of
from tests.pages.test_buying import words

pytestmark = pytest.mark.django_db


# --- the list -----------------------------------------------------------------------------------------------------


def test_the_list_is_searched_by_number_name_and_ref_id_and_narrowed_by_state(cashier):
    valid = make_check(destination="7777700001", customer_name="BUDI")
    refused = make_check("refusal", destination="8888800002", error_code="BILL_NOT_AVAILABLE", message="None.")

    def refs(query):
        page = cashier.get(f"/bills/?{query}").content.decode()
        return {check.ref_id for check in (valid, refused) if f"/bills/{check.ref_id}/" in page}

    assert refs("") == {valid.ref_id, refused.ref_id}
    assert refs("q=77700") == {valid.ref_id}
    assert refs("q=budi") == {valid.ref_id}
    assert refs(f"q={refused.ref_id}") == {refused.ref_id}
    assert refs("state=not_payable") == {refused.ref_id}
    assert refs("state=paid") == set()
    assert "No bill matches" in words(cashier.get("/bills/?state=paid"))
    assert "A filter makes no sense" in words(cashier.get("/bills/?state=nonsense"))


def test_the_list_tells_the_payment_that_is_under_way(cashier):
    make_payment(make_check(), Status.PENDING)

    page = words(cashier.get("/bills/"))

    assert "In process" in page
    assert "Payable " not in page.split("Checked")[-1]


def test_the_list_refreshes_itself_only_while_somebody_is_asked(cashier):
    make_check()
    assert "hx-select" not in cashier.get("/bills/").content.decode()

    make_check("none")
    assert 'hx-select="#bills"' in cashier.get("/bills/").content.decode()


def test_many_checks_are_paged(cashier):
    biller = make_biller()
    for i in range(52):
        make_check(product=biller, destination=f"12345678{i:02}")

    first = cashier.get("/bills/").content.decode()
    older = re.search(r'href="(\?older=[^"]+)"', first).group(1)

    assert first.count('class="order-row"') == 50
    assert cashier.get(f"/bills/{older}").content.decode().count('class="order-row"') == 2


def test_an_empty_list_leads_to_the_first_check(cashier):
    assert "No bills checked yet" in words(cashier.get("/bills/"))


# --- who may ------------------------------------------------------------------------------------------------------


def test_an_auditor_sees_bills_and_can_do_nothing_about_them(auditor):
    check = make_check()
    page = auditor.get(f"/bills/{check.ref_id}/")

    assert "Someone who may pay bills can pay it while it lives." in words(page)
    assert "<form method" not in page.content.decode().split('id="bill-live"')[1].split("</main>")[0]
    assert auditor.get("/bills/").status_code == 200
    assert auditor.get("/bills/check/").status_code == 403
    for action in ("pay", "ask", "again"):
        assert auditor.post(f"/bills/{check.ref_id}/{action}/", {"amount": check.total}).status_code == 403
    assert BillCheck.objects.count() == 1
    assert not Order.objects.exists()


def test_somebody_without_a_role_sees_no_bill():
    check = make_check()
    nobody = browser_of()

    assert nobody.get("/bills/").status_code == 403
    assert nobody.get(f"/bills/{check.ref_id}/").status_code == 403


def test_the_address_of_a_refused_payment_opened_again_leads_to_the_bill(cashier):
    check = make_check()

    answer = cashier.get(f"/bills/{check.ref_id}/pay/")

    assert (answer.status_code, answer.url) == (302, f"/bills/{check.ref_id}/")
    assert not Order.objects.exists()


@pytest.mark.parametrize("action", ["ask", "again"])
def test_what_changes_something_is_never_done_by_a_link(cashier, action):
    check = make_check()

    assert cashier.get(f"/bills/{check.ref_id}/{action}/").status_code == 405
