"""Customers in a real browser: they come from a file; two entries of one person become one."""

from typing import Any

import pytest
from playwright.sync_api import expect

from customers.models import Customer
from staff.roles import create_demo_staff
from tests.customers.helpers import make_customer
from tests.journeys.helpers import OpenWindow, faults_in_all_looks, sign_in

pytestmark = [pytest.mark.journey, pytest.mark.django_db(transaction=True)]


def test_two_entries_of_one_person_become_one(live_server: Any, open_window: OpenWindow):
    create_demo_staff()
    address, window = live_server.url, open_window(language="en-GB")
    customer = make_customer("Bu Sari", ("081211112222", "phone"))
    make_customer("Sari Warung", ("081211112222", "phone"), ("081233334444", "phone"), note="Blok C 4")
    sign_in(window, address, "cashier", f"/customers/{customer.pk}/")

    window.click("#to-merge")
    faults = faults_in_all_looks(window)
    window.click("#others a")
    faults += faults_in_all_looks(window)
    window.get_by_label("Sari Warung").check()
    window.click("#merge")

    expect(window.locator("[data-code=customers_merged]")).to_be_visible()
    expect(window.get_by_role("heading", name="Sari Warung")).to_be_visible()
    expect(window.locator("td.c-number")).to_have_text(["0812-1111-2222", "0812-3333-4444"])
    assert (Customer.objects.get().note, faults) == ("Blok C 4", [])


def test_customers_come_from_pasted_rows(live_server: Any, open_window: OpenWindow):
    create_demo_staff()
    address, window = live_server.url, open_window(language="id-ID")
    sign_in(window, address, "supervisor", "/customers/")

    window.click("#to-import")
    faults = faults_in_all_looks(window)
    window.fill("#id_text", "nama;nomor\nBu Sari;81211112222\nBu Rini;8.12E+10\n")
    window.click("#import-form button[type=submit]")
    expect(window.locator("td [data-outcome]")).to_have_count(2)
    faults += faults_in_all_looks(window)
    assert not Customer.objects.exists()
    window.click("#import-save")

    expect(window.locator("[data-code=customers_imported]")).to_be_visible()
    assert Customer.objects.get().numbers.get().destination == "081211112222"
    assert faults == []
