"""People add and remove their own second factors; a person who needs one sees no other page before."""

import re

import pytest
from allauth.mfa.models import Authenticator
from django.test import Client

from core import clock
from staff.allauth_internals import format_hotp_value, hotp_value
from staff.models import User
from staff.services import has_factor
from testing.people import browser_of, code_of, give_recovery_codes, make_person
from tests.soft_key import SoftKey
from tests.staff.helpers import signed_in
from tests.staff.own_keys import with_passkey

pytestmark = pytest.mark.django_db


def without_factor(role: str) -> tuple[User, Client]:
    person = make_person(role)
    Authenticator.objects.filter(user=person).delete()
    return person, signed_in(person)


def add_app(client: Client, **fields):
    page = client.get("/me/factors/app/").content.decode()
    groups = re.search(r'id="app-secret">([\w ]+)<', page)[1].split()
    assert {len(group) for group in groups} == {4}
    secret = "".join(groups)
    assert re.search(rf'id="open-app" href="otpauth://totp/[^"]+secret={secret}', page)
    sealed = re.search(r'name="secret" value="([^"]+)"', page)[1]
    code = format_hotp_value(hotp_value(secret, int(clock.now().timestamp()) // 30))
    return client.post("/me/factors/app/", {"secret": sealed, "app_code": code} | fields)


def codes_on(answer) -> list[str]:
    return re.findall(r"<li>(\d{8})</li>", answer.content.decode())


def test_who_needs_a_factor_is_led_to_the_set_up_that_shows_nothing_of_the_shop():
    addresses = ("/", "/staff/", "/orders/", "/balance/statement/", "/files/", "/products/")
    for role in ("admin", "administrator", "auditor"):
        _person, client = without_factor(role)
        for address in addresses if role == "auditor" else addresses[:1]:
            assert client.get(address)["Location"] == "/me/factors/", (role, address)
            assert client.get(address, headers={"HX-Request": "true"})["HX-Redirect"] == "/me/factors/", address
    assert client.post("/staff/invite/", {})["Location"] == "/me/factors/"

    page = client.get("/me/factors/").content.decode()
    assert 'id="owes-factor"' in page
    assert "nav-main" not in page
    assert 'id="alerts"' not in page
    assert browser_of("cashier").get("/orders/").status_code == 200, "who needs none is led nowhere"


def test_demo_staff_are_led_nowhere_in_the_sandbox(settings):
    person = User.objects.create_superuser("owner", is_demo=True)
    client = signed_in(person)

    settings.SANDBOX = True
    assert client.get("/orders/").status_code == 200
    settings.SANDBOX = False
    assert client.get("/orders/").status_code == 302


def test_an_app_is_added_with_its_code_and_password_and_ends_sessions_without_it():
    person, client = without_factor("admin")
    other = signed_in(person)

    answer = add_app(client, password="secret-words")

    assert len(codes_on(answer)) == 10
    assert has_factor(person)
    assert client.get("/orders/").status_code == 200
    assert other.get("/orders/")["Location"].startswith("/accounts/login/")


def test_an_app_is_not_added_without_both_and_guesses_are_slowed():
    person, client = without_factor("admin")

    wrong_code = add_app(client, password="secret-words", app_code="12").content.decode()
    wrong_passwords = [add_app(client, password="wrong").content.decode() for _ in range(5)]
    slowed = add_app(client, password="secret-words").content.decode()

    assert 'data-code="FactorRefused:app_code"' in wrong_code
    assert ['data-code="FactorRefused:password"' in answer for answer in wrong_passwords] == [True] * 5
    assert 'data-code="FactorRefused:slow_password"' in slowed
    assert not has_factor(person)


def test_the_secret_of_one_person_is_not_anothers():
    _admin, admin = without_factor("admin")
    _boss, other = without_factor("administrator")
    page = admin.get("/me/factors/app/").content.decode()
    sealed = re.search(r'name="secret" value="([^"]+)"', page)[1]

    answer = other.post("/me/factors/app/", {"secret": sealed, "app_code": "1", "password": "secret-words"})

    assert 'data-code="FactorRefused:stale"' in answer.content.decode()


def test_a_passkey_is_added_with_the_password():
    person, client = without_factor("admin")
    key = SoftKey()
    made = key.make(client.post("/me/factors/passkey/options/").json()["publicKey"])

    answer = client.post("/me/factors/passkey/", {"credential": made, "name": "Till", "password": "secret-words"})

    assert len(codes_on(answer)) == 10
    assert Authenticator.objects.get(user=person, type="webauthn").data["name"] == "Till"


def test_another_factor_takes_the_present_one_not_the_password():
    person = make_person("admin")
    client = signed_in(person)
    made = SoftKey().make(client.post("/me/factors/passkey/options/").json()["publicKey"])

    client.post("/me/factors/passkey/", {"credential": made, "password": "secret-words"})
    assert not Authenticator.objects.filter(user=person, type="webauthn").exists()
    client.post("/me/factors/passkey/", {"credential": made, "factor_code": code_of(person)})
    assert Authenticator.objects.filter(user=person, type="webauthn").exists()


def test_one_of_two_own_factors_is_removed_with_the_present_one_and_the_last_stays():
    person = make_person("admin")
    client, app = signed_in(person), Authenticator.objects.get(user=person)
    other = Authenticator.objects.get(user=make_person("administrator"))
    of_colleague = client.post(f"/me/factors/{other.pk}/remove/", {"factor_code": code_of(person)})
    assert of_colleague.status_code == 404

    client.post(f"/me/factors/{app.pk}/remove/", {"factor_code": code_of(person)})
    assert has_factor(person), "the last one"
    with_passkey(person)
    client.post(f"/me/factors/{app.pk}/remove/", {"password": "secret-words"})
    assert Authenticator.objects.filter(pk=app.pk).exists()
    client.post(f"/me/factors/{app.pk}/remove/", {"factor_code": code_of(person)})
    assert not Authenticator.objects.filter(pk=app.pk).exists()


def test_new_recovery_codes_replace_the_old_ones_and_are_shown_once():
    person = make_person("admin")
    old = give_recovery_codes(person)
    client = signed_in(person)

    new = codes_on(client.post("/me/factors/codes/", {"factor_code": old[0]}))

    assert len(new) == 10
    assert not set(new) & set(old)
    assert codes_on(client.post("/me/factors/codes/", {"factor_code": old[1]}, follow=True)) == []
    assert codes_on(client.get("/me/factors/")) == []


def test_a_new_password_takes_the_present_factor():
    person = make_person("admin")
    browser = signed_in(person)
    typed = {"oldpassword": "secret-words", "password1": "entirely-other-9", "password2": "entirely-other-9"}

    browser.post("/accounts/password/change/", typed)
    assert User.objects.get(pk=person.pk).check_password("secret-words")
    browser.confirm("/accounts/password/change/", typed)
    assert User.objects.get(pk=person.pk).check_password("entirely-other-9")
