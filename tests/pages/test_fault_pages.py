"""When something is wrong the page says what it means for the person, and never makes it worse."""

import re

import pytest
from django.test import Client, RequestFactory
from django.urls import get_resolver
from django.utils import translation
from django.views.defaults import server_error

from tests.pages.conftest import browser_of, make_person


@pytest.mark.django_db
def test_an_address_that_names_nothing_says_so_to_staff_and_to_strangers():
    for client in (browser_of("cashier"), Client()):
        answer = client.get("/no/such/page/")
        assert answer.status_code == 404
        assert "There is nothing here" in answer.content.decode()


@pytest.mark.django_db
def test_a_forbidden_page_says_whom_to_ask(cashier):
    answer = cashier.get("/callbacks/")

    assert answer.status_code == 403
    assert "Ask an admin if you need it." in answer.content.decode()


@pytest.mark.django_db
def test_a_form_without_its_token_is_refused_in_plain_words():
    client = Client(enforce_csrf_checks=True)
    client.force_login(make_person("cashier"))

    answer = client.post("/me/", {"language": "en", "theme": "dark"})

    assert answer.status_code == 403
    assert "This form has expired" in answer.content.decode()


@pytest.mark.parametrize(("language", "said"), [("en", "Something went wrong"), ("id", "Terjadi kesalahan")])
def test_the_page_for_our_own_faults_needs_no_database(language, said):
    # Without the `django_db` mark, any query here fails the test.
    with translation.override(language):
        answer = server_error(RequestFactory().get("/"))

    assert answer.status_code == 500
    assert said in answer.content.decode()


@pytest.mark.django_db
def test_a_fault_of_ours_shows_that_page(cashier, monkeypatch):
    def broken(_user: object) -> None:
        raise RuntimeError("no detail of this may be shown")

    monkeypatch.setattr("backoffice.dashboard.latest_reading", lambda: broken(None))
    cashier.raise_request_exception = False

    answer = cashier.get("/")

    assert answer.status_code == 500
    assert "An order that was placed is safe" in answer.content.decode()
    assert "no detail of this may be shown" not in answer.content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize("page", ["/", "/products/", "/orders/", "/callbacks/", "/me/"])
def test_pages_carry_a_policy_that_forbids_foreign_and_inline_code(admin, page):
    answer = admin.get(page)

    policy = answer["Content-Security-Policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    text = answer.content.decode()
    assert not re.search(r"<script(?![^>]*\ssrc=)|<style|\sstyle=|\son[a-z]+=|javascript:", text)


@pytest.mark.django_db
def test_every_page_has_a_title_of_its_own(admin):
    titles = [
        re.search(r"<title>(.*?)</title>", admin.get(page).content.decode()).group(1)
        for page in (
            "/",
            "/products/",
            "/orders/",
            "/callbacks/",
            "/me/",
            "/accounts/password/change/",
            "/no/such/page/",
        )
    ]

    assert len(set(titles)) == len(titles)
    assert all(title.split(" · ")[0].strip() for title in titles)


def test_no_address_of_the_pages_is_named_twice():
    names = [pattern.name for pattern in get_resolver().url_patterns if getattr(pattern, "name", None)]

    assert len(names) == len(set(names))
