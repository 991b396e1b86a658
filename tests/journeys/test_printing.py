"""A till that prints directly, in a real browser with a stand-in for the printer, whose bytes are read as it would."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from staff.models import User
from staff.roles import create_demo_staff
from tests.journeys.helpers import RULES_IN, OpenWindow, faults_in_all_looks, take_over
from tests.journeys.printers import UsbPrinter
from tests.tills.helpers import give_pin, give_printer
from tills.models import Till
from tills.services import make_code

pytestmark = [pytest.mark.journey, pytest.mark.django_db(transaction=True)]


def enrol_with_printer(page: Page, address: str, printer: UsbPrinter, **facts: Any) -> None:
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


@pytest.mark.parametrize(("language", "roll"), [("en-GB", "58"), ("id-ID", "80")])
def test_a_till_chooses_its_printer_and_prints_a_test_page(live_server: Any, open_window: OpenWindow, language, roll):
    printer, page = UsbPrinter(), open_window(language=language)
    enrol_with_printer(page, live_server.url, printer, roll=roll)

    page.goto(f"{live_server.url}/till/printer/")
    expect(page.locator("[data-trouble=unchosen]")).to_be_visible()
    faults = faults_in_all_looks(page, RULES_IN[language])
    page.click("[data-printer-choose]")
    expect(page.locator("[data-printer-name]")).to_have_text("POS-58")
    for state in ("busy", "gone"):
        printer.state = state
        page.click("[data-printer-print]")
        expect(page.locator(f"[data-trouble={state}]")).to_be_visible()
    printer.state = ""
    page.click("[data-printer-print]")
    expect(page.locator("[data-printer-state=printed]")).to_be_visible()
    faults += faults_in_all_looks(page, RULES_IN[language])

    [test_page] = printer.printed()
    columns = {"58": 32, "80": 48}[roll]
    assert "Kasir depan" in test_page.text
    assert "é ü ñ ° ½" in test_page.text
    assert ("12345678901234567890123456789012345678901234567890"[:columns]) in test_page.lines
    assert max(test_page.widths) == columns
    assert (test_page.cuts, test_page.pulses) == (1, 0)
    assert faults == []


def test_a_printer_that_is_not_picked_is_said_so(live_server: Any, open_window: OpenWindow):
    printer, page = UsbPrinter(state="refused"), open_window()
    enrol_with_printer(page, live_server.url, printer)

    page.goto(f"{live_server.url}/till/printer/")
    page.click("[data-printer-choose]")

    expect(page.locator("[data-trouble=refused]")).to_be_visible()
    assert printer.jobs == []
