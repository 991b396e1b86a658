"""A browser becomes a till with a code; after the till is switched off, the next request ends that."""

import datetime as dt

import pytest
import time_machine
from django.test import Client

from audit.models import AuditEvent
from core import clock
from testing.orders import at_once
from testing.people import code_of
from tests.staff.own_keys import with_passkey
from tests.tills.helpers import boss, manager, take_over, till_browser, who_is_at, with_pin
from tills.models import EnrolmentCode, Till

pytestmark = pytest.mark.django_db


def make_code(browser: Client, **typed: str) -> str:
    typed = {"name": "Kasir 1", "pin_limit": "", "factor_code": code_of(manager()), **typed}
    page = browser.post("/tills/add/", typed)
    return page.context["code"]


def test_a_code_makes_the_browser_in_which_it_is_typed_a_till_once():
    refused = boss().post("/tills/add/", {"name": "Kasir 1", "factor_code": "000000"})
    assert refused.context["form"].errors
    assert not EnrolmentCode.objects.exists(), "making one takes a second factor"
    code = make_code(boss(), pin_limit="50.000")
    assert code not in str(EnrolmentCode.objects.values()) + str(AuditEvent.objects.values())
    browser = Client()

    answer = browser.post("/till/enrol/", {"code": f"{code[:4].lower()} {code[4:]}"})
    again = Client().post("/till/enrol/", {"code": code})

    till = Till.objects.get()
    cookie = answer.cookies["till"]
    assert (till.name, till.pin_limit, till.enrolled_by) == ("Kasir 1", 50_000, manager())
    assert cookie["httponly"]
    assert till.digest not in cookie.value
    assert browser.get("/till/").context["till"] == till
    kinds = AuditEvent.objects.filter(kind__startswith="till").order_by("pk").values_list("kind", flat=True)
    assert [*kinds] == ["till_code_made", "till_enrolled"]
    assert b'data-code="CodeRefused:used"' in again.content
    assert "till" not in again.cookies


def test_a_passkey_confirms_the_limit_that_was_typed():
    key, browser = with_passkey(manager()), boss()
    asked = {"act": "till_code", "content": '{"name": "Kasir 1", "pin_limit": "50000"}'}
    for typed, made in (("90000", 0), ("", 0), ("50000", 1)):
        options = browser.post("/me/factors/options/", asked).json()["publicKey"]

        browser.post("/tills/add/", {"name": "Kasir 1", "pin_limit": typed, "factor_assertion": key.sign(options)})

        assert EnrolmentCode.objects.count() == made, typed


@pytest.mark.django_db(transaction=True)
def test_of_two_codes_for_one_name_at_once_both_are_answered():
    first_code, second_code = make_code(boss()), make_code(boss())

    def enrol(code: str):
        return lambda: Client().post("/till/enrol/", {"code": code}).status_code

    answers = at_once(enrol(first_code), enrol(second_code))

    assert Till.objects.filter(switched_off_at=None).count() == 1
    assert answers == [302, 302]


def test_a_code_expires_in_time_or_with_the_right_of_its_maker_and_guesses_wait():
    with time_machine.travel(clock.now(), tick=False) as time:
        late = make_code(boss())
        time.shift(dt.timedelta(minutes=15))
        assert b'data-code="CodeRefused:expired"' in Client().post("/till/enrol/", {"code": late}).content

        code = make_code(boss())
        for _ in range(5):
            Client(REMOTE_ADDR="203.0.113.9").post("/till/enrol/", {"code": "ZZZZZZZZ"})
        slow = Client(REMOTE_ADDR="203.0.113.9").post("/till/enrol/", {"code": code})
        assert slow.status_code == 429
        assert b'data-code="CodeRefused:slow"' in slow.content

        manager().groups.clear()
        assert b'data-code="CodeRefused:expired"' in Client().post("/till/enrol/", {"code": code}).content


def test_a_till_of_the_same_name_is_replaced_and_takes_another_name_and_limit():
    before = till_browser("Kasir 1")
    till_browser("kasir 1")

    assert [till.is_on for till in Till.objects.order_by("pk")] == [False, True]
    assert before.get("/till/").context["was_one"]

    till = Till.objects.latest("pk")
    boss().confirm(f"/tills/{till.pk}/", {"name": "Depan", "pin_limit": "20000"})
    till.refresh_from_db()
    assert (till.name, till.pin_limit) == ("Depan", 20_000)


@pytest.mark.django_db(transaction=True)
def test_two_tills_never_have_one_name():
    till_browser("Kasir 1")
    till_browser("Kasir 2")

    page = boss().confirm(f"/tills/{Till.objects.last().pk}/", {"name": "KASIR 1", "pin_limit": ""})

    assert page.context["form"].errors["name"]


def test_switched_off_it_is_no_till_at_the_next_request():
    browser, person = till_browser(), with_pin()
    take_over(browser, person)
    replay = browser.cookies["till"].value

    boss().confirm(f"/tills/{Till.objects.get().pk}/off/")

    assert who_is_at(browser) == ""
    browser.cookies["till"] = replay
    page = take_over(browser, person)
    assert page.context["was_one"]
    assert who_is_at(browser) == ""
    assert AuditEvent.objects.filter(kind="till_switched_off").exists()


def test_the_list_of_tills_takes_ten_queries_at_most(django_assert_max_num_queries):
    for number in range(5):
        till_browser(f"Kasir {number}")
    browser = boss()
    browser.get("/tills/")

    with django_assert_max_num_queries(10):
        assert len(browser.get("/tills/").context["table"]) == 5
