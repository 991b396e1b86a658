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


def test_an_unknown_balance_is_not_zero_a_known_one_has_its_age(supervisor):
    page = supervisor.get("/")
    assert has_id(page, "balance-unknown")
    assert "Rp0" not in words(page)

    read_balance(9_969_475)

    page = supervisor.get("/")
    assert "Rp9.969.475" in words(page)
    assert re.search(r'<time datetime="[^"]+" title="[^"]+ WIB" data-relative>', page.content.decode())


def test_open_differences_stand_there_with_count_amount_and_page():
    def links_of(name: str, page: str) -> list[tuple[str, str]]:
        """The address and the amount of each link with this id."""
        found = re.findall(rf'<a[^>]*id="{name}"[^>]*>', page)
        return [(re.search('href="([^"]*)"', tag)[1], re.search('data-amount="([^"]*)"', tag)[1]) for tag in found]

    open_books(1_000_000)
    admin, viewer, all_open = browser_of("admin"), browser_of("viewer"), "/balance/differences/?state=open"
    pages = [admin.get("/")]
    only = upstream_tells(985_000)
    pages.append(admin.get("/"))
    upstream_tells(984_000)
    pages.append(admin.get("/"))

    assert [links_of("to-difference", page.content.decode()) for page in pages] == [
        [],
        [(f"/balance/differences/{only.pk}/", "-15000")],
        [(all_open, "-16000")],
    ]
    assert [counts_at(page, 'id="open-differences"') for page in pages] == [[], [1], [2]]
    for page in (pages[0], pages[2]):
        assert f'id="open-differences" href="{all_open}"' in page.content.decode()
    of_viewer = viewer.get("/")
    assert not has_id(of_viewer, "to-difference")
    assert not has_id(of_viewer, "open-differences")


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


def test_given_more_orders_today_than_are_counted_then_their_number_says_so(supervisor, monkeypatch):
    monkeypatch.setattr(dashboard, "_MOST_COUNTED", 2)
    for status, said in (("success", "1 order today"), ("success", "2 orders"), ("failed", "3"), ("success", "3+")):
        make_order(Status(status))

        assert words_at(supervisor.get("/"), 'id="orders-today"').strip().startswith(said)


def test_the_quiet_first_minute_is_named_and_only_before_the_first_reading(supervisor, settings):
    for path in ("/", "/balance/"):
        settings.UPSTREAM_SECRET_ID = f"overview-{uuid.uuid4().hex}"  # nobody knows what was sent for it
        new = words_at(supervisor.get(path), 'id="balance-unknown"')
        get_client().budget.declare_fresh()
        opened = words_at(supervisor.get(path), 'id="balance-unknown"')

        assert re.search(r"\d\d[:.]\d\d", new), path
        assert opened, path
        assert not re.search(r"\d\d[:.]\d\d", opened), path


def test_the_use_of_the_limit_is_shown_unless_redis_is_away(supervisor, settings):
    settings.UPSTREAM_SECRET_ID = f"overview-{uuid.uuid4().hex}"
    settings.UPSTREAM_ACCOUNT_RATE = "120/minute"
    budget = get_client().budget
    budget.declare_fresh()
    for _ in range(3):
        budget.book(Endpoint.BALANCE, CallClass.INTERACTIVE, 1.0)

    page = supervisor.get("/")

    used = re.search(r'id="limit-use">(.*?)</p>', page.content.decode(), re.DOTALL)[1]
    assert re.findall(r"\d+", used)[:2] == ["3", "120"]
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
    assert has_id(supervisor.get("/work/first/"), "nothing-waits")
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


def test_a_failed_sync_is_a_fault_and_a_wait_for_limits_is_none(supervisor):
    hour_ago = timezone.now() - dt.timedelta(hours=1)
    CatalogueSync.objects.create(started_at=hour_ago, finished_at=hour_ago, result="done", products=5)
    CatalogueSync.objects.create(finished_at=timezone.now(), result="fault", fault="other", fault_detail="timeout")

    failed = supervisor.get("/")
    CatalogueSync.objects.create(finished_at=timezone.now(), result="fault", fault="rate_limit", fault_detail="→ 14:05")
    waits = supervisor.get("/")

    assert f'<time datetime="{hour_ago.isoformat(timespec="seconds")}"' in failed.content.decode()
    assert [(has_id(page, "sync-fault"), has_id(page, "sync-waits")) for page in (failed, waits)] == [
        (True, False),
        (False, True),
    ]


def test_after_a_button_the_page_asks_soon_or_says_why_not(monkeypatch):
    for url in ("/overview/balance/", "/overview/catalogue/"):
        supervisor = browser_of("supervisor", username=url.split("/")[2])
        assert next_question(supervisor.get("/"))[1] == 30
        assert supervisor.post(url)["Location"] == "/"
        assert next_question(supervisor.get("/"))[1] == 2, url

    monkeypatch.setattr("backoffice.dashboard.request_balance_reading", lambda: False)
    monkeypatch.setattr("backoffice.dashboard.request_catalogue_sync", lambda: False)
    for url in ("/overview/balance/", "/overview/catalogue/"):
        assert codes(supervisor.post(url, follow=True)) == {"queue-away"}, url


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


def test_an_unreachable_or_refusing_upstream_blocks_no_page(cashier):
    def drawer():
        return cashier.get("/balance/alerts/mine/", headers={"HX-Request": "true"})

    since = timezone.now() - dt.timedelta(minutes=3)
    account = UpstreamAccount.objects.create(unreachable_since=since)
    for page in ("/", "/products/", "/orders/"):
        answer = cashier.get(page)
        assert (answer.status_code, has_id(answer, "alert-line")) == (200, True), page
    assert has_id(drawer(), "upstream-unreachable")
    assert f'<time datetime="{since.isoformat(timespec="seconds")}"' in drawer().content.decode()

    account.delete()
    UpstreamAccount.objects.create(refused_since=timezone.now(), refused_code="INVALID_SIGNATURE")
    assert has_id(drawer(), "upstream-refuses")
    assert "INVALID_SIGNATURE" in words(drawer())


def test_the_sandbox_is_announced_on_every_page_and_only_then(cashier):
    with override_settings(SANDBOX=True, SANDBOX_DASHBOARD_URL="http://localhost:8100"):
        for page in ("/", "/products/", "/nope/"):
            assert 'href="http://localhost:8100"' in cashier.get(page).content.decode()
        stranger = Client().get("/accounts/login/").content.decode()
        assert "sandbox-bar" in stranger
        assert "http://localhost:8100" not in stranger, "the link opens the sandbox's dashboard"
    with override_settings(SANDBOX=False):
        assert "sandbox-bar" not in cashier.get("/").content.decode()
