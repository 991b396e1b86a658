"""In a real shop a password alone does not sell: a sale needs a second factor, a till, or the owner's permission."""

import pytest
from django.test import Client

from core.rights import Right, Role
from staff.models import User
from staff.roles import rights_by_role, roles_given_by
from staff.services import Limits, change_role_rights
from testing.people import browser_of, give_factor, make_person, signed_in
from tests.core.helpers import has_id, words
from tests.tills.helpers import boss, take_over, till_browser, with_pin
from tills.models import Till

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _real_shop(settings):
    settings.SANDBOX = False


def sign_in(browser: Client, name: str) -> Client:
    browser.post("/accounts/login/", {"login": name, "password": "secret-words"})
    return browser


def is_led_to_factor(browser: Client) -> bool:
    answers = [browser.get("/"), browser.get("/counter/"), browser.post("/counter/send/", {})]
    led = {answer.status_code == 302 and answer["Location"] == "/me/factors/" for answer in answers}
    assert len(led) == 1
    return led.pop()


def test_a_password_alone_opens_only_the_way_to_a_factor():
    person = make_person("cashier")
    browser = sign_in(Client(), "cashier")
    for right in ("purchases.buy", "bills.check_bill"):
        change_role_rights(Role.CASHIER, {right}, Limits(), actor=None)

        assert is_led_to_factor(browser), right
        page = browser.get("/me/factors/")
        assert (page.status_code, page.wsgi_request.owes_factor) == (200, "selling"), right
        assert not has_id(page, "menu")
        assert browser.get("/", headers={"HX-Request": "true"})["HX-Redirect"] == "/me/factors/"
    assert browser_of("viewer").get("/").status_code == 200, "who sells nothing needs none"

    give_factor(person)
    assert not is_led_to_factor(signed_in(person))


def test_at_a_till_password_and_pin_sell_until_it_is_switched_off():
    person, browser = with_pin(), till_browser()
    assert not is_led_to_factor(sign_in(browser, person.username))
    by_pin = till_browser("Kasir 2")
    take_over(by_pin, person)
    assert not is_led_to_factor(by_pin)

    boss().confirm(f"/tills/{Till.objects.get(name='Kasir 1').pk}/off/")

    assert is_led_to_factor(browser)


def test_the_sandbox_asks_nobody(settings):
    settings.SANDBOX = True

    assert not is_led_to_factor(browser_of("cashier"))


def test_the_owner_loosens_it_and_the_overview_says_so():
    browser, owner = browser_of("cashier", first_name="Sari"), browser_of("admin")
    supervisor = make_person("supervisor")
    before = roles_given_by(supervisor)
    assert is_led_to_factor(browser)
    assert not has_id(owner.get("/"), "sold-by-password")

    rights = {*rights_by_role()[Role.CASHIER], Right.SELL_BY_PASSWORD}
    change_role_rights(Role.CASHIER, rights, Limits(), actor=None)

    assert not is_led_to_factor(browser)
    page = owner.get("/")
    assert has_id(page, "sold-by-password")
    assert "Sari" in words(page)
    assert not has_id(signed_in(supervisor).get("/"), "sold-by-password")
    assert Role.CASHIER in before
    assert roles_given_by(User.objects.get(pk=supervisor.pk)) == before, "given by the same people"
