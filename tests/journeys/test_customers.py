"""Customers in a real browser: they come from pasted rows."""

from typing import Any

import pytest
from playwright.sync_api import expect

from customers.models import Customer
from staff.roles import create_demo_staff
from tests.journeys.helpers import OpenWindow, faults_in_all_looks, sign_in

pytestmark = [pytest.mark.journey, pytest.mark.django_db(transaction=True)]


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
