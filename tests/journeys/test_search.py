"""Words of the trade in a real browser: aliases, any notation of amounts, one typing error; the exact amount first."""

from typing import Any

import pytest
from playwright.sync_api import expect

from staff.roles import create_demo_staff
from tests.conftest import Upstream
from tests.journeys.helpers import OpenWindow, sign_in

pytestmark = [pytest.mark.journey, pytest.mark.django_db(transaction=True)]


def test_words_of_the_trade_find_the_exact_amount_first(live_server: Any, upstream: Upstream, open_window: OpenWindow):
    create_demo_staff()
    page = open_window()
    sign_in(page, live_server.url, "cashier", path=None)

    for words in ("tel 10", "simpati 10rb", "telkmsel 10k", "as 10.000", "telkomsel 10000"):
        page.goto(f"{live_server.url}/products/?q={words}")
        expect(page.locator("#results [data-pick]").first).to_contain_text("Telkomsel 10.000")
        page.goto(f"{live_server.url}/counter/")
        page.keyboard.type(words)
        expect(page.locator("#counter-tiles .denom").first).to_contain_text("10.000")
    page.goto(f"{live_server.url}/products/?q=mlbb")
    expect(page.locator("#results [data-pick]").first).to_contain_text("Mobile Legends")

    # given: an operator is known
    page.goto(f"{live_server.url}/products/?destination=081234567890")
    shown = page.locator("#results [data-pick]").all_inner_texts()
    assert shown
    assert all("Telkomsel" in text for text in shown)
