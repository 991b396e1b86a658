"""A till's way to print: managers of tills set it, the database keeps it, and only the till's own pages use it."""

import pytest

from audit.models import AuditEvent
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

    answer = manager.post(f"/tills/{till.pk}/printer/", TYPED, follow=True)

    assert codes(answer) == {"printer_saved"}
    printer = TillPrinter.objects.get(till=till)
    assert (printer.way, printer.roll, printer.codepage, printer.has_drawer) == ("usb", "80", "cp858", True)
    [event] = AuditEvent.objects.filter(kind="setting_changed")
    assert (event.subject, event.before) == (f"till {till.pk}", {"printer": "browser"})
    assert event.after["printer"] == "usb"
    manager.post(f"/tills/{till.pk}/printer/", {**TYPED, "way": ""})
    assert not TillPrinter.objects.exists()
    assert AuditEvent.objects.filter(kind="setting_changed").count() == 2


def test_the_same_settings_again_are_no_change():
    till, manager = make_till(), boss()

    for _ in range(2):
        manager.post(f"/tills/{till.pk}/printer/", TYPED)

    assert AuditEvent.objects.filter(kind="setting_changed").count() == 1


@pytest.mark.parametrize("wrong", [{"way": "lpt"}, {"roll": "76"}, {"speed": "1"}, {"codepage": "cp1"}])
def test_values_that_no_printer_has_are_refused(wrong):
    till = make_till()

    answer = boss().post(f"/tills/{till.pk}/printer/", {**TYPED, **wrong}, follow=True)

    assert codes(answer) == {"no_printer"}
    assert not TillPrinter.objects.exists()


def test_a_till_that_is_enrolled_again_keeps_its_printer():
    till_browser("Kasir 1")
    give_printer(Till.objects.get(), roll="80")

    till_browser("Kasir 1")

    [printer] = TillPrinter.objects.all()
    assert (printer.till.is_on, printer.roll) == (True, "80")


@pytest.mark.parametrize("way", ["usb", "serial"])
def test_a_page_that_prints_may_use_the_tills_own_way_and_no_other(way):
    browser = till_browser()
    give_printer(Till.objects.get(), way=way)
    take_over(browser, with_pin())

    page = browser.get("/till/printer/")

    assert 'id="print-job"' in page.content.decode()
    allowed = {"usb=(self)", "serial=(self)"} & policy_of(page)
    assert allowed == {f"{way}=(self)"}
    assert f"{way}=()" in policy_of(browser.get("/orders/"))


def test_without_a_direct_printer_no_page_reaches_one():
    at_a_till, elsewhere = till_browser(), signed_in(make_person("owner", username="own"))
    take_over(at_a_till, with_pin())
    give_printer(make_till("Kasir 2"))

    for browser in (at_a_till, elsewhere):
        page = browser.get("/till/printer/")
        assert 'id="no-direct-printer"' in page.content.decode()
        assert {"usb=()", "serial=()"} <= policy_of(page)


def test_a_till_that_is_switched_off_has_no_printer():
    browser = till_browser()
    till = Till.objects.get()
    give_printer(till)
    person = make_person("owner", username="own")
    browser.force_login(person)
    Till.objects.filter(pk=till.pk).update(switched_off_at=till.enrolled_at)

    assert 'id="print-job"' not in browser.get("/till/printer/").content.decode()
