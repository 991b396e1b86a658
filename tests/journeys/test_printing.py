"""A till that prints directly, in a real browser with a stand-in for the printer, which reads the bytes."""

from typing import Any

import pytest
from django.conf import settings
from playwright.sync_api import Page, expect

from purchases.states import Status
from shop.pictures import read_picture
from shop.services import change_shop, store_logo
from staff.models import User
from staff.roles import create_demo_staff
from testing.escpos import decode
from testing.factories import make_order, make_product
from tests.counter.helpers import shelf_of_telkomsel
from tests.drawers.helpers import begin, make_drawer
from tests.journeys.helpers import OpenWindow, faults_in_all_looks, faults_of, take_over
from tests.journeys.printers import FakePrinter
from tests.shop.helpers import TYPED, png
from tests.tills.helpers import give_pin, give_printer
from tills.models import DrawerOpening, Till, TillPrinter
from tills.services import make_code

pytestmark = [pytest.mark.journey, pytest.mark.django_db(transaction=True)]


def enrol_with_printer(page: Page, address: str, printer: FakePrinter, **facts: Any) -> None:
    """Make this window a till with a printer at its USB port, where the cashier is signed in by PIN."""
    create_demo_staff()
    give_pin(User.objects.get(username="cashier"))
    code = make_code(name="Kasir depan", pin_limit=None, actor=User.objects.get(username="owner"))
    printer.connect(page)
    page.goto(f"{address}/till/")
    page.fill("[name=code]", code)
    page.keyboard.press("Enter")
    expect(page.locator("#till-name")).to_be_visible()
    give_printer(Till.objects.get(), **facts)
    take_over(page, "Kasir")


def words_of(text: str) -> str:
    """The letters alone, as a printer has them: lines are broken elsewhere on the page."""
    return "".join(text.replace("–", "-").replace("─", "").split())


def test_a_till_chooses_its_printer_and_prints_a_test_page(live_server: Any, open_window: OpenWindow):
    printer, page = FakePrinter(state="refused"), open_window(language="id-ID")
    enrol_with_printer(page, live_server.url, printer, roll="58")

    # given a printer that is not picked, and then is
    page.goto(f"{live_server.url}/till/printer/")
    page.click("[data-printer-choose]")
    expect(page.locator("[data-trouble=refused]")).to_be_visible()
    printer.state = "unchosen"
    page.reload()
    expect(page.locator("[data-trouble=unchosen]")).to_be_visible()
    faults = faults_in_all_looks(page)
    page.click("[data-printer-choose]")
    expect(page.locator("[data-printer-name]")).to_have_text("POS-58")
    for state in ("busy", "gone"):
        printer.state = state
        page.click("[data-printer-print]")
        expect(page.locator(f"[data-trouble={state}]")).to_be_visible()
    assert printer.jobs == []
    printer.state = ""

    # when each roll gets its test page
    for roll, columns in (("58", 32), ("80", 48)):
        printer.jobs.clear()
        TillPrinter.objects.update(roll=roll)
        page.reload()
        page.click("[data-printer-print]")
        expect(page.locator("[data-printer-state=printed]")).to_be_visible()
        [test_page] = printer.printed()
        assert "Kasir depan" in test_page.text
        assert "é ü ñ ° ½" in test_page.text
        assert ("12345678901234567890123456789012345678901234567890"[:columns]) in test_page.lines
        assert max(test_page.widths) == columns
        assert (test_page.cuts, test_page.pulses) == (1, 0)
    assert faults + faults_of(page) == []


def test_a_printer_is_reached_in_each_way(live_server: Any, open_window: OpenWindow):
    printer, page = FakePrinter(), open_window()
    enrol_with_printer(page, live_server.url, printer)
    for way, trouble in (("serial", "unchosen"), ("bluetooth", "ask")):
        printer.state = "unchosen"
        printer.jobs.clear()
        TillPrinter.objects.update(way=way, speed=19200)

        page.goto(f"{live_server.url}/till/printer/")
        expect(page.locator(f"[data-trouble={trouble}]")).to_be_visible()
        page.click("[data-printer-choose]")
        expect(page.locator(f"[data-trouble={trouble}]")).to_be_hidden()
        page.click("[data-printer-print]")
        expect(page.locator("[data-printer-state=printed]")).to_be_visible()

        sent = [byte for piece in printer.jobs for byte in piece]  # by Bluetooth it comes in pieces
        assert "Kasir depan" in decode(sent).text, way
        assert decode(sent).cuts == 1, way


def test_a_receipt_comes_out_once_as_the_page_shows_it(live_server: Any, open_window: OpenWindow):
    printer, page = FakePrinter(state=""), open_window()
    enrol_with_printer(page, live_server.url, printer)
    token = make_product(name="Token PLN 50.000", category="token-pln", brand="pln")
    sn = "27880111795691503095/BUDI SANTOSO/R1/1300VA/32,5"
    order = make_order(Status.SUCCESS, product=token, destination="12345678901", sn=sn, price=51_500)
    owner = User.objects.get(username="owner")
    change_shop(TYPED, actor=owner, logo=store_logo(read_picture(png())))
    language = {"name": settings.LANGUAGE_COOKIE_NAME, "url": live_server.url}

    for value, roll, columns, groups in (
        ("id", "58", 32, ["2788 0111 7956", "9150 3095"]),
        ("en", "80", 48, ["2788 0111 7956 9150 3095"]),
    ):
        printer.jobs.clear()
        TillPrinter.objects.update(roll=roll)
        page.context.add_cookies([{**language, "value": value}])
        page.goto(f"{live_server.url}/orders/{order.ref_id}/receipt/")
        page.click(".struk-page form button[type=submit]")
        expect(page.locator("[data-printer-state=printed]")).to_be_visible()
        page.reload()
        expect(page.locator("[data-printer-print]")).to_be_enabled()
        assert faults_of(page) == []

        [paper] = printer.printed()
        assert words_of(paper.text) == words_of(page.inner_text(".struk"))
        assert max(paper.widths) == columns
        assert [line.strip() for line in paper.lines if line.strip()[:4] in {"2788", "9150"}] == groups
        assert (paper.pictures, paper.cuts, paper.pulses) == (1, 1, 0)
    page.emulate_media(media="print")
    expect(page.locator("#pin-session")).to_be_hidden()


def test_what_the_printer_does_not_take_is_said_and_a_receipt_is_sent_again(live_server: Any, open_window: OpenWindow):
    printer, page = FakePrinter(state="unchosen"), open_window()
    enrol_with_printer(page, live_server.url, printer)
    order = make_order(Status.SUCCESS, sn="5985080747136515", price=10_500)

    page.goto(f"{live_server.url}/orders/{order.ref_id}/receipt/")
    page.click(".struk-page form button[type=submit]")
    expect(page.locator("[data-trouble=unchosen]")).to_be_visible()
    page.click("[data-printer-choose]")
    expect(page.locator("[data-printer-state=printed]")).to_be_visible()
    printer.state = "gone"
    page.click("[data-printer-print]")
    expect(page.locator("[data-trouble=gone]")).to_be_visible()
    printer.state = ""
    page.click("[data-printer-print]")
    expect(page.locator("[data-printer-state=printed]")).to_be_visible()
    assert len(printer.jobs) == 2
    assert order.receipt_prints.count() == 1

    # and a drawer that does not open is said so
    printer.state, drawer = "busy", make_drawer()
    page.goto(f"{live_server.url}/drawer/")
    page.select_option("[name=drawer]", str(drawer.pk))
    page.fill("[name=pieces_100000]", "2")
    page.click("#open-drawer button[type=submit]:not([name])")
    expect(page.locator("[data-code=drawer_not_opened]")).to_be_visible()
    assert faults_in_all_looks(page) == []
    printer.state = ""
    page.reload()
    page.go_back()
    page.go_forward()
    expect(page.locator("#paid-form")).to_be_visible()
    assert len(printer.jobs) == 2


def test_the_cash_drawer_opens_once_on_a_cash_sale(live_server: Any, open_window: OpenWindow):
    printer, page = FakePrinter(state=""), open_window()
    shelf_of_telkomsel()
    enrol_with_printer(page, live_server.url, printer)
    begin(User.objects.get(username="cashier"))  # a shop without drawers does not ask for the way to pay

    for number, way, key in (("081234567890", "cash", "F2"), ("081234567891", "qris", "F4")):
        page.goto(f"{live_server.url}/counter/")
        page.type("#counter-q", f"{number} 10")
        page.keyboard.press("Enter")
        expect(page.locator("#counter-review[data-ready]")).to_be_visible()
        page.keyboard.press(key)
        expect(page.locator(f"#paid-by [value={way}]")).to_be_checked()
        page.click("[data-send]:enabled")
        expect(page.locator("#counter-said[data-sent]")).to_be_visible()
        printer.await_job(page)
    page.reload()
    expect(page.locator("#counter-q")).to_be_visible()

    assert [(job.pulses, job.cuts, job.text) for job in printer.printed()] == [(1, 0, "")]
    assert [opening.cause.split()[0] for opening in DrawerOpening.objects.all()] == ["sale"]
