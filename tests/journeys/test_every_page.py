"""Every page, light and dark, on a desktop and on a small phone: no accessibility fault, no sideways scrolling."""

import datetime as dt
import hashlib
import uuid
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone
from playwright.sync_api import Page, expect

from balance.models import Reading, ReconciliationRun, UpstreamAccount
from callbacks.models import Receipt, Refusal, RefusalCount
from purchases.models import CatalogueSync, Customer, Incident, OrderEvent, SavedNumber
from purchases.order_life import HoldReason, Status
from staff.roles import create_demo_staff, set_up_roles
from tests.factories import make_biller, make_check, make_order, make_payment, make_product
from tests.journeys.busy_books import busy_books
from tests.journeys.conftest import DESKTOP, SMALL_PHONE, OpenWindow, sign_in

pytestmark = [pytest.mark.journey, pytest.mark.django_db(transaction=True)]

AXE = Path(settings.NODE_MODULES) / "axe-core/axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]


def faults_of(page: Page) -> list[str]:
    """What axe finds wrong with the page as it is now, and whether it scrolls sideways."""
    page.evaluate(AXE.read_text())
    result = page.evaluate("rules => axe.run(document, {runOnly: rules})", RULES)
    assert result["passes"], "axe looked at nothing"
    faults = [
        f"{page.url}: {fault['id']} at {[node['target'] for node in fault['nodes']]}: {fault['help']}"
        for fault in result["violations"]
    ]
    too_wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return faults + ([f"{page.url}: {too_wide} px too wide"] if too_wide > 0 else [])


def a_busy_day() -> dict[str, Any]:
    """Orders in every status, an incident, callbacks, a fault of the sync, an upstream that is silent."""
    set_up_roles()
    create_demo_staff()
    now = timezone.now()
    product = make_product(code="TSEL10")
    make_product(code="OFF", name="Telkomsel 25.000", availability="inactive")
    token_product = make_product(
        code="PLN20",
        name="Token PLN 20.000",
        category="token-pln",
        brand="pln",
        cut_off_start=dt.time(23, 30),
        cut_off_end=dt.time(0, 30),
    )
    make_product(code="BILL", name="PDAM Gresik", category="pdam", brand="pdam", type="postpaid", admin_fee=2_500)
    game = make_product(code="ML86", name="86 Diamonds", category="game", brand="mobile-legends")
    game.brand.name = "Mobile Legends"
    game.brand.save()
    long_ago = now - dt.timedelta(minutes=10)
    orders = {}
    for i, status in enumerate(Status):
        facts: dict[str, Any] = {"sn": "5985080747136515", "price": 10_500} if status == Status.SUCCESS else {}
        orders[status] = make_order(status, product=product, destination=f"0812345678{i:02}", sent_at=long_ago, **facts)
        OrderEvent.objects.create(order=orders[status], to_status=status, source="poll", note="so it was said")
    for i, reason in enumerate(HoldReason):
        make_order(Status.HELD, product=product, destination=f"0812345679{i:02}", hold_reason=reason)
    token = make_order(
        Status.SUCCESS,
        product=token_product,
        destination="12345678901",
        sn="2788-0111-7956-9150-3095/BUDI SANTOSO/R1/900VA/13.6",
    )
    biller = make_biller(code="PDAM")
    bills = {name: make_check(product=biller, destination=f"12345{i}") for i, name in enumerate(Status)}
    for status, check in bills.items():
        make_payment(check, status, sn="PAY-1" if status == Status.SUCCESS else "")
    more = [{"period": f"{month} 2026", "amount": 50_000, "penalty": 3_000} for month in ("Okt", "Nov")]
    customer = Customer.objects.create(name="Bu Sari", note="Blok C 4")
    number = SavedNumber.objects.create(customer=customer, destination="99990001", product=biller, kind="customer")
    SavedNumber.objects.create(customer=customer, destination="081234567890", kind="phone")
    batch = uuid.uuid4()
    facts = {"product": biller, "batch": batch, "saved_number": number}
    checks = [
        make_check(destination="99990001", details=more, penalty=6_000, total=108_500, **facts),
        make_check("none", destination="99990002", **facts),
        make_check("refusal", destination="99990003", error_code="BILL_NOT_AVAILABLE", message="None.", **facts),
        make_check(destination="99990004", expires_at=now, **facts),
    ]
    Incident.objects.create(
        order=orders[Status.SUCCESS], kind="contradiction", source="callback", detail="failed after success"
    )
    receipt = Receipt.objects.create(
        body=b'{"event": "transaction.success", "data": {}}',
        content_hash=hashlib.sha256(b"x").hexdigest(),
        headers={"X-Event": "transaction.success"},
        ref_id=token.ref_id,
        event="transaction.success",
        is_signed=True,
    )
    # What the upstream says is as long as it likes, and without a break.
    endless = Receipt.objects.create(
        body=b"x" * 300,
        content_hash=hashlib.sha256(b"y").hexdigest(),
        headers={"X-Event": "e" * 60},
        delivery_id="d" * 100,
        ref_id="R" * 64,
        event="e" * 60,
        result="r" * 300,
        source_address="2001:db8:1111:2222:3333:4444:5555:6666",
        is_signed=False,
        state=Receipt.State.MALFORMED,
        repeats=3,
    )
    RefusalCount.objects.create(day=timezone.localdate(), reason="signature", count=3)
    Refusal.objects.create(reason="signature", source_address="198.51.100.7", size=77)
    Reading.objects.create(balance=9_969_475, source="balance", sent_at=now, received_at=now)
    CatalogueSync.objects.create(result="done", finished_at=now, products=5)
    CatalogueSync.objects.create(result="fault", finished_at=now, fault="timeout")
    UpstreamAccount.objects.update_or_create(only=True, defaults={"unreachable_since": now})
    return {
        "orders": orders,
        "token": token,
        "receipts": [receipt, endless],
        "customer": customer,
        "number": number,
        "bills": bills,
        "checks": checks,
        "batch": batch,
        "differences": busy_books(orders[Status.FAILED].ref_id),
    }


@pytest.mark.parametrize(
    ("size", "scheme", "language"),
    [
        (DESKTOP, "light", "id-ID"),
        (DESKTOP, "dark", "en-GB"),
        (SMALL_PHONE, "light", "en-GB"),
        (SMALL_PHONE, "dark", "id-ID"),
    ],
    ids=["desktop-light", "desktop-dark", "phone-light", "phone-dark"],
)
def test_every_page_is_accessible_and_fits(live_server: Any, open_window: OpenWindow, scheme, size, language):
    day = a_busy_day()
    page = open_window(size=size, scheme=scheme, language=language)
    page.goto(f"{live_server.url}/accounts/login/")
    faults = faults_of(page)
    sign_in(page, live_server.url, "admin")

    addresses = [
        "/",
        "/products/",
        "/products/?category=pulsa&destination=081234567890",
        "/products/?q=zzz",
        "/orders/",
    ]
    addresses += ["/orders/?status=nonsense", "/orders/?q=zzz", "/me/", "/accounts/password/change/"]
    addresses += ["/accounts/logout/", "/callbacks/", "/callbacks/?q=zzz", "/no/such/page/"]
    addresses += [f"/products/{code}/buy/?destination=0812" for code in ("TSEL10", "OFF", "ML86", "PLN20")]
    addresses += [f"/orders/{order.ref_id}/" for order in (*day["orders"].values(), day["token"])]
    addresses += [f"/callbacks/{receipt.pk}/" for receipt in day["receipts"]]
    addresses += ["/bills/", "/bills/?q=zzz", "/bills/check/", "/bills/check/?q=sari", "/bills/check/PDAM/"]
    addresses += [f"/bills/{check.ref_id}/" for check in (*day["checks"], *day["bills"].values())]
    addresses += [f"/orders/{check.ref_id}/" for check in day["bills"].values()]
    addresses += [f"/bills/batch/{day['batch']}/"]
    addresses += [f"/bills/batch/{day['batch']}/review/?bill={day['checks'][0].ref_id}"]
    addresses += ["/customers/", "/customers/?q=zzz", "/customers/add/", f"/customers/{day['customer'].pk}/"]
    addresses += [f"/customers/{day['customer'].pk}/{part}/" for part in ("edit", "delete", "numbers")]
    addresses += [f"/customers/numbers/{day['number'].pk}/edit/", "/customers/save/?product=TSEL10&destination=0812"]
    addresses += [f"/orders/{day['token'].ref_id}/receipt/?paper={paper}" for paper in ("58", "80", "a5")]
    addresses += ["/balance/", "/balance/statement/", "/balance/statement/?q=zzz"]
    addresses += ["/balance/closing/", "/balance/runs/", "/balance/runs/?state=waiting", "/balance/differences/"]
    addresses += [f"/balance/runs/{run.pk}/" for run in ReconciliationRun.objects.all()]
    addresses += [f"/balance/differences/{difference.pk}/" for difference in day["differences"]]
    addresses += ["/balance/alerts/"]
    for address in addresses:
        page.goto(live_server.url + address)
        faults += faults_of(page)

    page.goto(f"{live_server.url}/products/TSEL10/buy/")
    page.fill("[name=destination]", "12")
    page.click("form[data-once] button.btn-primary")
    expect(page.locator(".field-error")).to_be_visible()
    faults += faults_of(page)
    page.fill("[name=destination]", "081299999999")
    page.click("form[data-once] button.btn-primary")
    expect(page.locator("button[name=confirm]")).to_be_visible()
    faults += faults_of(page)
    page.goto(f"{live_server.url}/me/")
    page.click("form[data-once] button.btn-primary")
    expect(page.locator(".toast-note")).to_be_visible()
    faults += faults_of(page)

    assert faults == []


def test_lists_do_not_make_a_tablets_page_scroll_sideways(live_server: Any, open_window: OpenWindow):
    day = a_busy_day()
    page = open_window(language="id-ID")
    sign_in(page, live_server.url, "admin")
    lists = ["/", "/orders/", "/bills/", "/callbacks/", "/balance/statement/", "/balance/runs/"]

    too_wide = []
    for address in [*lists, f"/bills/batch/{day['batch']}/"]:
        page.goto(live_server.url + address)
        for width in (720, 1000):
            page.set_viewport_size({"width": width, "height": 800})
            if page.evaluate("document.documentElement.scrollWidth") > width:
                too_wide.append((address, width))

    assert too_wide == []


def test_the_help_window_opens_and_closes_by_key_and_single_keys_can_be_switched_off(
    live_server: Any, open_window: OpenWindow
):
    a_busy_day()
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
    page.keyboard.press("/")
    expect(page.locator("[data-search]")).to_be_focused()
    page.keyboard.type("o?")
    assert page.input_value("[data-search]") == "o?"
    assert faults == []


def test_a_chosen_look_holds_against_the_devices(live_server: Any, open_window: OpenWindow):
    a_busy_day()
    page = open_window(scheme="light")
    sign_in(page, live_server.url, "cashier")
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")

    page.goto(f"{live_server.url}/me/")
    page.check("input[name=theme][value=dark]", force=True)
    page.click("form[data-once] button.btn-primary")
    expect(page.locator("html")).to_have_attribute("data-look", "dark")

    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light
