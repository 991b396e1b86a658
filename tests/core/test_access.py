"""The rights to open pages and to act."""

import pytest
from django.test import Client

from purchases.models import Incident
from purchases.states import ActionReason, Status
from testing.factories import make_order, make_product
from testing.people import browser_of
from tests.core.helpers import has_id

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("page", ["/orders/", "/accounts/password/change/"])
def test_a_stranger_signs_in_and_comes_back_to_the_page(page):
    answer = Client().get(page)

    assert answer.status_code == 302
    assert answer["Location"].startswith("/accounts/login/?next=")
    assert answer["Location"].endswith(page.replace("/", "%2F")) or answer["Location"].endswith(page)


def test_a_live_part_without_a_session_reloads_the_page():
    order = make_order(Status.PENDING)

    answer = Client().get(f"/orders/{order.ref_id}/live/", headers={"HX-Request": "true"})

    assert answer["HX-Refresh"] == "true"
    assert order.ref_id.encode() not in answer.content


@pytest.mark.parametrize("page", ["/orders/", "/me/"])
def test_no_page_of_the_staff_stays_in_the_browsers_cache(cashier, page):
    assert "no-store" in cashier.get(page)["Cache-Control"]


def test_somebody_without_a_role_reads_so_on_the_overview_and_opens_nothing_else():
    nobody = browser_of()

    assert has_id(nobody.get("/"), "no-role")
    assert [nobody.get(page).status_code for page in ("/products/", "/orders/", "/callbacks/")] == [403] * 3


def test_an_auditor_sees_products_and_cannot_buy(auditor):
    product = make_product()

    listed = auditor.get("/products/").content.decode()

    assert product.name in listed
    assert "/counter/" not in listed


@pytest.mark.parametrize("action", ["cancel", "again", "close", "propose"])
def test_a_cashier_does_not_resolve_orders_of_others(cashier, action):
    order = make_order(Status.NEEDS_ACTION, action_reason=ActionReason.CUT_OFF)

    page = cashier.get(f"/orders/{order.ref_id}/").content.decode()
    answer = cashier.post(f"/orders/{order.ref_id}/{action}/")

    assert f"/{action}/" not in page
    # Cancel and send again are for the cashier's own orders, the others for nobody of this role.
    assert answer.status_code == (302 if action in {"cancel", "again"} else 403)
    order.refresh_from_db()
    assert order.status == Status.NEEDS_ACTION


def test_a_cashier_may_ask_for_the_status_but_an_auditor_may_not(cashier, auditor):
    order = make_order(Status.UNKNOWN)

    assert cashier.post(f"/orders/{order.ref_id}/check/").status_code == 302
    assert auditor.post(f"/orders/{order.ref_id}/check/").status_code == 403


def test_only_a_resolver_closes_incidents(cashier, admin):
    order = make_order(Status.SUCCESS)
    incident = Incident.objects.create(
        order=order, kind="contradiction", source="callback", detail="failed after success"
    )
    url = f"/orders/{order.ref_id}/incidents/{incident.pk}/close/"

    assert cashier.post(url, {"note": "seen"}).status_code == 403
    assert admin.post(url, {"note": "called the upstream"}).status_code == 302
    incident.refresh_from_db()
    assert incident.closing_note == "called the upstream"


@pytest.mark.parametrize("url", ["/accounts/signup/", "/accounts/password/reset/", "/accounts/email/"])
def test_there_is_no_sign_up_no_reset_by_mail_and_no_mail_page(url):
    assert Client().get(url).status_code == 404


@pytest.mark.parametrize(
    "url", ["/overview/balance/", "/overview/catalogue/", "/orders/X/cancel/", "/callbacks/1/process/"]
)
def test_what_changes_something_is_never_done_by_a_link(admin, url):
    assert admin.get(url).status_code == 405
