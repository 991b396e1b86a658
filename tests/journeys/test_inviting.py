"""An invitation in real browsers: the link is copied from one and opened in another."""

from typing import Any

import pytest
from playwright.sync_api import expect

from staff.roles import create_demo_staff
from tests.journeys.helpers import PHONE, OpenWindow, faults_of, sign_in

pytestmark = [pytest.mark.journey, pytest.mark.django_db(transaction=True)]


def test_an_invited_cashier_chooses_a_password_on_a_phone(live_server: Any, open_window: OpenWindow):
    create_demo_staff()
    owner, phone = open_window(), open_window(size=PHONE, scheme="dark")
    sign_in(owner, live_server.url, "owner", "/staff/invite/")
    owner.locator("[name=full_name]").press_sequentially("Bu Sari")
    expect(owner.locator("[name=username]")).to_have_value("sari")
    expect(owner.locator("[name=role]")).to_have_value("cashier")
    owner.click("main form button.btn-primary")
    faults = faults_of(owner)

    phone.goto(owner.inner_text("#access-link"))
    faults += faults_of(phone)
    phone.fill("[name=new_password1]", "entirely-other-9")
    phone.fill("[name=new_password2]", "entirely-other-9")
    phone.click("#choose-password button.btn-primary")

    expect(phone.locator(".toast-success")).to_be_visible()
    assert phone.url == f"{live_server.url}/"
    owner.goto(f"{live_server.url}/staff/")
    expect(owner.locator("td.c-sessions").filter(has_text="1")).to_have_count(2)
    assert faults + faults_of(owner) == []
