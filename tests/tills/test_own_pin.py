"""Every seller sets their own PIN, with their own password or second factor."""

import random

import pytest

from audit.models import AuditEvent
from testing.people import browser_of, code_of, make_person, signed_in
from tests.core.helpers import codes
from tests.tills.helpers import PIN, give_pin, manager, take_over, till_browser, who_is_at
from tills.models import Pin
from tills.services import epoch_of, is_weak

pytestmark = pytest.mark.django_db


def typed(pin: str = PIN, **more: str) -> dict[str, str]:
    return {"pin1": pin, "pin2": pin, "password": "secret-words", **more}


def test_a_pin_that_was_set_takes_a_till_over_stands_nowhere_and_is_removed():
    person = make_person("cashier")
    browser, till = signed_in(person), till_browser()

    browser.post("/me/pin/", typed())
    take_over(till, person)

    assert who_is_at(till) == person.username
    assert AuditEvent.objects.get(kind="pin_set").person == person
    assert PIN not in Pin.objects.get().encoded + str(AuditEvent.objects.values())

    browser.post("/me/pin/", {"remove": "1", "password": "secret-words"})
    assert not Pin.objects.exists()
    assert AuditEvent.objects.filter(kind="pin_removed").exists()


def test_weak_pins_and_wrong_passwords_set_no_pin_and_guesses_are_slowed():
    browser = browser_of("cashier")
    for pin in ("111111", "123456", "654321", "121212", "123123", "112233", "890123", "111222"):
        page = browser.post("/me/pin/", typed(pin))

        assert [fault.code for fault in page.context["form"].errors.as_data()["pin1"]] == ["weak"], pin
    for pin in ("12345", "1234567", "82460a", "８２４６０５"):
        browser.post("/me/pin/", typed(pin))

        assert not Pin.objects.exists(), pin

    seen = [codes(browser.post("/me/pin/", typed(password="wrong"))) for _ in range(6)]
    assert seen == [{"FactorRefused:password"}] * 5 + [{"FactorRefused:slow_password"}]
    assert not Pin.objects.exists()


def test_most_pins_are_good():
    pins = random.Random(1).sample(range(1_000_000), 20_000)  # 14,000 of all PINs are weak

    assert sum(is_weak(f"{pin:06}") for pin in pins) < len(pins) / 40


def test_who_has_a_second_factor_needs_it():
    browser = signed_in(manager())

    page = browser.post("/me/pin/", typed())
    assert codes(page) == {"FactorRefused:missing"}
    browser.post("/me/pin/", typed(factor_code=code_of(manager())))

    assert Pin.objects.get().person == manager()


def test_a_pin_outlives_a_change_of_the_key(settings):
    person = give_pin(make_person("cashier"), secret="the-key-before")
    assert epoch_of(person.pk, PIN) is None

    settings.SECRET_KEY_FALLBACKS = ["the-key-before"]

    assert epoch_of(person.pk, PIN) == 0


def test_a_hash_that_is_moved_to_another_person_opens_nothing():
    person, other = give_pin(make_person("cashier")), give_pin(make_person("cashier", username="other"), "517306")
    Pin.objects.filter(person=other).update(encoded=Pin.objects.get(person=person).encoded)

    assert epoch_of(other.pk, PIN) is None
