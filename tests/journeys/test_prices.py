"""An administrator sets a price and sees what it does first; a cashier sells for it and sees nothing of the cost."""

from typing import Any

import pytest
from playwright.sync_api import expect

from catalogue.models import Product
from staff.roles import create_demo_staff
from testing.factories import make_product
from tests.journeys.helpers import OpenWindow, sign_in

pytestmark = [pytest.mark.journey, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize("with_script", [True, False])
def test_a_rule_is_seen_saved_and_sold_for(live_server: Any, open_window: OpenWindow, with_script: bool):
    create_demo_staff()
    product = make_product(price=10_203, code="TSEL10")
    page = open_window(java_script_enabled=with_script)
    sign_in(page, live_server.url, "admin", "/products/prices/")

    page.click("#add-rule")
    page.fill("[name=product]", "tsel10")
    page.click("#rule-form button[type=submit]")
    page.select_option("[name=kind]", "plus")
    page.fill("[name=value]", "1.500")
    page.select_option("[name=round_to]", "500")
    page.click("#rule-preview")
    expect(page.locator("#price-TSEL10")).to_contain_text("Rp12.000")
    expect(page.locator("#price-TSEL10")).to_contain_text("Rp1.797")
    assert Product.objects.get(pk=product.pk).selling_price is None
    page.click("#rule-save button[type=submit]")
    expect(page.locator("#results tbody tr")).to_have_count(1)

    till = open_window(java_script_enabled=with_script)
    sign_in(till, live_server.url, "cashier", "/counter/review/?product=TSEL10&q=081234567890")
    expect(till.locator("#review-price")).to_have_text("Rp12.000")
    expect(till.locator("#review-cost")).to_have_count(0)
    assert "10.203" not in till.content()
