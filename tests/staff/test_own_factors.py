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


@pytest.mark.parametrize("role", ["admin", "administrator", "auditor"])
def test_who_needs_a_factor_is_led_to_the_set_up(role):
    _person, client = without_factor(role)

    for address in ("/", "/staff/", "/orders/", "/balance/statement/", "/files/", "/products/"):
        assert client.get(address)["Location"] == "/me/factors/"
        assert client.get(address, headers={"HX-Request": "true"})["HX-Redirect"] == "/me/factors/"
    assert client.post("/staff/invite/", {})["Location"] == "/me/factors/"


def test_the_set_up_shows_nothing_of_the_shop():
    _person, client = without_factor("admin")

    page = client.get("/me/factors/").content.decode()

    assert 'id="owes-factor"' in page
    assert "nav-main" not in page
    assert 'id="alerts"' not in page


def test_who_needs_none_is_led_nowhere():
    assert browser_of("cashier").get("/orders/").status_code == 200


def test_demo_staff_are_led_nowhere_in_the_sandbox(settings):
    person = User.objects.create_superuser("owner", is_demo=True)
    client = signed_in(person)

    settings.SANDBOX = True
    assert client.get("/orders/").status_code == 200
    settings.SANDBOX = False
    assert client.get("/orders/").status_code == 302


def test_the_first_factor_ends_sessions_that_showed_none():
    person, client = without_factor("admin")
    other = signed_in(person)

    add_app(client, password="secret-words")

    assert client.get("/orders/").status_code == 200
    assert other.get("/orders/")["Location"].startswith("/accounts/login/")


def test_an_app_is_added_with_its_code_and_the_password():
    person, client = without_factor("admin")

    answer = add_app(client, password="secret-words")

    assert len(codes_on(answer)) == 10
    assert has_factor(person)
    assert client.get("/orders/").status_code == 200


@pytest.mark.parametrize(
    ("fields", "reason"),
    [({"password": "wrong"}, "password"), ({"password": "secret-words", "app_code": "12"}, "app_code")],
)
def test_an_app_is_not_added_without(fields, reason):
    person, client = without_factor("admin")

    answer = add_app(client, **fields)

    assert f'data-code="FactorRefused:{reason}"' in answer.content.decode()
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


def test_the_last_factor_of_who_needs_one_stays():
    person = make_person("admin")
    app = Authenticator.objects.get(user=person)

    signed_in(person).post(f"/me/factors/{app.pk}/remove/", {"factor_code": code_of(person)})

    assert has_factor(person)


def test_one_of_two_factors_is_removed_with_the_present_one():
    person = make_person("admin")
    with_passkey(person)
    client, app = signed_in(person), Authenticator.objects.get(user=person, type="totp")

    client.post(f"/me/factors/{app.pk}/remove/", {"password": "secret-words"})
    assert Authenticator.objects.filter(pk=app.pk).exists()
    client.post(f"/me/factors/{app.pk}/remove/", {"factor_code": code_of(person)})
    assert not Authenticator.objects.filter(pk=app.pk).exists()


def test_nobody_removes_a_colleagues_factor():
    person = make_person("admin")
    other = Authenticator.objects.get(user=make_person("administrator"))

    answer = signed_in(person).post(f"/me/factors/{other.pk}/remove/", {"factor_code": code_of(person)})

    assert answer.status_code == 404


def test_new_recovery_codes_replace_the_old_ones():
    person = make_person("admin")
    old = give_recovery_codes(person)
    client = signed_in(person)

    new = codes_on(client.post("/me/factors/codes/", {"factor_code": old[0]}))

    assert len(new) == 10
    assert not set(new) & set(old)
    assert codes_on(client.post("/me/factors/codes/", {"factor_code": old[1]}, follow=True)) == []


def test_recovery_codes_are_shown_once():
    person = make_person("admin")
    give_recovery_codes(person)

    assert codes_on(signed_in(person).get("/me/factors/")) == []


@pytest.mark.parametrize(("field", "changes"), [("", False), ("factor_code", True)])
def test_a_new_password_takes_the_present_factor(field, changes):
    person = make_person("admin")
    fields = {"oldpassword": "secret-words", "password1": "entirely-other-9", "password2": "entirely-other-9"}

    signed_in(person).post("/accounts/password/change/", fields | ({field: code_of(person)} if field else {}))

    assert User.objects.get(pk=person.pk).check_password("entirely-other-9") is changes


def test_guesses_of_the_own_password_are_slowed():
    _person, client = without_factor("admin")
    for _ in range(5):
        add_app(client, password="wrong")

    assert 'data-code="FactorRefused:slow_password"' in add_app(client, password="secret-words").content.decode()
