"""Helpers that the tests of finding share."""

import datetime as dt
import html
import re

from django.utils import timezone

from core.rights import Role
from purchases.models import Order
from purchases.states import Status
from testing.factories import make_order
from testing.people import browser_of

NUMBER, OTHER = "081298765432", "081298760000"


def who(role: Role):
    return browser_of("admin" if role is Role.OWNER else role)


def found(browser, text: str, **more: str) -> dict[str, list[tuple[str, str]]]:
    """The results of each kind: address and words."""
    page = browser.get("/find/", {"q": text, **more}, headers={"HX-Request": "true"}).content.decode()
    groups = re.findall(r'<section.*?data-group="(\w+)">(.*?)</section>', page, re.DOTALL)
    return {
        name: [
            (html.unescape(url), " ".join(html.unescape(re.sub(r"<[^>]+>", " ", words)).split()))
            for url, words in re.findall(r'<li><a href="([^"]+)"(.*?)</a>', body, re.DOTALL)
        ]
        for name, body in groups
    }


def addresses(browser, text: str, kind: str) -> list[str]:
    return [url for url, _words in found(browser, text).get(kind, [])]


def sold(days: int = 0, **facts) -> Order:
    return make_order(Status.SUCCESS, created_at=timezone.now() - dt.timedelta(days=days), **facts)
