"""A message of the page at the counter, which stays until a person closes it, hides nothing that a cashier needs."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from staff.models import User
from staff.roles import create_demo_staff
from tests.counter.helpers import NUMBER, shelf_of_telkomsel
from tests.drawers.helpers import begin, end, sell
from tests.journeys.helpers import PHONE, OpenWindow, faults_in, sign_in

pytestmark = [pytest.mark.journey, pytest.mark.django_db(transaction=True)]

# What a message covers of the field, the panel and the strip, each scrolled into sight as by Tab.
COVERED = """() => {
    const message = document.querySelector("[data-lost-answer]").getBoundingClientRect();
    const parts = [...document.querySelectorAll("#counter-q, #counter-panel :is(input, select, button), [data-run]")];
    return parts.filter(part => part.offsetParent).filter(part => {
        part.scrollIntoView({block: "nearest"});
        const {left, right, top, bottom} = part.getBoundingClientRect();
        return left < message.right && message.left < right && top < message.bottom - 1 && message.top < bottom - 1;
    }).map(part => part.id || part.outerHTML.slice(0, 80));
}"""


def test_a_message_about_a_lost_answer_hides_no_field(live_server: Any, open_window: OpenWindow):
    # given a cashier with several sales in the strip
    create_demo_staff()
    cashier = User.objects.get(username="cashier")
    begin(cashier)
    shelf_of_telkomsel()
    for number in range(6):
        end(sell(cashier, 10_500, destination=f"08123456780{number}"), "failed")

    for size, language in ((PHONE, "id-ID"), ((1440, 900), "en-GB")):
        # when a refund gets no answer
        page = open_window(size=size, language=language, may_complain=True)
        sign_in(page, live_server.url, "cashier", "/counter/")
        page.route("**/give-back/**", lambda route: route.abort())
        page.locator("[data-run]").last.focus()
        page.keyboard.press("g")
        expect(page.locator("[data-lost-answer]")).to_be_visible()

        # then the page hides nothing of the counter, neither before nor in a sale
        assert page.evaluate(COVERED) == [], language
        open_review(page)
        assert page.evaluate(COVERED) == [], language

        # nor the cash that is being typed
        page.focus("#id_cash_given")
        assert page.evaluate(COVERED) == [], language
        assert faults_in(page, [(size, "dark"), (size, "light")]) == []


def open_review(page: Page) -> None:
    page.fill("#counter-q", f"{NUMBER} 100")
    page.press("#counter-q", "Enter")
    expect(page.locator("#counter-review[data-ready]")).to_be_visible()
