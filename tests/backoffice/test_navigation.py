"""A person's places: at the side, and on a phone in five tabs."""

import re

import pytest
from django.contrib.auth.models import Group, Permission

from staff.models import User
from testing.people import browser_of

pytestmark = pytest.mark.django_db


def places(page: str, start: str, end: str) -> list[str]:
    """The places between two marks of the page, in their order."""
    return re.findall(r'data-place="(\w+)"', page.split(start)[1].split(end, maxsplit=1)[0])


@pytest.mark.parametrize(
    ("role", "tabs"),
    [
        ("cashier", ["counter", "bills", "orders", "drawer"]),
        ("viewer", ["overview", "work", "orders", "bills"]),
        ("auditor", ["overview", "work", "orders", "balance"]),
        ("admin", ["counter", "bills", "orders", "drawer"]),
        ("", ["overview"]),
    ],
)
def test_a_phone_has_four_places_of_ones_work_and_the_others_in_more(role, tabs):
    page = browser_of(role).get("/me/").content.decode()

    side = places(page, "nav-main", "</nav>")
    assert places(page, 'id="tabs"', 'id="more"') == tabs
    assert places(page, 'id="more"', "</nav>") == [place for place in side if place not in tabs]


def test_the_tab_of_the_page_is_marked_and_more_for_every_other(cashier):
    orders, preferences = (cashier.get(address).content.decode() for address in ("/orders/", "/me/"))

    tabs = orders.split('id="tabs"')[1].split("</nav>")[0]
    assert re.findall(r'data-place="(\w+)" aria-current="page"', tabs) == ["orders"]
    assert 'aria-current="true"' not in tabs
    assert '<summary aria-current="true">' in preferences.split('id="more"')[1]


def test_a_page_that_does_not_exist_is_in_no_place(cashier):
    assert 'aria-current="page"' not in cashier.get("/no/such/page/").content.decode()


def test_given_a_right_is_taken_away_then_its_places_are_gone_at_once():
    browser = browser_of("supervisor")
    person = User.objects.get(username="supervisor")
    before = browser.get("/me/").content.decode()

    Group.objects.get(name="supervisor").permissions.remove(Permission.objects.get(codename="buy"))
    after = browser.get("/me/").content.decode()

    assert [page.count('data-place="counter"') for page in (before, after)] == [2, 0]
    assert [page.count('href="/me/pin/"') for page in (before, after)] == [2, 0]
    assert [page.count("<dt><kbd>A</kbd></dt>") for page in (before, after)] == [1, 0]
    person.language = "en"
    person.save()
    assert "Signed in as supervisor" in browser.get("/me/").content.decode()


def test_two_people_with_the_same_rights_have_each_their_own_name_on_the_page():
    pages = [browser_of("cashier", username=name).get("/me/").content.decode() for name in ("sari", "budi")]

    assert [page.count("sari") > 0 for page in pages] == [True, False]
    assert [page.count("budi") > 0 for page in pages] == [False, True]
