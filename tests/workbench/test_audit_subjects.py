"""The subject of an event, in words and with a link for people who may open it."""

import re
from typing import Any

import pytest
from django.test import Client

from approvals.events import APPROVED
from audit.events import SETTING_CHANGED
from audit.services import record
from catalogue.events import PRICE_RULE_CHANGED
from credit.events import CREDIT_CHANGED
from customers.models import Customer
from drawers.events import DRAWER_DIFFERENCE
from drawers.models import Drawer
from purchases.events import PRINTED
from purchases.states import Status
from staff.events import LIMIT_CHANGED, ROLE_EDITED
from testing.database import statements
from testing.factories import make_order
from testing.people import browser_of, make_person

pytestmark = pytest.mark.django_db


def cells(browser: Client, **more: Any) -> dict[str, str]:
    """The cell "About" of each event by its kind, and the words beside it."""
    page = browser.get("/audit/", **more).content.decode()
    rows = re.findall(r"<tr id=.*?</tr>", page, re.DOTALL)
    kinds = [event.kind for event in browser.get("/audit/").context["table"].rows]
    return dict(zip(kinds, rows, strict=True))


@pytest.fixture
def events(db: None) -> dict[str, int]:
    sari = make_person("cashier", username="sari", first_name="Bu Sari")
    customer, drawer = Customer.objects.create(name="Pak Budi"), Drawer.objects.create(name="Laci depan")
    order = make_order(Status.SUCCESS, sn="1")
    record(LIMIT_CHANGED, subject="sari", facts={"approved_by": sari.pk, "alone": False})
    record(CREDIT_CHANGED, subject=f"customer {customer.pk}")
    record(SETTING_CHANGED, subject=f"drawer {drawer.pk}")
    record(PRINTED, subject=order.ref_id)
    record(ROLE_EDITED, subject="cashier")
    record(APPROVED, subject="approval:7", facts={"act": "role", "subject": f"person:{sari.pk}", "asked_by": 9999})
    record(DRAWER_DIFFERENCE, subject="shift 8")
    record(PRICE_RULE_CHANGED, subject="all:prepaid")
    return {"sari": sari.pk, "customer": customer.pk, "drawer": drawer.pk}


def test_who_may_open_the_pages_finds_names_and_links(events):
    owner = browser_of("admin")

    seen = cells(owner)

    assert f'href="/staff/{events["sari"]}/">Bu Sari<' in seen["limit_changed"]
    assert f"Bu Sari ({events['sari']})" in seen["limit_changed"]
    assert f'href="/customers/{events["customer"]}/credit/">Pak Budi<' in seen["credit_changed"]
    assert f'href="/drawers/{events["drawer"]}/">Laci depan<' in seen["setting_changed"]
    assert 'href="/orders/' in seen["printed"]
    assert 'href="/staff/roles/cashier/"' in seen["role_edited"]
    assert 'href="/approvals/7/"' in seen["approved"]
    assert f"Bu Sari ({events['sari']})" not in seen["approved"]
    assert "person:" not in seen["approved"]
    assert "9999" in seen["approved"]
    assert 'href="/shifts/8/"' in seen["drawer_difference"]
    assert "all:prepaid" not in seen["price_rule_changed"]


def test_who_may_not_open_them_reads_the_names_alone(events):
    seen = cells(browser_of("auditor"))

    assert "Bu Sari" in seen["limit_changed"]
    assert "/staff/" not in seen["limit_changed"] + seen["role_edited"]
    assert "/drawers/" not in seen["setting_changed"]


def test_of_what_was_deleted_the_number_stays(events):
    Customer.objects.all().delete()

    cell = cells(browser_of("admin"))["credit_changed"]

    assert str(events["customer"]) in cell
    assert "Pak Budi" not in cell
    assert "<a " not in cell


def test_no_code_is_left_in_either_language(events):
    owner = browser_of("admin")
    pages = {}
    for language in ("en", "id"):
        owner.cookies["django_language"] = language
        page = owner.get("/audit/", headers={"Accept-Language": language}).content.decode()
        page = pages[language] = page.split('id="results"')[1]
        assert [
            code for code in ("approval:7", "shift 8", "all:prepaid", f"person:{events['sari']}") if code in page
        ] == []
    assert "Persetujuan no. 7" in pages["id"]
    with statements() as asked:
        owner.get("/audit/")
    assert len(asked) <= 12
