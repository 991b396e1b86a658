"""The app on a home screen: its manifest, its icons, and the one page that its worker keeps."""

import json
import re
import struct
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.staticfiles import finders
from django.test import Client

from shop.models import Paper
from shop.services import change_shop, current_shop
from testing.people import browser_of, make_person
from tests.core.helpers import has_id, words

pytestmark = pytest.mark.django_db


def manifest(language: str) -> dict:
    answer = Client().get("/manifest.webmanifest", headers={"Accept-Language": language})

    assert answer.headers["Content-Type"] == "application/manifest+json"
    assert "Accept-Language" in answer.headers["Vary"]
    return json.loads(answer.content)


def test_the_manifest_names_the_shop_in_the_browsers_language():
    texts = dict.fromkeys(("address", "phone", "footer", "language"), "")
    change_shop({**texts, "name": "Toko Maju Jaya Abadi", "paper": Paper.MM58}, actor=make_person("owner"))

    indonesian, english = manifest("id-ID"), manifest("en-GB")

    assert indonesian["name"] == english["name"] == current_shop().name == "Toko Maju Jaya Abadi"
    assert len(indonesian["short_name"]) <= 12
    assert [facts["lang"] for facts in (indonesian, english)] == ["id", "en"]
    assert indonesian["description"] != english["description"]
    assert english["display"] == "standalone"
    assert [shortcut["url"] for shortcut in english["shortcuts"]] == ["/counter/", "/arrived/", "/orders/"]


def test_each_icon_is_as_large_as_the_manifest_says():
    icons = manifest("en")["icons"]

    assert {(icon["sizes"], icon["purpose"]) for icon in icons} == {
        ("192x192", "any"),
        ("512x512", "any"),
        ("512x512", "maskable"),
    }
    for icon in icons:
        picture = Path(finders.find(icon["src"].removeprefix("/static/"))).read_bytes()
        width, height = struct.unpack(">II", picture[16:24])
        assert icon["sizes"] == f"{width}x{height}"


def test_without_a_connection_the_page_says_what_is_safe_in_both_languages(django_assert_num_queries):
    # given a new browser without cookies, when its worker fetches the page to keep
    with django_assert_num_queries(0):
        answer = Client().get("/offline/")

    # then the page has both languages, loads nothing, and has nothing of the shop
    page = answer.content.decode()
    assert has_id(answer, "no-connection")
    assert page.count('<section lang="id">') == page.count('<section lang="en">') == 1
    assert words(answer).count("ref_id") == 2
    assert current_shop().name not in page
    assert "src=" not in page
    assert "<script" not in page
    policy = answer.headers["Content-Security-Policy"]
    assert "unsafe" not in policy
    (nonce,) = re.findall(r'<style nonce="([^"]+)"', page)
    assert f"'nonce-{nonce}'" in policy, "it may use its own style"


def test_a_signed_in_persons_browser_may_run_this_worker_and_no_other(cashier):
    page = cashier.get("/")

    assert f'data-worker="/offline-worker.js?{settings.VERSION}"' in page.content.decode()
    assert 'rel="manifest" href="/manifest.webmanifest"' in page.content.decode()
    policy = page.headers["Content-Security-Policy"].split("; ")
    assert {"worker-src 'self'", "manifest-src 'self'"} <= set(policy)


def test_the_worker_is_a_script_for_every_page_that_a_browser_asks_for_again():
    answer = Client().get(f"/offline-worker.js?{settings.VERSION}")

    assert answer.status_code == 200
    assert answer.headers["Content-Type"].startswith("text/javascript")
    assert "immutable" not in answer.headers["Cache-Control"]


def test_the_frame_of_the_window_has_the_colour_of_ones_own_look():
    for theme, colours in (("auto", 2), ("light", 1), ("dark", 1)):
        page = browser_of("cashier", username=theme, theme=theme).get("/me/").content.decode()

        assert page.count('<meta name="theme-color"') == colours, theme
        assert ("#151b21" in page) == (theme != "light")
