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


def test_the_right_password_opens_the_overview():
    make_person("cashier")
    client = Client()

    answer = sign_in(client, "cashier", "secret-words")

    assert answer["Location"] == "/"
    assert re.search(r'id="signed-in-as">[^<]*\bcashier\b', client.get("/").content.decode())


def test_after_signing_in_one_is_where_one_wanted_to_go():
    make_person("cashier")

    assert (
        sign_in(Client(), "cashier", "secret-words", next="/orders/?status=needs_action")["Location"]
        == "/orders/?status=needs_action"
    )


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


def test_a_wrong_password_says_so_and_opens_nothing():
    make_person("cashier")
    client = Client(headers={"Accept-Language": "id"})

    answer = sign_in(client, "cashier", "something else")

    assert answer.status_code == 200
    assert 'role="alert"' in answer.content.decode()
    assert " anda " not in answer.content.decode()  # these are allauth's own words
    assert client.get("/").status_code == 302


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


@pytest.mark.parametrize(("language", "words"), [("id", "Kata sandi"), ("en", "Password")])
def test_the_language_can_be_chosen_before_signing_in(language, words):
    client = Client(headers={"Accept-Language": "fr"})

    client.post("/me/language/", {"language": language, "next": "/accounts/login/"})

    assert words in client.get("/accounts/login/").content.decode()


def test_without_any_wish_the_pages_are_indonesian():
    with override_settings(LANGUAGE_CODE="id"):
        page = Client().get("/accounts/login/").content.decode()

    assert '<html lang="id"' in page
    assert "Nama pengguna" in page


def test_language_and_look_are_kept_with_the_account():
    person = make_person("cashier")
    client = Client(headers={"Accept-Language": "en"})
    client.force_login(person)

    client.post("/me/", {"language": "id", "theme": "dark", "endings": "both"})

    page = client.get("/orders/").content.decode()
    assert re.search(r'<html lang="id" data-look="dark"', page)
    assert "Transaksi" in page
    person.refresh_from_db()
    assert (person.language, person.theme, person.endings) == ("id", "dark", "both")


def test_an_unknown_language_is_refused():
    client = browser_of("cashier")

    answer = client.post("/me/", {"language": "xx", "theme": "auto"})

    assert answer.status_code == 200
    assert "field-error" in answer.content.decode()
    assert User.objects.get(username="cashier").language == ""
