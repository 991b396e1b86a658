"""Helpers for several tests of tills."""

from typing import Any

from django.conf import settings
from django.test import Client

from core import clock
from staff.models import User
from testing.people import Browser, make_person, signed_in
from tills.models import Pin, Till, TillPrinter
from tills.services import make_code
from tills.services.enrolling import digest_of
from tills.services.pins import hashed

PIN = "824605"
WRONG = "937150"


def manager() -> User:
    return User.objects.filter(username="boss").first() or make_person("administrator", username="boss")


def boss() -> Browser:
    """A browser in which the manager is signed in."""
    return signed_in(manager())


def make_till(name: str = "Kasir 1", **facts: Any) -> Till:
    """An enrolled till, without a browser."""
    return Till.objects.create(
        name=name, digest=digest_of(name), enrolled_by=manager(), enrolled_at=clock.now(), **facts
    )


def give_printer(till: Till, **facts: Any) -> TillPrinter:
    """Have the till print directly, by USB on 58 mm, with a cash drawer at the printer."""
    typed = {"way": "usb", "roll": "58", "language": "esc-pos", "codepage": "cp437", "speed": 9600, "has_drawer": True}
    return TillPrinter.objects.create(till=till, **{**typed, **facts})


def till_browser(name: str = "Kasir 1", *, pin_limit: int | None = None) -> Client:
    """A browser that was made a till with a code."""
    boss = manager()
    code = make_code(name=name, pin_limit=pin_limit, actor=boss)
    browser = Client()
    assert browser.post("/till/enrol/", {"code": code}).status_code == 302
    return browser


def give_pin(person: User, pin: str = PIN, secret: str | None = None) -> User:
    encoded = hashed(person.pk, pin, secret or settings.SECRET_KEY)
    Pin.objects.create(person=person, encoded=encoded, set_at=clock.now(), epoch=person.device_epoch)
    return person


def with_pin(role: str = "cashier", pin: str = PIN, **facts: Any) -> User:
    return give_pin(make_person(role, **facts), pin)


def take_over(browser: Client, person: User, pin: str = PIN) -> Any:
    return browser.post("/till/", {"person": person.pk, "pin": pin})


def who_is_at(browser: Client) -> str:
    """The user name of the person who is signed in in this browser; "" for nobody."""
    page = browser.get("/")
    return page.context["user"].username if page.status_code == 200 else ""
