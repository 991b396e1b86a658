"""The tips of a demo: three lines for each role, which a person can close permanently."""

import datetime as dt

import pytest
from django.utils import timezone

from audit.services import record
from branches.models import FIRST
from core.rights import Role
from drawers.models import DrawerDay
from purchases.states import Status
from staff.events import SIGN_IN
from staff.roles import ROLES
from testing.factories import make_order
from testing.people import browser_of, make_person, signed_in
from tests.branches.helpers import make_branch

pytestmark = pytest.mark.django_db


def test_each_role_has_three_lines_whose_pages_open():
    for role in [*ROLES, "admin"]:  # of tests, an owner
        browser = browser_of(role, has_tips=True)

        tips = browser.get("/").context["tips"]

        assert len(tips) == 3, role
        assert [browser.get(tip.url).status_code for tip in tips] == [200] * 3, role


def test_a_sale_is_decided_about_before_a_new_price_makes_it_void():
    addresses = [tip.url for tip in browser_of(Role.ADMINISTRATOR, has_tips=True).get("/").context["tips"]]

    assert addresses.index("/approvals/") < addresses.index("/products/price-changes/")


def test_a_line_is_ticked_once_the_person_has_done_it():
    person = make_person(Role.CASHIER, has_tips=True)
    make_order(Status.SUCCESS, placed_by=person)  # in the month of the demo, before anybody signed in
    browser = signed_in(person)
    record(SIGN_IN, actor=person, subject=person.username)

    def done() -> list[bool]:
        return [tip.is_done for tip in browser.get("/").context["tips"] if tip.url.startswith("/counter/")]

    assert done() == [False]
    make_order(Status.QUEUED, placed_by=person)
    assert done() == [True]
    assert browser.get("/").content.decode().count("<li data-done>") == 1


def test_put_away_they_stay_away_for_that_person_alone():
    person, other = (make_person(Role.CASHIER, username=name, has_tips=True) for name in ("one", "other"))
    browser = signed_in(person)
    assert 'id="tips"' in browser.get("/").content.decode()

    assert browser.get("/tips/away/").status_code == 405
    browser.post("/tips/away/")

    assert 'id="tips"' not in signed_in(person).get("/").content.decode()
    assert 'id="tips"' in signed_in(other).get("/").content.decode()


def test_people_of_a_real_shop_see_none():
    assert not browser_of(Role.CASHIER).get("/").context["tips"]


def test_with_several_branches_the_closing_to_sign_is_of_one_that_is_open():
    yesterday = timezone.localdate() - dt.timedelta(days=1)
    signer = make_person("supervisor")
    signed = {"signed_at": timezone.now(), "signed_by": signer}
    DrawerDay.objects.create(day=yesterday, branch_id=FIRST, **signed)
    waits = DrawerDay.objects.create(day=yesterday, branch=make_branch())

    [first, *_] = browser_of("admin", has_tips=True).get("/").context["tips"]

    assert first.url == f"/shifts/days/{yesterday}/?branch={waits.branch_id}"
