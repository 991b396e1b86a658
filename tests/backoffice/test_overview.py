"""The overview of a person who sees the whole shop: balance, today's orders, waiting work, the catalogue's last sync.

Also the effect of the upstream's state on every page, for everybody.
"""

import datetime as dt
import html
import re
import uuid

import pytest
from django.contrib.auth.models import Group, Permission
from django.db import connection
from django.test import Client, override_settings
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from backoffice import dashboard
from catalogue.models import CatalogueSync
from gateway.models import UpstreamAccount
from purchases.models import Incident
from purchases.states import ActionReason, Status
from testing.factories import make_order, make_product
from testing.people import browser_of
from tests.core.helpers import codes, counts_at, has_id, next_question, words, words_at
from tests.gateway.helpers import read_balance
from tests.ledger.helpers import open_books, upstream_tells
from tests.reconciliation.helpers import make_difference
from upstream.budget import CallClass
from upstream.client import get_client
from upstream.endpoints import Endpoint

pytestmark = pytest.mark.django_db


def test_the_balance_is_shown_with_its_age(supervisor):
    read_balance(9_969_475)

    page = supervisor.get("/")

    assert "Rp9.969.475" in words(page)
    assert re.search(r'<time datetime="[^"]+" title="[^"]+ WIB" data-relative>', page.content.decode())


def test_a_difference_stands_there_with_its_amount_and_its_page():
    open_books(1_000_000)
    only = upstream_tells(985_000)
    admin, viewer = browser_of("admin"), browser_of("viewer")

    page = admin.get("/").content.decode()
    assert links_of("to-difference", page) == [(f"/balance/differences/{only.pk}/", "-15000")]
    assert not has_id(viewer.get("/"), "to-difference")

    upstream_tells(984_000)
    page = admin.get("/").content.decode()
    assert links_of("to-difference", page) == [("/balance/differences/?state=open", "-16000")]


def test_the_card_of_the_balance_counts_the_open_differences():
    open_books(1_000_000)
    admin, viewer = browser_of("admin"), browser_of("viewer")
    none = admin.get("/")
    upstream_tells(985_000), upstream_tells(984_000)

    for page, count in [(none, []), (admin.get("/"), [2])]:
        assert re.findall(r'id="open-differences" href="([^"]+)"', page.content.decode()) == [
            "/balance/differences/?state=open"
        ]
        assert counts_at(page, 'id="open-differences"') == count
    assert not has_id(viewer.get("/"), "open-differences")


def test_given_very_many_differences_then_their_card_reads_the_newest():
    open_books(1_000_000)
    for _ in range(102):
        make_difference(-1)
    admin = browser_of("admin")

    page = admin.get("/")

    assert counts_at(page, 'id="open-differences"') == [100]
    assert 'href="/balance/differences/?state=open"' in page.content.decode()
    assert not has_id(page, "to-difference"), "the sum of a part would be wrong"


def test_without_the_right_to_differences_the_overview_reads_none():
    open_books(1_000_000)
    make_difference(-1)
    auditor = browser_of("auditor")
    assert has_id(auditor.get("/"), "open-differences")
    Group.objects.get(name="auditor").permissions.remove(Permission.objects.get(codename="view_difference"))

    with CaptureQueriesContext(connection) as asked:
        page = auditor.get("/")

    assert (has_id(page, "to-balance"), has_id(page, "open-differences")) == (True, False)
    assert not any('"reconciliation_difference"' in query["sql"] for query in asked.captured_queries)


def links_of(name: str, page: str) -> list[tuple[str, str]]:
    """The address and the amount of each link with this id."""
    found = re.findall(rf'<a[^>]*id="{name}"[^>]*>', page)
    return [(re.search('href="([^"]*)"', tag)[1], re.search('data-amount="([^"]*)"', tag)[1]) for tag in found]


def test_given_more_orders_today_than_are_counted_then_their_number_says_so(supervisor, monkeypatch):
    monkeypatch.setattr(dashboard, "_MOST_COUNTED", 2)
    for status, said in (("success", "1 order today"), ("success", "2 orders"), ("failed", "3"), ("success", "3+")):
        make_order(Status(status))

        assert words_at(supervisor.get("/"), 'id="orders-today"').strip().startswith(said)


def test_an_unknown_balance_is_not_zero(supervisor):
    page = supervisor.get("/")

    assert has_id(page, "balance-unknown")
    assert "Rp0" not in words(page)


@pytest.mark.parametrize("path", ["/", "/balance/"])
def test_the_quiet_first_minute_is_named_and_only_before_the_first_reading(supervisor, settings, path):
    settings.UPSTREAM_SECRET_ID = f"overview-{uuid.uuid4().hex}"  # nobody knows what was sent for it
    new = words_at(supervisor.get(path), 'id="balance-unknown"')
    get_client().budget.declare_fresh()
    opened = words_at(supervisor.get(path), 'id="balance-unknown"')

    assert re.search(r"\d\d[:.]\d\d", new)
    assert opened
    assert not re.search(r"\d\d[:.]\d\d", opened)


def test_the_use_of_the_limit_is_shown(supervisor, settings):
    settings.UPSTREAM_SECRET_ID = f"overview-{uuid.uuid4().hex}"
    settings.UPSTREAM_ACCOUNT_RATE = "120/minute"
    budget = get_client().budget
    budget.declare_fresh()
    for _ in range(3):
        budget.book(Endpoint.BALANCE, CallClass.INTERACTIVE, 1.0)

    page = supervisor.get("/")

    used = re.search(r'id="limit-use">(.*?)</p>', page.content.decode(), re.DOTALL)[1]
    assert re.findall(r"\d+", used)[:2] == ["3", "120"]


def test_without_redis_the_overview_shows_no_use_of_the_limit(supervisor, settings):
    settings.REDIS_URL = "redis://127.0.0.1:9/0"

    assert not has_id(supervisor.get("/"), "limit-use")


def test_orders_of_today_are_counted_by_status_with_links(supervisor):
    product = make_product()
    make_order(Status.SUCCESS, product=product)
    make_order(Status.SUCCESS, product=product)
    make_order(Status.FAILED, product=product)
    make_order(Status.SUCCESS, product=product, created_at=timezone.now() - dt.timedelta(days=1, hours=1))

    page = supervisor.get("/").content.decode()

    link = re.search(r'href="(/orders/\?status=success&amp;since=[\d-]+)">(.*?)</a>', page, re.DOTALL)
    assert "2" in re.sub(r"<[^>]+>", "", link.group(2))
    assert supervisor.get(html.unescape(link.group(1))).content.decode().count('class="row-link"') == 2


def test_the_work_that_is_due_first_is_a_part_of_it_and_is_the_list_of_work(supervisor):
    orders = [make_order(Status.NEEDS_ACTION, action_reason=ActionReason.BALANCE_SHORT) for _ in range(9)]
    Incident.objects.create(
        order=make_order(Status.SUCCESS), kind="contradiction", source="callback", detail="oddly so"
    )
    assert 'hx-get="/work/first/"' in supervisor.get("/").content.decode()

    page = supervisor.get("/work/first/")

    first = [(task.item.kind, task.item.key) for task in page.context["table"].rows]
    assert first == [(task.item.kind, task.item.key) for task in supervisor.get("/work/").context["table"].rows[:8]]
    assert page.context["count"] == len(supervisor.get("/work/").context["table"].rows) == len(orders) + 1
    assert [f"/orders/{order.ref_id}/" in page.content.decode() for order in orders].count(True) >= 7


def test_who_decides_nothing_sees_the_work_of_the_shop(supervisor):
    make_order(Status.NEEDS_ACTION, action_reason=ActionReason.BALANCE_SHORT)

    page = browser_of("auditor").get("/work/first/")

    assert (page.context["count"], page.context["others"]) == (1, 0)
    assert 'href="/work/?whose=shop"' in page.content.decode()


def test_what_sells_at_cost_is_said_to_who_sees_costs_with_the_way_to_the_prices(admin):
    CatalogueSync.objects.create(result=CatalogueSync.Result.DONE, finished_at=timezone.now())
    make_product(), make_product(), make_product(selling_price=12_000), make_product(is_listed=False)

    page = admin.get("/")

    assert counts_at(page, 'id="sold-at-cost"') == [2]
    assert f'href="{reverse("prices")}"' in page.content.decode().split('id="sold-at-cost"')[1]
    assert not has_id(browser_of("viewer").get("/"), "sold-at-cost")


def test_with_nothing_to_do_it_says_so(supervisor):
    assert has_id(supervisor.get("/work/first/"), "nothing-waits")


def test_a_failed_sync_shows_its_fault_and_the_last_good_one(supervisor):
    hour_ago = timezone.now() - dt.timedelta(hours=1)
    CatalogueSync.objects.create(started_at=hour_ago, finished_at=hour_ago, result="done", products=5)
    CatalogueSync.objects.create(finished_at=timezone.now(), result="fault", fault="other", fault_detail="timeout")

    page = supervisor.get("/")

    assert f'<time datetime="{hour_ago.isoformat(timespec="seconds")}"' in page.content.decode()
    assert has_id(page, "sync-fault")
    assert "timeout" in words(page)


def test_a_sync_that_waits_for_the_rate_limits_is_no_fault(supervisor):
    CatalogueSync.objects.create(finished_at=timezone.now(), result="fault", fault="rate_limit", fault_detail="→ 14:05")

    page = supervisor.get("/")

    assert has_id(page, "sync-waits")
    assert not has_id(page, "sync-fault")


@pytest.mark.parametrize("url", ["/overview/balance/", "/overview/catalogue/"])
def test_after_a_button_the_page_asks_every_two_seconds(supervisor, url):
    assert next_question(supervisor.get("/"))[1] == 30

    assert supervisor.post(url)["Location"] == "/"

    assert next_question(supervisor.get("/"))[1] == 2


@pytest.mark.parametrize("url", ["/overview/balance/", "/overview/catalogue/"])
def test_with_the_queue_down_the_button_says_so(supervisor, url, monkeypatch):
    monkeypatch.setattr("backoffice.dashboard.request_balance_reading", lambda: False)
    monkeypatch.setattr("backoffice.dashboard.request_catalogue_sync", lambda: False)

    assert codes(supervisor.post(url, follow=True)) == {"queue-away"}


def test_an_auditor_is_not_offered_to_spend_the_upstreams_limit(auditor):
    page = auditor.get("/").content.decode()

    assert [url for url in ("/overview/balance/", "/overview/catalogue/", "/balance/read/") if url in page] == []


def test_a_next_that_is_no_address_of_ours_leads_to_the_overview(supervisor):
    for back in ("foo", "//elsewhere.example/", "https://elsewhere.example/", "javascript:alert(1)"):
        assert supervisor.post("/overview/catalogue/", {"next": back})["Location"] == "/", back


def test_the_overview_is_sent_again_only_when_something_changed(supervisor, time_machine):
    time_machine.move_to(timezone.now(), tick=False)  # in another minute, a poll finds the page changed
    ask, _delay = next_question(supervisor.get("/"))

    assert 'id="overview"' not in supervisor.get(ask).content.decode()
    read_balance(1_234_567)

    changed = supervisor.get(ask)
    assert "Rp1.234.567" in words(changed)
    assert 'id="overview" hx-swap-oob="true"' in changed.content.decode()
    assert next_question(changed)[0] != ask


# --- the state of the upstream, on every page -------------------------------------------------------------------


@pytest.mark.parametrize("page", ["/", "/products/", "/orders/"])
def test_an_unreachable_upstream_is_said_and_blocks_no_page(cashier, page):
    since = timezone.now() - dt.timedelta(minutes=3)
    UpstreamAccount.objects.create(unreachable_since=since)

    answer = cashier.get(page)

    assert answer.status_code == 200
    assert has_id(answer, "alert-line")
    drawer = cashier.get("/balance/alerts/mine/", headers={"HX-Request": "true"})
    assert has_id(drawer, "upstream-unreachable")
    assert f'<time datetime="{since.isoformat(timespec="seconds")}"' in drawer.content.decode()


def test_a_refused_account_is_said_with_the_upstreams_code(cashier):
    UpstreamAccount.objects.create(refused_since=timezone.now(), refused_code="INVALID_SIGNATURE")

    drawer = cashier.get("/balance/alerts/mine/", headers={"HX-Request": "true"})

    assert has_id(drawer, "upstream-refuses")
    assert "INVALID_SIGNATURE" in words(drawer)


def test_the_sandbox_is_announced_on_every_page_and_only_then(cashier):
    with override_settings(SANDBOX=True, SANDBOX_DASHBOARD_URL="http://localhost:8100"):
        for page in ("/", "/products/", "/nope/"):
            assert 'href="http://localhost:8100"' in cashier.get(page).content.decode()
        stranger = Client().get("/accounts/login/").content.decode()
        assert "sandbox-bar" in stranger
        assert "http://localhost:8100" not in stranger, "the link opens the sandbox's dashboard"
    with override_settings(SANDBOX=False):
        assert "sandbox-bar" not in cashier.get("/").content.decode()
