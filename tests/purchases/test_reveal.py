"""An auditor asks for one customer's number: only that answer shows it, and an event notes it."""

import re

import pytest

from audit.models import AuditEvent
from purchases.events import FULL_NUMBER_SEEN
from purchases.states import Status
from testing.database import statements
from testing.factories import make_check, make_order
from testing.people import browser_of

pytestmark = pytest.mark.django_db

SHOWN, MASKED = "0812-9876-5432", "0812-••••-•432"


def noted() -> list[tuple[str, str]]:
    """The people who saw a number, and the number."""
    events = AuditEvent.objects.filter(kind=FULL_NUMBER_SEEN.key)
    return list(events.values_list("person__username", "subject"))


def title_of(page: str) -> str:
    match = re.search(r"<title>(.*?)</title>", page, re.DOTALL)
    return match[1] if match else ""


def test_an_auditor_sees_an_orders_number_once_and_is_noted():
    order, browser = make_order(Status.PENDING, destination="081298765432"), browser_of("auditor")
    before = browser.get(f"/orders/{order.ref_id}/").content.decode()

    with statements() as asked:
        page = browser.post(f"/orders/{order.ref_id}/number/").content.decode()

    assert (SHOWN in before, 'id="show-number"' in before) == (False, True)
    assert (SHOWN in page, 'id="show-number"' in page, 'id="number-noted"' in page) == (True, False, True)
    assert MASKED in title_of(page)
    assert len(asked) <= 15
    assert SHOWN not in browser.get(f"/orders/{order.ref_id}/").content.decode()
    assert SHOWN not in browser.get(f"/orders/{order.ref_id}/live/?seen=x~y").content.decode()

    # who sees numbers anyway needs no button and is not noted
    administrator = browser_of("administrator")
    page = administrator.get(f"/orders/{order.ref_id}/").content.decode()
    administrator.post(f"/orders/{order.ref_id}/number/")
    assert (SHOWN in page, 'id="show-number"' in page) == (True, False)
    assert noted() == [("auditor", order.ref_id)]


def test_an_auditor_sees_a_bills_number_once_and_is_noted():
    check, browser = make_check(destination="98765012349"), browser_of("auditor")
    before = browser.get(f"/bills/{check.ref_id}/").content.decode()

    with statements() as asked:
        page = browser.post(f"/bills/{check.ref_id}/number/").content.decode()

    assert ("9876 5012 349" in before, 'id="show-number"' in before) == (False, True)
    assert "9876 5012 349" in page
    assert noted() == [("auditor", check.ref_id)]
    assert len(asked) <= 15
    assert "9876 5012 349" not in browser.get(f"/bills/{check.ref_id}/").content.decode()


def test_the_address_of_a_shown_number_opened_again_shows_none():
    order, check, browser = make_order(), make_check(), browser_of("auditor")

    for page in (f"/orders/{order.ref_id}/", f"/bills/{check.ref_id}/"):
        assert browser.get(f"{page}number/").headers["Location"] == page
    assert browser.post("/orders/GONE/number/").status_code == 404
    assert noted() == []
