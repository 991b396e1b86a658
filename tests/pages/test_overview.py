"""The overview: balance, today's orders, what waits for a person, the catalogue's last sync; and the two banners."""

import datetime as dt
import html
import re

import pytest
from django.test import Client, override_settings
from django.utils import timezone

from balance.models import UpstreamAccount
from purchases.models import CatalogueSync, Incident
from purchases.order_life import HoldReason, Status
from tests.factories import make_order, make_product
from tests.pages.conftest import read_balance

pytestmark = pytest.mark.django_db


def words(answer) -> str:
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", answer.content.decode())))


def poll_of(answer) -> tuple[str, int]:
    found = re.search(
        r'id="overview-poll" hidden hx-get="([^"]+)" hx-trigger="load delay:(\d+)s"', answer.content.decode()
    )
    return html.unescape(found.group(1)), int(found.group(2))


def test_the_balance_is_shown_with_its_age(cashier):
    read_balance(9_969_475)

    page = cashier.get("/")

    assert "Rp9.969.475" in words(page)
    assert re.search(r'As told\s+<time datetime="[^"]+" title="[^"]+ WIB" data-relative>', page.content.decode())


def test_a_balance_never_told_is_not_zero(cashier):
    page = words(cashier.get("/"))

    assert "The upstream has not told it yet." in page
    assert "Rp0" not in page


def test_todays_orders_are_counted_by_status_with_links_to_the_list(cashier):
    product = make_product()
    make_order(Status.SUCCESS, product=product)
    make_order(Status.SUCCESS, product=product)
    make_order(Status.FAILED, product=product)
    make_order(Status.SUCCESS, product=product, created_at=timezone.now() - dt.timedelta(days=1, hours=1))

    page = cashier.get("/").content.decode()

    link = re.search(r'href="(/orders/\?status=success&amp;since=[\d-]+)">(.*?)</a>', page, re.DOTALL)
    assert "2" in re.sub(r"<[^>]+>", "", link.group(2))
    assert cashier.get(html.unescape(link.group(1))).content.decode().count('class="row-link"') == 2


def test_held_orders_and_incidents_wait_for_someone(cashier):
    held = make_order(Status.HELD, hold_reason=HoldReason.BALANCE_SHORT)
    Incident.objects.create(
        order=make_order(Status.SUCCESS), kind="contradiction", source="callback", detail="oddly so"
    )

    page = cashier.get("/")

    waiting = page.content.decode().split('id="waiting-title"')[1].split('id="latest-title"')[0]
    assert f"/orders/{held.ref_id}/" in waiting
    assert "oddly so" in words(page)


def test_with_nothing_to_do_it_says_so(cashier):
    assert "Nothing waits for a person." in words(cashier.get("/"))


def test_a_failed_sync_shows_its_fault_and_the_last_good_one(cashier):
    hour_ago = timezone.now() - dt.timedelta(hours=1)
    CatalogueSync.objects.create(started_at=hour_ago, finished_at=hour_ago, result="done", products=5)
    CatalogueSync.objects.create(finished_at=timezone.now(), result="fault", fault="timeout")

    page = words(cashier.get("/"))

    assert "Last fetched 1 hour ago" in page
    assert "The last attempt failed; the last good catalogue is in use." in page
    assert "timeout" in page


@pytest.mark.parametrize("url", ["/overview/balance/", "/overview/catalogue/"])
def test_after_a_press_of_a_button_the_page_looks_for_the_result_every_two_seconds(cashier, url):
    assert poll_of(cashier.get("/"))[1] == 30

    assert cashier.post(url)["Location"] == "/"

    assert poll_of(cashier.get("/"))[1] == 2


@pytest.mark.parametrize("url", ["/overview/balance/", "/overview/catalogue/"])
def test_with_the_queue_down_the_button_says_so_and_the_page_still_works(cashier, url, monkeypatch):
    monkeypatch.setattr("backoffice.dashboard.request_balance_reading", lambda: False)
    monkeypatch.setattr("backoffice.dashboard.request_catalogue_sync", lambda: False)

    assert "The queue cannot be reached just now" in words(cashier.post(url, follow=True))


def test_the_overview_is_sent_anew_only_when_something_changed(cashier):
    ask, _delay = poll_of(cashier.get("/"))

    assert 'id="overview"' not in cashier.get(ask).content.decode()
    read_balance(1_234_567)

    changed = cashier.get(ask)
    assert "Rp1.234.567" in words(changed)
    assert 'id="overview" hx-swap-oob="true"' in changed.content.decode()
    assert poll_of(changed)[0] != ask


# --- the state of the upstream, on every page -------------------------------------------------------------------


@pytest.mark.parametrize("page", ["/", "/products/", "/orders/"])
def test_an_unreachable_upstream_is_said_on_every_page_and_blocks_none(cashier, page):
    UpstreamAccount.objects.create(unreachable_since=timezone.now() - dt.timedelta(minutes=3))

    answer = cashier.get(page)

    assert answer.status_code == 200
    assert "The upstream cannot be reached." in words(answer)
    assert "3 minutes ago" in words(answer)


def test_a_refused_account_is_said_with_the_upstreams_code(cashier):
    UpstreamAccount.objects.create(refused_since=timezone.now(), refused_code="INVALID_SIGNATURE")

    assert "The upstream refuses our account (INVALID_SIGNATURE)." in words(cashier.get("/orders/"))


def test_the_sandbox_is_announced_on_every_page_and_only_then(cashier):
    with override_settings(SANDBOX=True, SANDBOX_URL="http://localhost:8100"):
        for client, page in (
            (cashier, "/"),
            (cashier, "/products/"),
            (Client(), "/accounts/login/"),
            (cashier, "/nope/"),
        ):
            assert 'href="http://localhost:8100"' in client.get(page).content.decode()
    with override_settings(SANDBOX=False):
        assert "sandbox-bar" not in cashier.get("/").content.decode()
