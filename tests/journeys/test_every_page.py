"""Every page, light and dark, on a desktop and on a small phone: no accessibility fault, no sideways scrolling."""

from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from approvals.models import Approval
from approvals.services import refuse
from core.rights import Role
from purchases.states import Status
from reconciliation.models import ReconciliationRun
from reconciliation.services import propose_adjustment
from staff.models import User
from staff.roles import create_demo_staff
from testing.factories import make_product
from tests.approvals.helpers import ask_purchase, ask_role, cashier
from tests.journeys.busy_day import a_busy_day
from tests.journeys.helpers import (
    SMALL_PHONE,
    OpenWindow,
    faults_in_all_looks,
    faults_in_both_languages,
    faults_of,
    sign_in,
)
from tests.ledger.helpers import open_books
from tests.reconciliation.helpers import make_difference
from tests.tills.helpers import make_till

pytestmark = [pytest.mark.journey, pytest.mark.django_db(transaction=True)]


# Forms that ask for a decision, a limit or a reason are folded.
UNFOLD = """addEventListener("DOMContentLoaded", () =>
    document.querySelectorAll("main details").forEach(part => { part.open = true; }))"""
RULE = "/products/prices/rule/?target=all:prepaid"
TERMS = ("&kind=plus&value=x", "&kind=percent&value=5&round_to=500", "&kind=fixed&value=1")


@pytest.mark.long
def test_every_page_is_accessible_and_fits(live_server: Any, open_window: OpenWindow):
    day = a_busy_day()
    page = open_window()
    page.goto(f"{live_server.url}/accounts/login/")
    faults = faults_in_both_languages(page)
    sign_in(page, live_server.url, "owner", path=None)
    order, receipt, check = day["orders"][Status.SUCCESS], day["receipts"][0], day["checks"][0]
    customer, run = day["customer"], ReconciliationRun.objects.earliest("pk")
    person = User.objects.get(username="cashier")

    addresses = ["/", "/products/", "/counter/", "/orders/", "/bills/", "/due/", "/callbacks/", "/no/such/page/"]
    addresses += ["/me/", "/guide/", "/accounts/password/change/", "/accounts/logout/", "/accounts/link/?link=forged"]
    addresses += ["/counter/review/?q=081234567890&pick=TSEL10", "/counter/review/?product=PDAM&q=12345678"]
    addresses += [f"/counter/batch/{day['batch']}/"]
    addresses += [f"/counter/batch/{day['batch']}/review/?bill={check.ref_id}"]
    addresses += [f"/orders/{order.ref_id}/", f"/orders/{day['token'].ref_id}/receipt/?paper=58"]
    addresses += [f"/callbacks/{receipt.pk}/", f"/bills/{check.ref_id}/", f"/counter/bills/{check.ref_id}/"]
    addresses += ["/customers/", "/customers/add/", f"/customers/{customer.pk}/"]
    addresses += [f"/customers/{customer.pk}/{part}/" for part in ("edit", "delete", "numbers")]
    addresses += [f"/customers/numbers/{day['number'].pk}/edit/", "/customers/save/?product=TSEL10&destination=0812"]
    addresses += ["/balance/", "/balance/statement/", "/balance/closing/", "/balance/differences/"]
    addresses += ["/balance/runs/", f"/balance/runs/{run.pk}/", f"/balance/differences/{day['differences'][0].pk}/"]
    addresses += ["/balance/alerts/", "/balance/alerts/mine/"]
    addresses += ["/products/price-changes/", "/products/prices/", RULE]
    addresses += ["/staff/", "/staff/invite/", f"/staff/{person.pk}/", "/staff/roles/", "/staff/roles/cashier/"]
    addresses += ["/shop/", "/shop/policies/"]
    for address in addresses:
        page.goto(live_server.url + address)
        faults += faults_in_both_languages(page)

    assert faults == []


def faults_in_turn(address: str, open_window: OpenWindow, paths: list[str], script: str = "") -> list[str]:
    """The faults of pages in one look each; other tests open them in both looks, with other rows and words."""
    faults: list[str] = []
    windows = open_window(), open_window(size=SMALL_PHONE, scheme="dark", language="id-ID")
    for window in windows:
        window.context.add_init_script(script)
        sign_in(window, address, "owner", path=None)
    for number, path in enumerate(paths):
        windows[number % 2].goto(address + path)
        faults += faults_of(windows[number % 2])
    return faults


@pytest.mark.long
def test_every_state_of_a_page_is_accessible_and_fits(live_server: Any, open_window: OpenWindow):
    day = a_busy_day()
    addresses = ["/products/?category=pulsa&destination=081234567890", "/counter/?q=081234567890", "/counter/?q=sari"]
    addresses += ["/counter/review/?q=081700000000&product=TSEL10", "/orders/?status=nonsense", "/guide/owner/"]
    addresses += [f"/{place}/?q=zzz" for place in ("products", "counter", "orders", "callbacks", "bills", "customers")]
    addresses += [f"/counter/?product={code}&q=0812" for code in ("TSEL10", "OFF", "ML86", "PLN20")]
    addresses += ["/counter/?product=PDAM", f"/callbacks/{day['receipts'][1].pk}/"]
    addresses += [f"/orders/{order.ref_id}/" for order in (*day["orders"].values(), day["token"])]
    standings = (Status.UNKNOWN, Status.NEEDS_ACTION, Status.SUCCESS, Status.FAILED, Status.REJECTED)
    checks = (*day["checks"][1:], *(day["bills"][status] for status in standings))
    addresses += [f"/bills/{check.ref_id}/" for check in checks]
    addresses += [f"/counter/bills/{check.ref_id}/" for check in reversed(checks)]  # each page in the other look
    paid = (Status.PENDING, Status.SUCCESS, Status.FAILED, Status.NEEDS_ACTION)
    addresses += [f"/orders/{day['bills'][status].ref_id}/" for status in paid]
    addresses += [f"/orders/{day['token'].ref_id}/receipt/?paper={paper}" for paper in ("80", "a5")]
    addresses += ["/balance/statement/?q=zzz", "/balance/runs/?state=waiting", "/staff/?q=zzz"]
    addresses += [f"/balance/runs/{run.pk}/" for run in ReconciliationRun.objects.order_by("pk")[1:]]
    addresses += [f"/balance/differences/{difference.pk}/" for difference in day["differences"][1:]]
    addresses += ["/products/prices/rule/", *(f"{RULE}{terms}" for terms in TERMS)]
    addresses += [f"/staff/{User.objects.get(username='admin').pk}/", "/staff/roles/owner/"]

    assert faults_in_turn(live_server.url, open_window, addresses) == []
    assert too_wide_on_a_tablet(live_server.url, open_window, f"/counter/batch/{day['batch']}/") == []


def too_wide_on_a_tablet(address: str, open_window: OpenWindow, *more: str) -> list[tuple[str, int]]:
    """The pages with lists that scroll sideways, each with the width at which it does."""
    page = open_window(language="id-ID")
    sign_in(page, address, "admin", path=None)
    lists = ["/", "/?days=7&by=product", "/orders/", "/bills/", "/callbacks/", "/balance/statement/", "/balance/runs/"]

    too_wide = []
    for path in [*lists, *more]:
        page.goto(address + path)
        for width in (720, 1000):
            page.set_viewport_size({"width": width, "height": 800})
            if page.evaluate("document.documentElement.scrollWidth") > width:
                too_wide.append((path, width))
    return too_wide


def test_what_a_press_shows_is_accessible_and_fits(live_server: Any, open_window: OpenWindow):
    make_product(code="TSEL10")
    create_demo_staff()
    page = open_window(language="id-ID")
    sign_in(page, live_server.url, "owner", "/counter/?product=TSEL10")

    page.fill("#counter-q", "12")
    page.press("#counter-q", "Enter")
    expect(page.locator(".sell-fault[data-fault]")).to_be_visible()
    faults = faults_in_all_looks(page)
    page.fill("#counter-q", "081299999999")
    page.press("#counter-q", "Enter")
    expect(page.locator("#counter-review[data-ready]")).to_be_visible()
    faults += faults_in_all_looks(page)
    page.goto(f"{live_server.url}/me/")
    page.click("form[data-once] button.btn-primary")
    expect(page.locator(".toast-note")).to_be_visible()
    faults += faults_in_all_looks(page)

    assert faults == []


def test_pages_for_two_people_are_accessible_and_fit(live_server: Any, open_window: OpenWindow):
    create_demo_staff()
    open_books(1_000_000)
    admin, owner = User.objects.get(username="admin"), User.objects.get(username="owner")
    sari = cashier(own_approval_above=10_000, own_per_day=500_000)
    for number in range(3):
        ask_purchase(sari, f"08123456789{number}")
    refuse(Approval.objects.earliest("pk"), actor=owner, reason="Not so")
    propose_adjustment(make_difference(-10_500, "unexplained_debit"), actor=admin, reason="fee of the bank")
    ask_role(sari, Role.SUPERVISOR, owner)
    tills = [make_till("Kasir depan"), make_till("Kasir belakang", switched_off_at=timezone.now())]
    page = open_window()
    page.context.add_init_script(UNFOLD)
    sign_in(page, live_server.url, "owner", path=None)

    faults: list[str] = []
    approvals = [approval.get_absolute_url() for approval in Approval.objects.order_by("pk")]
    addresses = ["/approvals/", approvals[0], approvals[-1], "/tills/", "/tills/add/", f"/tills/{tills[0].pk}/"]
    addresses += ["/till/", "/me/pin/", "/me/factors/", "/me/factors/app/", "/me/factors/passkey/", "/files/"]
    addresses += [f"/staff/{sari.pk}/"]
    for address in addresses:
        page.goto(live_server.url + address)
        faults += faults_in_both_languages(page)
    others = [*approvals[1:-1], "/approvals/?state=expired", "/staff/roles/supervisor/", f"/tills/{tills[1].pk}/"]
    faults += faults_in_turn(live_server.url, open_window, others, UNFOLD)

    assert Approval.objects.open().count() == 4
    assert faults == []


def test_the_help_single_keys_and_the_look_are_as_one_chose(live_server: Any, open_window: OpenWindow):
    create_demo_staff()
    page = open_window()
    sign_in(page, live_server.url, "cashier")

    page.keyboard.press("?")
    help_window = page.locator("dialog#shortcuts")
    expect(help_window).to_be_visible()
    faults = faults_of(page)
    page.uncheck("[data-single-keys]")
    page.keyboard.press("Escape")
    expect(help_window).to_be_hidden()
    page.keyboard.press("o")
    page.keyboard.press("?")
    expect(help_window).to_be_hidden()
    assert page.url == f"{live_server.url}/"

    page.reload()
    page.click("[data-open=shortcuts]")
    page.check("[data-single-keys]")
    page.click("dialog [data-close]")
    page.keyboard.press("f")
    expect(page.locator("[data-search]")).to_be_focused()
    page.keyboard.type("o?")
    assert page.input_value("[data-search]") == "o?"
    assert faults == []

    # then: a chosen look holds against the device's
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.goto(f"{live_server.url}/me/")
    page.check("input[name=theme][value=dark]", force=True)
    page.click("form[data-once] button.btn-primary")
    expect(page.locator("html")).to_have_attribute("data-look", "dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light
