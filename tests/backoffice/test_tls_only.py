"""Over plain HTTP without its proxy, a shop that accepts only TLS says what to do, and shows nothing else."""

import pytest
from django.test import Client

from testing.people import browser_of

pytestmark = pytest.mark.django_db
PAGES = ("/", "/accounts/login/", "/counter/", "/no/such/page/", "/static/css/app.css")
OVER_TLS = {"X-Forwarded-Proto": "https"}


@pytest.fixture(autouse=True)
def tls_only(settings):
    settings.SECURE_SSL_REDIRECT = settings.BEHIND_TLS_PROXY = True
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    settings.SITE_URL = "https://shop.example.com"


def test_without_a_proxy_each_page_says_what_to_do():
    browser = browser_of("admin")
    for path in PAGES:
        answer = browser.get(path, headers={"Host": "203.0.113.9:8000"})
        assert (answer.status_code, "Location" in answer.headers, bool(answer.cookies)) == (400, False, False), path
        for text in (b"https://shop.example.com", b'<section lang="id">', b'<section lang="en">'):
            assert text in answer.content, path


def test_a_form_and_a_callback_reach_no_view(django_assert_num_queries):
    with django_assert_num_queries(0):
        assert Client().post("/accounts/login/", {"login": "owner"}).status_code == 400
        assert Client().post("/callbacks/upstream/", b"{}", content_type="application/json").status_code == 400


def test_health_and_what_its_proxy_sends_are_served(client):
    assert client.get("/healthz").status_code == 200
    assert client.get("/accounts/login/", headers=OVER_TLS).status_code == 200

    # a proxy that was reached without TLS leads to TLS
    answer = client.get("/accounts/login/", headers={"X-Forwarded-Proto": "http"})
    assert (answer.status_code, answer.headers["Location"]) == (301, "https://testserver/accounts/login/")


def test_a_proxy_that_nobody_has_named_is_believed_nothing(client, settings):
    settings.BEHIND_TLS_PROXY, settings.SECURE_PROXY_SSL_HEADER = False, None

    for headers in (OVER_TLS, {"X-Forwarded-For": "203.0.113.7", "Forwarded": "proto=https"}, {}):
        answer = client.get("/accounts/login/", headers=headers)

        assert answer.status_code == 400
        assert b"BEHIND_TLS_PROXY=1" in answer.content
