"""A product's health in a real browser: its tile has words while it fails or is slow; they go by themselves."""

import datetime as dt
from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone
from playwright.sync_api import Page, expect

from catalogue.models import Product
from purchases.services import count_health
from purchases.states import Status
from staff.roles import create_demo_staff
from testing.factories import make_order, make_product
from tests.journeys.helpers import OpenWindow, faults_in_all_looks, faults_in_both_languages, sign_in

pytestmark = [pytest.mark.journey, pytest.mark.django_db(transaction=True)]

LANGUAGES = {
    "id": ("5 dari 10 gagal", "sedang lambat", "s.d."),
    "en": ("5 of 10 failed", "slow now", "until"),
}


def ended(product: Product, status: Status, *, minutes: float, took: float = 0.1) -> None:
    """An order that ended so many minutes ago, and took so many minutes."""
    final_at = timezone.now() - dt.timedelta(minutes=minutes)
    sent_at = final_at - dt.timedelta(minutes=took)
    make_order(status, product=product, sent_at=sent_at, created_at=sent_at, final_at=final_at)


def show_tiles(page: Page, address: str) -> None:
    page.goto(f"{address}/counter/")
    page.keyboard.type("081234567890")
    expect(page.locator("#counter-tiles")).to_be_visible()


def test_a_tile_says_how_its_product_fares(live_server: Any, open_window: OpenWindow):
    create_demo_staff()
    failing, slow = make_product(), make_product(name="Telkomsel 20.000", price=20_500)
    at = timezone.localtime()
    closed = make_product(
        name="Telkomsel 50.000",
        price=50_500,
        cut_off_start=(at - dt.timedelta(hours=1)).time(),
        cut_off_end=(at + dt.timedelta(hours=1)).time(),
    )
    for minute in range(1, 11):
        ended(failing, Status.FAILED if minute % 2 else Status.SUCCESS, minutes=minute)
    for _ in range(3):
        ended(slow, Status.SUCCESS, minutes=5, took=4)
    page = open_window()
    sign_in(page, live_server.url, "cashier", path=None)

    # given: the counted health
    count_health()
    for language, words in LANGUAGES.items():
        page.context.add_cookies([{"name": settings.LANGUAGE_COOKIE_NAME, "value": language, "url": live_server.url}])
        show_tiles(page, live_server.url)
        for product, word in zip((failing, slow, closed), words, strict=True):
            expect(page.locator(f"[data-product={product.code}]")).to_contain_text(word)
        expect(page.locator(f"[data-product={closed.code}]")).to_contain_text(
            closed.cut_off_end.strftime("%H.%M" if language == "id" else "%H:%M")
        )
    faults = faults_in_all_looks(page)
    page.context.clear_cookies(name=settings.LANGUAGE_COOKIE_NAME)
    page.goto(f"{live_server.url}/products/?destination=081234567890")
    faults += faults_in_both_languages(page)

    # when: it goes well again
    for minute in range(10):
        ended(failing, Status.SUCCESS, minutes=minute / 20)
        ended(slow, Status.SUCCESS, minutes=minute / 20)
    count_health()
    show_tiles(page, live_server.url)

    # then: the tile says nothing any more
    expect(page.locator(f"[data-product={failing.code}]")).to_be_visible()
    expect(page.locator("[data-health]")).to_have_count(0)
    assert faults == []
