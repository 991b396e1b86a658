"""The cash drawer at a till's printer opens when cash moves, once for each movement, and never otherwise."""

import datetime as dt
import json
import re
from html import unescape

import pytest
from django.conf import settings

from audit.models import AuditEvent
from batches.services import seal_of
from drawers.models import DrawerEntry, Payment, Shift
from purchases.states import Status
from staff.models import User
from testing.factories import make_order
from testing.people import make_person, signed_in
from tests.batches.helpers import checked
from tests.conftest import Upstream
from tests.counter.helpers import NUMBER, review, send, shelf_of_telkomsel
from tests.credit.helpers import give_credit, sell_to
from tests.drawers.helpers import begin, counted, end, make_drawer, sell, token_on
from tests.tills.helpers import give_printer, till_browser
from tills.models import DrawerOpening, Till

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(name="telkomsel")
def _telkomsel():
    return shelf_of_telkomsel()


def at_the_till(person: User | None = None, **printer):
    """A browser at a till whose printer has a cash drawer, where this person or a cashier is signed in."""
    browser = till_browser()
    give_printer(Till.objects.get(), **printer)
    browser.force_login(person or make_person("cashier"))
    return browser


def opened(answer) -> dict | None:
    """The printer at which this page opens the drawer."""
    found = re.search(r'data-open-drawer="(.*?)"', answer.content.decode())
    return json.loads(unescape(found[1])) if found else None


def reasons() -> list[str]:
    """The reasons for which drawers were opened, from the audit."""
    events = AuditEvent.objects.filter(kind="cash_drawer_opened").order_by("pk")
    return [event.facts["reason"] for event in events]


@pytest.mark.usefixtures("telkomsel")
def test_a_cash_sale_opens_it_once():
    browser = at_the_till()
    answer = send(browser, review(browser, f"{NUMBER} 10"), paid_by="card", paid_reference="A-1")
    assert Payment.objects.get().method == "card"
    assert (opened(answer), reasons()) == (None, [])
    shown = review(browser, f"{NUMBER[:-1]}7 10")

    answer, again = send(browser, shown, paid_by="cash"), send(browser, shown, paid_by="cash")

    assert opened(answer) == {"way": "usb", "roll": 58, "language": "esc-pos", "codepage": "cp437", "speed": 9600}
    assert opened(again) is None
    assert opened(browser.get("/counter/")) is None
    event = AuditEvent.objects.get(kind="cash_drawer_opened")
    order_opening = DrawerOpening.objects.get()
    assert (event.subject, event.facts["reason"]) == ("Kasir 1", "sale")
    assert order_opening.cause == f"sale {event.facts['ref_id']}"
    assert order_opening.taken_at


@pytest.mark.usefixtures("telkomsel")
def test_a_till_without_a_drawer_at_its_printer_opens_and_notes_nothing():
    browser = at_the_till(has_drawer=False)

    answer = send(browser, review(browser, f"{NUMBER} 10"), paid_by="cash")

    assert opened(answer) is None
    assert "cash_drawer.js" not in browser.get("/counter/").content.decode()
    assert (reasons(), DrawerOpening.objects.count()) == ([], 0)


def test_a_shift_opens_it_when_it_begins_and_when_it_ends():
    browser, drawer = at_the_till(), make_drawer()

    begun = browser.post("/drawer/open/", counted(200_000, drawer=drawer.pk, reason="first"), follow=True)
    seen = [browser.get("/drawer/"), browser.get("/orders/")]
    shift = Shift.objects.get()
    ended = browser.post(f"/shifts/{shift.pk}/close/", counted(200_000), follow=True)

    assert [bool(opened(page)) for page in (begun, *seen, ended)] == [True, False, False, True]
    assert reasons() == ["opened", "closed"]
    assert "no-store" in begun.headers["Cache-Control"]
    assert ["usb=(self)" in page.headers["Permissions-Policy"] for page in (begun, *seen)] == [True, False, False]


def test_cash_paid_in_and_out_opens_it_once_for_each_form():
    person = make_person("cashier")
    shift, browser = begin(person), at_the_till(person)

    for way in ("in", "out"):
        token = token_on(browser, "/drawer/", 'id="paid-form"')
        form = {"way": way, "amount": "5000", "reason": "change", "token": token}
        pages = [browser.post("/drawer/paid/", form, follow=True) for _ in range(2)]
        assert [bool(opened(page)) for page in pages] == [True, False]

    assert reasons() == ["paid_in", "paid_out"]
    assert DrawerEntry.objects.filter(shift=shift, kind__in=["paid_in", "paid_out"]).count() == 2


def test_a_refund_and_a_debt_that_is_paid_open_it_only_in_cash():
    person = make_person("supervisor")
    shift, browser, customer = begin(person), at_the_till(person), give_credit()
    sell_to(customer, 20_000, by=person)
    for method, is_opened in (("transfer", False), ("cash", True)):
        order = end(sell(person), "failed")
        form = {"method": method, "shift": shift.pk, "note": "A-1"}
        page = browser.post(f"/drawer/sales/{order.ref_id}/given-back/", form, follow=True)
        assert bool(opened(page)) is is_opened, method

        token = token_on(browser, f"/customers/{customer.pk}/credit/", 'id="credit-payment"')
        form = {"amount": "10000", "method": method, "note": "A-1", "token": token}
        page = browser.post(f"/customers/{customer.pk}/credit/paid/", form, follow=True)
        assert bool(opened(page)) is is_opened, method

    assert reasons() == ["refund", "credit"]


def test_a_sale_that_is_paid_in_cash_after_all_opens_it_once():
    person = make_person("cashier")
    begin(person)
    order, browser = sell(person), at_the_till(person)

    for method in ("qris", "cash", "qris", "cash"):
        browser.post(f"/drawer/sales/{order.ref_id}/paid/", {"method": method, "reference": "A-1"})

    assert reasons() == ["sale"]


def test_a_batch_opens_it_once_if_it_is_paid_in_cash(upstream: Upstream):
    person, till = make_person("supervisor"), till_browser()
    browser = signed_in(person)
    give_printer(Till.objects.get())
    browser.cookies[settings.TILL_COOKIE_NAME] = till.cookies[settings.TILL_COOKIE_NAME].value

    for number, (method, why) in enumerate((("qris", []), ("cash", ["sale"]))):
        batch = checked(f"0812900000{number}1;10\n", person)
        form = {"seal": seal_of(batch), "paid_by": method}
        page = browser.confirm(f"/batches/{batch.pk}/release/", form, follow=True)

        assert reasons() == why
        assert bool(opened(page)) is bool(why)


def test_looking_printing_and_refusals_leave_it_closed():
    person = make_person("cashier")
    shift, browser = begin(person), at_the_till(person)
    order = make_order(Status.SUCCESS, sn="1", price=10_500, placed_by=person)

    pages = [browser.post(f"/orders/{order.ref_id}/receipt/", follow=True) for _ in range(2)]
    pages += [browser.get(path) for path in (f"/orders/{order.ref_id}/", "/drawer/", f"/shifts/{shift.pk}/")]
    too_much = {
        "way": "out",
        "amount": "900000",
        "reason": "safe",
        "token": token_on(browser, "/drawer/", 'id="paid-form"'),
    }
    pages.append(browser.post("/drawer/paid/", too_much, follow=True))
    pages.append(browser.post(f"/shifts/{shift.pk}/close/", counted(1_000), follow=True))

    assert [opened(page) for page in pages] == [None] * len(pages)
    assert reasons() == []


def test_an_instruction_is_for_its_own_till_and_for_a_minute():
    browser, drawer = at_the_till(), make_drawer()
    browser.post("/drawer/open/", counted(200_000, drawer=drawer.pk, reason="first"))
    DrawerOpening.objects.update(asked_at=DrawerOpening.objects.get().asked_at - dt.timedelta(minutes=2))

    assert opened(browser.get("/drawer/")) is None
    assert DrawerOpening.objects.get().taken_at is None
