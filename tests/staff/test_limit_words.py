"""A limit has the same wording everywhere."""

import pytest

from staff.forms import LimitsForm
from staff.models import LIMITS, User
from staff.services import Limits
from testing.people import browser_of, make_person, signed_in
from tests.core.helpers import has_id, words

pytestmark = pytest.mark.django_db


def test_the_limit_for_an_approval_is_called_the_same_on_every_page():
    person, admin = make_person("cashier", own_approval_above=50_000), make_person("admin")
    browser = signed_in(admin)
    browser.confirm(f"/staff/{person.pk}/limits/", {"per_order": "", "per_day": "", "approval_above": "60000"})

    for language, said in (("en", "Needs approval above"), ("id", "Perlu persetujuan di atas")):
        User.objects.filter(pk=admin.pk).update(language=language)
        for address in (f"/staff/{person.pk}/", "/audit/"):
            page = words(browser.get(address)).lower()

            assert said.lower() in page, address
            assert "a second person above" not in page
    assert [*LimitsForm(limits=Limits()).fields] == ["per_order", "per_day", "approval_above"]


def test_a_person_s_page_says_of_each_limit_what_it_counts():
    admin = browser_of("admin")
    marks = ("limits-count-cost", "approval-counts-higher")

    for limits, shown in (
        ({"own_approval_above": 50_000}, (False, True)),
        ({"own_per_order": 50_000}, (True, False)),
        ({"own_per_day": 50_000, "own_approval_above": 50_000}, (True, True)),
        ({}, (False, False)),
    ):
        page = admin.get(f"/staff/{make_person('cashier', username='-'.join(limits) or 'none', **limits).pk}/")

        assert tuple(has_id(page, mark) for mark in marks) == shown, limits
    for fields in (page, admin.get("/staff/roles/cashier/")):
        assert all(has_id(fields, f"id_{name}_helptext") for name in LIMITS), "beside each field"
