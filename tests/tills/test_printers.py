"""A till's way to print: managers of tills set it, the database keeps it, and only the till's own pages use it."""

import pytest

from audit.models import AuditEvent
from core import clock
from testing.people import make_person, signed_in
from tests.core.helpers import codes
from tests.tills.helpers import boss, give_printer, make_till, take_over, till_browser, with_pin
from tills.models import Till, TillPrinter

pytestmark = pytest.mark.django_db

TYPED = {"way": "usb", "roll": "80", "language": "esc-pos", "codepage": "cp858", "speed": "9600", "has_drawer": "on"}


def policy_of(answer) -> set[str]:
    return set(answer.headers["Permissions-Policy"].split(", "))


def test_a_manager_has_a_till_print_directly_and_back_again():
    till, manager = make_till(), boss()
    for wrong in ({"way": "lpt"}, {"roll": "76"}, {"speed": "1"}, {"codepage": "cp1"}):
        refused = manager.post(f"/tills/{till.pk}/printer/", {**TYPED, **wrong}, follow=True)
        assert codes(refused) == {"no_printer"}, wrong
        assert not TillPrinter.objects.exists()

    for _ in range(2):
        saved = manager.post(f"/tills/{till.pk}/printer/", TYPED, follow=True)
        assert codes(saved) == {"printer_saved"}

    printer = TillPrinter.objects.get(till=till)
    assert (printer.way, printer.roll, printer.codepage, printer.has_drawer) == ("usb", "80", "cp858", True)
    [event] = AuditEvent.objects.filter(kind="setting_changed")  # the same settings again are no change
    assert (event.subject, event.before) == (f"till {till.pk}", {"printer": "browser"})
    assert event.after["printer"] == "usb"
    manager.post(f"/tills/{till.pk}/printer/", {**TYPED, "way": ""})
    assert not TillPrinter.objects.exists()
    assert AuditEvent.objects.filter(kind="setting_changed").count() == 2


def test_a_till_that_is_enrolled_again_keeps_its_printer():
    till_browser("Kasir 1")
    give_printer(Till.objects.get(), roll="80")

    till_browser("Kasir 1")

    [printer] = TillPrinter.objects.all()
    assert (printer.till.is_on, printer.roll) == (True, "80")


def test_a_page_that_prints_may_use_the_tills_own_way_and_no_other():
    browser = till_browser()
    printer = give_printer(Till.objects.get())
    take_over(browser, with_pin())
    for way in ("usb", "serial"):
        printer.way = way
        printer.save()

        page = browser.get("/till/printer/")

        assert 'id="print-job"' in page.content.decode()
        assert {"usb=(self)", "serial=(self)"} & policy_of(page) == {f"{way}=(self)"}
        assert f"{way}=()" in policy_of(browser.get("/orders/"))


def test_without_a_direct_printer_of_a_till_that_is_on_no_page_reaches_one():
    at_a_till, elsewhere, off = till_browser(), signed_in(make_person("owner", username="own")), till_browser("Kasir 3")
    take_over(at_a_till, with_pin())
    give_printer(make_till("Kasir 2"))
    give_printer(Till.objects.get(name="Kasir 3"))
    off.force_login(make_person("owner", username="owner"))
    Till.objects.filter(name="Kasir 3").update(switched_off_at=clock.now())

    for browser in (at_a_till, elsewhere, off):
        page = browser.get("/till/printer/")
        assert 'id="no-direct-printer"' in page.content.decode()
        assert {"usb=()", "serial=()"} <= policy_of(page)
