"""The workbench in a browser: accessible in each colour scheme and size; one press leads from order to exchange."""

from typing import Any

import pytest
from playwright.sync_api import expect

from approvals.events import APPROVED
from audit.services import record
from staff.models import User
from tests.journeys.busy_day import a_busy_day
from tests.journeys.helpers import OpenWindow, faults_in_both_languages, faults_of, sign_in

pytestmark = [pytest.mark.journey, pytest.mark.django_db(transaction=True)]


def test_an_auditor_walks_through_the_workbench(live_server: Any, open_window: OpenWindow):
    day = a_busy_day()
    record(APPROVED, actor=User.objects.get(username="owner"), subject="approval:1", facts={"sha256": "e7" * 32})
    page = open_window()
    sign_in(page, live_server.url, "auditor", path=None)
    faults: list[str] = []
    exchange, *others = [f"/exchanges/{exchange.pk}/" for exchange in day["exchanges"]]
    order = day["orders"]["success"]
    for address in ("/exchanges/", "/exchanges/errors/", "/audit/", exchange, f"/orders/{order.ref_id}/story/"):
        page.goto(live_server.url + address)
        faults += faults_in_both_languages(page)
    for address in ("/exchanges/?q=zzz", "/audit/?person=zzz", *others):
        page.goto(live_server.url + address)
        faults += faults_of(page)
    assert faults == []

    # then: one press leads from an order to its exchange, and to its story
    page.goto(f"{live_server.url}/orders/{order.ref_id}/")
    page.click("#order-exchanges")
    page.locator("table.rows a.row-link").first.click()
    expect(page.locator("#asked")).to_contain_text('"signature": "***"')
    page.go_back()
    page.go_back()
    page.click("#order-story")
    expect(page.locator("ol.story > li[data-kind=audit]")).to_have_count(2)

    # then: what people did fits its table on a desktop
    wide = open_window(size=(1440, 900), language="id-ID")
    sign_in(wide, live_server.url, "auditor", "/audit/")
    table = wide.locator("main table.rows")
    expect(table).to_contain_text("Owner Demo")
    expect(table).not_to_contain_text("e7e7e7")
    assert table.evaluate("e => e.parentElement.scrollWidth - e.parentElement.clientWidth") <= 0
