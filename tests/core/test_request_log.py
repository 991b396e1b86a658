"""A line of the log names the person by key, and the address that the trusted proxies saw."""

import pytest
import structlog
from django.test import Client

from testing.people import make_person

pytestmark = pytest.mark.django_db


@pytest.fixture
def lines(monkeypatch):
    """The lines of the log of requests, with their bound values."""
    with structlog.testing.capture_logs(processors=[structlog.contextvars.merge_contextvars]) as logged:
        yield logged


def finished(lines) -> list[dict]:
    return [line for line in lines if line["event"] == "request_finished"]


@pytest.mark.parametrize(("proxies", "seen"), [(0, "127.0.0.1"), (1, "203.0.113.7"), (2, "198.51.100.1")])
def test_the_logged_address_is_what_trusted_proxies_saw(settings, lines, proxies, seen):
    settings.TRUSTED_PROXY_COUNT = proxies

    Client().get("/accounts/login/", headers={"X-Forwarded-For": "6.6.6.6, 198.51.100.1, 203.0.113.7"})

    [line] = finished(lines)
    assert line["ip"] == seen


def test_a_sign_in_names_the_person(lines):
    person = make_person("cashier")

    client = Client()
    client.force_login(person)
    client.get("/me/")

    assert finished(lines)[-1]["user_id"] == person.pk
    assert person.get_username() not in str(lines)
