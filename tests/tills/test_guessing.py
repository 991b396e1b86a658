"""Five wrong PINs lock the PINs of that till, and not another till; ten at all tills lock this person's PIN alone."""

import datetime as dt

import pytest
import time_machine
from django.test import Client

from audit.models import AuditEvent
from core import clock
from testing.orders import at_once
from testing.people import code_of
from tests.branches.helpers import make_branch
from tests.core.helpers import codes
from tests.tills.helpers import PIN, WRONG, boss, manager, take_over, till_browser, who_is_at, with_pin
from tills.models import Till
from tills.services import pins, sessions

pytestmark = pytest.mark.django_db


def guess_wrong(browser: Client, person, times: int = 5) -> None:
    for _ in range(times):
        take_over(browser, person, WRONG)


def test_five_wrong_pins_lock_this_till_alone_until_a_manager_unlocks_it():
    browser, other, person = till_browser(), till_browser("Kasir 2"), with_pin()
    for pin in ("", "12345", "abcdef", "１２３４５６", "1234567"):
        take_over(browser, person, pin)
    till = Till.objects.get(name="Kasir 1")
    assert till.guesses == 0, "a PIN of the wrong shape is no guess"
    guess_wrong(browser, person)

    page = take_over(browser, person)

    assert page.status_code == 429
    assert codes(page) == {"PinsLocked"}
    assert who_is_at(browser) == ""
    kinds = list(AuditEvent.objects.filter(kind__startswith="pin").order_by("pk").values_list("kind", flat=True))
    assert kinds == ["pin_failed"] * 5 + ["pin_locked"]
    take_over(other, person)
    elsewhere = Client()
    elsewhere.post("/accounts/login/", {"login": person.username, "password": "secret-words"})
    assert [who_is_at(each) for each in (other, elsewhere)] == [person.username] * 2

    boss().confirm(f"/tills/{till.pk}/unlock/")
    take_over(browser, person)
    assert who_is_at(browser) == person.username
    assert AuditEvent.objects.get(kind="unlocked").person == manager()


def test_the_fifth_try_counts_still_and_wrong_pins_are_forgotten_after_half_a_day():
    browser, person = till_browser(), with_pin()
    guess_wrong(browser, person, times=4)

    take_over(browser, person)

    assert who_is_at(browser) == person.username
    assert Till.objects.get().wrong_count == 0
    with time_machine.travel(clock.now(), tick=False) as time:
        guess_wrong(browser, person, times=4)
        time.shift(dt.timedelta(hours=13))
        guess_wrong(browser, person, times=4)
        assert not Till.objects.get().pin_locked_until


def test_a_right_pin_of_another_branch_counts_as_no_wrong_one():
    browser = till_browser()
    person = with_pin(branch=make_branch(), bound_since=clock.now())

    for _ in range(6):
        answer = take_over(browser, person)

    assert codes(answer) == {"TillElsewhere"}
    assert who_is_at(browser) == ""
    assert Till.objects.get().wrong_count == 0
    assert not AuditEvent.objects.filter(kind__startswith="pin").exists()


def test_the_own_pin_buys_no_more_tries_at_a_colleagues():
    browser, me, colleague = till_browser(), with_pin(username="me"), with_pin(username="other", pin="517306")
    guess_wrong(browser, colleague, times=4)
    take_over(browser, me)

    guess_wrong(browser, colleague, times=1)

    assert codes(take_over(browser, me)) == {"PinsLocked"}


def test_ten_wrong_pins_at_several_tills_lock_this_persons_pin_alone():
    tills = [till_browser(f"Kasir {number}") for number in range(3)]
    person, colleague = with_pin(), with_pin(username="other", pin="517306")
    for browser in tills:
        guess_wrong(browser, person, times=4)

    refused = take_over(tills[2], person)
    take_over(tills[1], colleague, "517306")

    assert (refused.status_code, codes(refused)) == (429, {"PinsLocked"})
    assert who_is_at(tills[2]) == ""
    assert who_is_at(tills[1]) == "other"
    assert [till.wrong_count for till in Till.objects.order_by("pk")] == [4, 4, 2]
    locked = AuditEvent.objects.get(kind="locked")
    assert (locked.subject, locked.facts["seconds"]) == (person.username, 300)

    sign_in(tills[2], person.username)
    take_over(tills[2], person)
    assert who_is_at(tills[2]) == person.username


def test_each_lock_lasts_twice_as_long_and_then_the_right_pin_counts_again():
    browser, person = till_browser(), with_pin()
    waits = []
    with time_machine.travel(clock.now(), tick=False) as time:
        guess_wrong(browser, person)
        for pin in (WRONG, WRONG, PIN):
            till = Till.objects.get()
            waits.append(till.pin_locked_until - clock.now())
            time.move_to(till.pin_locked_until)
            take_over(browser, person, pin)
        assert who_is_at(browser) == person.username

    assert waits == [dt.timedelta(minutes=minutes) for minutes in (5, 10, 20)]


def sign_in(browser: Client, name: str, **more: str) -> None:
    browser.post("/accounts/login/", {"login": name, "password": "secret-words", **more})
    browser.post("/till/lock/")


def test_only_the_own_password_makes_up_for_the_own_wrong_pins():
    browser, me, colleague = till_browser(), with_pin(username="me"), with_pin(username="other", pin="517306")
    guess_wrong(browser, colleague)

    sign_in(browser, "me")
    assert codes(take_over(browser, colleague, "517306")) == {"PinsLocked"}
    assert codes(take_over(browser, me)) == {"PinsLocked"}
    sign_in(browser, manager().username)
    browser.post("/accounts/second-step/", {"factor_code": code_of(manager())})
    browser.post("/till/lock/")
    assert codes(take_over(browser, colleague, "517306")) == {"PinsLocked"}, "a manager's gives no tries either"

    sign_in(browser, "other")
    take_over(browser, colleague, "517306")
    assert who_is_at(browser) == "other"
    assert Till.objects.get().pin_locks == 0


@pytest.mark.django_db(transaction=True)
def test_of_fifty_guesses_at_once_five_are_looked_at(monkeypatch):
    browser, person = till_browser(), with_pin()
    looked_at = []
    epoch_of = pins.epoch_of
    monkeypatch.setattr(sessions, "epoch_of", lambda pk, pin: looked_at.append(pin) or epoch_of(pk, pin))
    cookies = browser.cookies

    def guess(number: int):
        guesser = Client()
        guesser.cookies.update(cookies)
        return lambda: take_over(guesser, person, f"{700_000 + number * 37}").status_code

    answers = at_once(*[guess(number) for number in range(50)])

    assert sorted(answers) == [200] * 4 + [429] * 46
    assert len(looked_at) == 5
    till = Till.objects.get()
    assert (till.guesses, till.wrong_count) == (50, 5)
    assert codes(take_over(browser, person, PIN)) == {"PinsLocked"}
