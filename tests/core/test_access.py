"""The rights to open pages and to act."""

import pytest
from django.test import Client

from purchases.states import ActionReason, Status
from testing.factories import make_order, make_product
from testing.people import browser_of
from tests.core.helpers import has_id

pytestmark = pytest.mark.django_db


def test_a_stranger_signs_in_and_comes_back_to_the_page():
    for page in ("/orders/", "/accounts/password/change/"):
        answer = Client().get(page)

        assert answer.status_code == 302
        assert answer["Location"].startswith("/accounts/login/?next=")
        assert answer["Location"].endswith((page.replace("/", "%2F"), page)), page
    for url in ("/accounts/signup/", "/accounts/password/reset/", "/accounts/email/"):
        assert Client().get(url).status_code == 404, url


def test_a_live_part_without_a_session_reloads_the_page():
    order = make_order(Status.PENDING)

    answer = Client().get(f"/orders/{order.ref_id}/live/", headers={"HX-Request": "true"})

    assert answer["HX-Refresh"] == "true"
    assert order.ref_id.encode() not in answer.content


def test_no_page_of_the_staff_stays_in_the_browsers_cache(cashier):
    for page in ("/orders/", "/me/"):
        assert "no-store" in cashier.get(page)["Cache-Control"], page


def test_somebody_without_a_role_reads_so_on_the_overview_and_opens_nothing_else():
    nobody = browser_of()

    assert has_id(nobody.get("/"), "no-role")
    pages = ("/products/", "/products/price-changes/", "/orders/", "/bills/", "/customers/", "/callbacks/")
    assert [nobody.get(page).status_code for page in pages] == [403] * len(pages)


def test_an_auditor_sees_products_and_cannot_buy(auditor):
    product = make_product()

    listed = auditor.get("/products/").content.decode()

    assert product.name in listed
    assert "/counter/" not in listed


def test_a_cashier_does_not_resolve_orders_of_others(cashier):
    order = make_order(Status.NEEDS_ACTION, action_reason=ActionReason.CUT_OFF)
    page = cashier.get(f"/orders/{order.ref_id}/").content.decode()

    # A cashier may cancel and send again their own orders; this role has no right to the other acts.
    for action, answered in {"cancel": 302, "again": 302, "close": 403, "propose": 403}.items():
        assert f"/{action}/" not in page
        assert cashier.post(f"/orders/{order.ref_id}/{action}/").status_code == answered, action
        order.refresh_from_db()
        assert order.status == Status.NEEDS_ACTION, action


def test_what_changes_something_is_never_done_by_a_link(admin):
    of_orders = ["/orders/X/cancel/", "/counter/bills/X/ask/", "/counter/bills/X/again/"]
    for url in ["/overview/balance/", "/overview/catalogue/", "/callbacks/1/process/", *of_orders]:
        assert admin.get(url).status_code == 405, url
