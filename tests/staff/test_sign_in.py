"""Signing in and out, and a person's own language and look."""

import re

import pytest
from django.test import Client, override_settings

from staff.models import User
from staff.roles import DEMO_STAFF
from testing.people import browser_of, code_of, make_person

pytestmark = pytest.mark.django_db


def sign_in(client: Client, username: str, password: str, **more):
    return client.post("/accounts/login/", {"login": username, "password": password, **more})


def test_the_right_password_opens_the_overview_and_a_wrong_one_nothing():
    make_person("cashier")
    client, other = Client(headers={"Accept-Language": "id"}), Client()

    wrong = sign_in(client, "cashier", "something else")
    assert wrong.status_code == 200
    assert 'role="alert"' in wrong.content.decode()
    assert " anda " not in wrong.content.decode()  # these are allauth's own words
    assert client.get("/").status_code == 302

    assert sign_in(other, "cashier", "secret-words")["Location"] == "/"
    assert re.search(r'id="signed-in-as">[^<]*\bcashier\b', other.get("/").content.decode())
    wanted = "/orders/?status=needs_action"
    assert sign_in(Client(), "cashier", "secret-words", next=wanted)["Location"] == wanted


OUTSIDE = [
    "https://elsewhere.example/",
    "//elsewhere.example/",
    "///elsewhere.example/",
    "\\\\elsewhere.example",
    "/\\elsewhere.example",
    "https:elsewhere.example",
    "http:///elsewhere.example",
    "javascript:alert(1)",
    "\t//elsewhere.example",
    "//testserver@elsewhere.example",
    "//[",
    "http://[::1",
]


def test_no_next_leads_out_of_the_shop():
    make_person("cashier")
    client = Client()

    for next_page in OUTSIDE:
        assert sign_in(client, "cashier", "secret-words", next=next_page)["Location"] == "/"
        assert client.get("/accounts/login/", {"next": next_page})["Location"] == "/"
        assert client.get("/accounts/logout/", {"next": next_page}).status_code == 200
        assert client.post("/accounts/logout/", {"next": next_page})["Location"] == "/"
        assert client.get("/accounts/login/", {"next": next_page}).status_code == 200


def test_the_key_of_a_session_is_new_after_the_second_factor():
    person, client = make_person("admin"), Client()
    sign_in(client, "admin", "secret-words")
    half = client.cookies["sessionid"].value

    client.post("/accounts/second-step/", {"factor_code": code_of(person)})

    assert client.get("/orders/").status_code == 200
    planted = Client()
    planted.cookies["sessionid"] = half
    assert planted.get("/orders/").status_code == 302
    assert planted.get("/accounts/second-step/")["Location"] == "/accounts/login/"


def test_signing_out_takes_a_press_of_a_button_not_a_link():
    client = browser_of("cashier")

    client.get("/accounts/logout/")
    assert client.get("/").status_code == 200
    client.post("/accounts/logout/")
    assert client.get("/").status_code == 302


def test_the_demo_logins_are_shown_with_the_sandbox_only():
    with override_settings(SANDBOX=True):
        page = Client().get("/accounts/login/").content.decode()
        assert all(f"{name}-demo" in page for name in DEMO_STAFF)
    with override_settings(SANDBOX=False):
        assert "cashier-demo" not in Client().get("/accounts/login/").content.decode()


def test_the_language_can_be_chosen_before_signing_in_and_is_else_indonesian():
    for language, words in (("id", "Kata sandi"), ("en", "Password")):
        client = Client(headers={"Accept-Language": "fr"})
        client.post("/me/language/", {"language": language, "next": "/accounts/login/"})

        assert words in client.get("/accounts/login/").content.decode()

    with override_settings(LANGUAGE_CODE="id"):
        page = Client().get("/accounts/login/").content.decode()
    assert '<html lang="id"' in page
    assert "Nama pengguna" in page


def test_language_and_look_are_kept_with_the_account_and_an_unknown_one_refused():
    person = make_person("cashier")
    client = Client(headers={"Accept-Language": "en"})
    client.force_login(person)
    refused = client.post("/me/", {"language": "xx", "theme": "auto"})
    assert refused.status_code == 200
    assert "field-error" in refused.content.decode()
    assert User.objects.get().language == ""

    client.post("/me/", {"language": "id", "theme": "dark", "endings": "both"})

    page = client.get("/orders/").content.decode()
    assert re.search(r'<html lang="id" data-look="dark"', page)
    assert "Transaksi" in page
    person.refresh_from_db()
    assert (person.language, person.theme, person.endings) == ("id", "dark", "both")
