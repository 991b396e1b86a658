"""Every page, light and dark, on a desktop and on a small phone: no accessibility fault, no sideways scrolling."""

from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from approvals.models import Approval
from approvals.services import refuse
from core.rights import Role
from reconciliation.models import ReconciliationRun
from reconciliation.services import propose_adjustment
from staff.models import User
from staff.roles import create_demo_staff
from testing.factories import make_product
from tests.approvals.helpers import ask_purchase, ask_role, cashier
from tests.journeys.busy_day import a_busy_day
from tests.journeys.helpers import OpenWindow, faults_in_all_looks, faults_in_both_languages, faults_of, sign_in
from tests.ledger.helpers import open_books
from tests.reconciliation.helpers import make_difference
from tests.tills.helpers import make_till

pytestmark = [pytest.mark.journey, pytest.mark.django_db(transaction=True)]


# What asks for a decision, a limit or a reason is folded.
UNFOLD = """addEventListener("DOMContentLoaded", () =>
    document.querySelectorAll("main details").forEach(part => { part.open = true; }))"""
_RULE = "/products/prices/rule/?target=all:prepaid"
PRICE_RULES = [
    "/products/prices/rule/",
    *(
        f"{_RULE}{terms}"
        for terms in ("", "&kind=plus&value=x", "&kind=percent&value=5&round_to=500", "&kind=fixed&value=1")
    ),
]


# Half of the pages each, so that no worker is left with all of them while the others have nothing more to do.
@pytest.mark.long
@pytest.mark.parametrize("half", [0, 1])
def test_every_page_is_accessible_and_fits(live_server: Any, open_window: OpenWindow, half: int):
    day = a_busy_day()
    page = open_window()
    page.goto(f"{live_server.url}/accounts/login/")
    faults = faults_in_both_languages(page)
    sign_in(page, live_server.url, "owner", path=None)

    addresses = [
        "/",
        "/products/",
        "/products/?category=pulsa&destination=081234567890",
        "/products/?q=zzz",
        "/counter/",
        "/counter/?q=081234567890",
        "/counter/?q=sari",
        "/counter/?q=zzz",
        "/counter/review/?q=081234567890&pick=TSEL10",
        "/counter/review/?q=081700000000&product=TSEL10",
        "/orders/",
    ]
    addresses += [
        "/products/price-changes/",
        "/orders/?status=nonsense",
        "/orders/?q=zzz",
        "/me/",
        "/guide/",
        "/guide/owner/",
        "/balance/alerts/mine/",
        "/accounts/password/change/",
    ]
    addresses += ["/accounts/logout/", "/callbacks/", "/callbacks/?q=zzz", "/no/such/page/"]
    addresses += [f"/counter/?product={code}&q=0812" for code in ("TSEL10", "OFF", "ML86", "PLN20")]
    addresses += [f"/orders/{order.ref_id}/" for order in (*day["orders"].values(), day["token"])]
    addresses += [f"/callbacks/{receipt.pk}/" for receipt in day["receipts"]]
    addresses += ["/bills/", "/bills/?q=zzz", "/counter/?product=PDAM", "/counter/review/?product=PDAM&q=12345678"]
    addresses += [f"/bills/{check.ref_id}/" for check in (*day["checks"], *day["bills"].values())]
    addresses += [f"/counter/bills/{check.ref_id}/" for check in (*day["checks"], *day["bills"].values())]
    addresses += [f"/orders/{check.ref_id}/" for check in day["bills"].values()]
    addresses += [f"/counter/batch/{day['batch']}/"]
    addresses += [f"/counter/batch/{day['batch']}/review/?bill={day['checks'][0].ref_id}"]
    addresses += ["/due/", "/customers/", "/customers/?q=zzz", "/customers/add/", f"/customers/{day['customer'].pk}/"]
    addresses += [f"/customers/{day['customer'].pk}/{part}/" for part in ("edit", "delete", "numbers")]
    addresses += [f"/customers/numbers/{day['number'].pk}/edit/", "/customers/save/?product=TSEL10&destination=0812"]
    addresses += [f"/orders/{day['token'].ref_id}/receipt/?paper={paper}" for paper in ("58", "80", "a5")]
    addresses += ["/balance/", "/balance/statement/", "/balance/statement/?q=zzz"]
    addresses += ["/balance/closing/", "/balance/runs/", "/balance/runs/?state=waiting", "/balance/differences/"]
    addresses += [f"/balance/runs/{run.pk}/" for run in ReconciliationRun.objects.all()]
    addresses += [f"/balance/differences/{difference.pk}/" for difference in day["differences"]]
    addresses += ["/balance/alerts/", "/products/price-changes/", "/products/prices/", *PRICE_RULES]
    addresses += ["/staff/", "/staff/?q=zzz", "/staff/invite/", "/accounts/link/?link=forged"]
    addresses += [f"/staff/{person.pk}/" for person in User.objects.filter(username__in=["admin", "cashier"])]
    addresses += ["/staff/roles/", "/staff/roles/cashier/", "/staff/roles/owner/", "/shop/", "/shop/policies/"]
    for address in addresses[half::2]:
        page.goto(live_server.url + address)
        faults += faults_in_both_languages(page)

    assert faults == []


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
    addresses = [
        "/approvals/",
        "/approvals/?state=expired",
        "/tills/",
        "/tills/add/",
        "/till/",
        "/me/pin/",
        "/me/factors/",
    ]
    addresses += ["/me/factors/app/", "/me/factors/passkey/", "/files/", "/staff/roles/supervisor/"]
    addresses += [approval.get_absolute_url() for approval in Approval.objects.all()]
    addresses += [f"/tills/{till.pk}/" for till in tills]
    addresses += [f"/staff/{sari.pk}/"]
    for address in addresses:
        page.goto(live_server.url + address)
        faults += faults_in_both_languages(page)

    assert Approval.objects.open().count() == 4
    assert faults == []


def test_lists_do_not_make_a_tablets_page_scroll_sideways(live_server: Any, open_window: OpenWindow):
    day = a_busy_day()
    page = open_window(language="id-ID")
    sign_in(page, live_server.url, "admin", path=None)
    lists = ["/", "/?days=7&by=product", "/orders/", "/bills/", "/callbacks/", "/balance/statement/", "/balance/runs/"]

    too_wide = []
    for address in [*lists, f"/counter/batch/{day['batch']}/"]:
        page.goto(live_server.url + address)
        for width in (720, 1000):
            page.set_viewport_size({"width": width, "height": 800})
            if page.evaluate("document.documentElement.scrollWidth") > width:
                too_wide.append((address, width))

    assert too_wide == []


def test_the_help_opens_by_key_and_single_keys_can_be_off(live_server: Any, open_window: OpenWindow):
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


def test_a_chosen_look_holds_against_the_devices(live_server: Any, open_window: OpenWindow):
    create_demo_staff()
    page = open_window(scheme="light")
    sign_in(page, live_server.url, "cashier")
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")

    page.goto(f"{live_server.url}/me/")
    page.check("input[name=theme][value=dark]", force=True)
    page.click("form[data-once] button.btn-primary")
    expect(page.locator("html")).to_have_attribute("data-look", "dark")

    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light
