"""A sign-in through a provider that we have not written: oidc-provider, certified by the OpenID Foundation."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest
import requests
from django.conf import settings as django_settings
from django.contrib.auth import SESSION_KEY
from django.test import Client

from staff import provider as our_provider
from staff.models import User
from tests.staff.oidc_provider import CLIENT, ROLES, SECRET, SIGN_IN, START

pytestmark = pytest.mark.django_db

BACK = "http://testserver/accounts/oidc/callback/"
PEOPLE = {
    "s-1": {"preferred_username": "sari", "name": "Bu Sari", "groups": ["kasir"]},
    "s-2": {"preferred_username": "tamu", "name": "Tamu", "groups": ["strangers"]},
}


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    """The address of the running provider."""
    node = shutil.which("node") or str(Path(django_settings.BASE_DIR, ".venv/bin/node"))
    script = Path(__file__).with_name("real_provider.mjs")
    command = [node, str(script), json.dumps(PEOPLE), CLIENT, SECRET, BACK]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.terminate()


@pytest.fixture(autouse=True)
def _shop_of_the_provider(issuer: str, settings) -> None:
    our_provider._known.clear()
    settings.OIDC_ISSUER, settings.OIDC_ROLES = issuer, ROLES
    settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET = CLIENT, SECRET


def way_back(browser: Client, subject: str) -> str:
    """Our address to which the provider sends a person back, after a password and an agreement there."""
    with requests.Session() as person:
        address = browser.get(START)["Location"]
        answer = person.get(address, allow_redirects=False)
        for _step in range(10):
            if "Location" in answer.headers:
                address = urljoin(address, answer.headers["Location"])
                if address.startswith(BACK):
                    target = urlsplit(address)
                    return f"{target.path}?{target.query}"
                answer = person.get(address, allow_redirects=False)
            else:
                form = re.search(r'<form[^>]* action="([^"]+)"', answer.text)
                typed = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', answer.text))
                assert form, answer.text
                address = urljoin(address, unescape(form[1]))
                secrets = {"login": subject, "password": "any"}
                answer = person.post(address, typed | secrets, allow_redirects=False)
    raise AssertionError(address)


def test_a_person_of_the_provider_gets_the_claimed_role_and_no_password():
    browser = Client()
    back = way_back(browser, "s-1")

    assert browser.get(back).status_code == 302

    person = User.objects.get(pk=browser.session[SESSION_KEY])
    assert (person.username, person.shown_name, person.has_usable_password()) == ("sari", "Bu Sari", False)
    assert [group.name for group in person.groups.all()] == ["cashier"]
    assert Client().get(back)["Location"] == SIGN_IN  # another browser
    assert browser.get(back)["Location"] == SIGN_IN  # again


def test_a_person_without_a_role_is_not_let_in():
    browser = Client()

    assert browser.get(way_back(browser, "s-2"))["Location"] == SIGN_IN

    assert SESSION_KEY not in browser.session
    assert not User.objects.filter(username="tamu").exists()


def test_another_secret_of_ours_opens_nothing(settings):
    settings.OIDC_CLIENT_SECRET = "another"
    browser = Client()

    assert browser.get(way_back(browser, "s-1"))["Location"] == SIGN_IN

    assert SESSION_KEY not in browser.session
