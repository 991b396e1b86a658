"""A limit has the same wording everywhere."""

import pytest

from staff.forms import LimitsForm
from staff.models import LIMITS
from staff.services import Limits
from testing.people import browser_of, make_person
from tests.core.helpers import has_id, words

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(("language", "said"), [("en", "Needs approval above"), ("id", "Perlu persetujuan di atas")])
def test_the_limit_for_an_approval_is_called_the_same_on_every_page(language, said):
    person = make_person("cashier", own_approval_above=50_000)
    admin = browser_of("admin", language=language)
    admin.confirm(f"/staff/{person.pk}/limits/", {"per_order": "", "per_day": "", "approval_above": "60000"})

    for address in (f"/staff/{person.pk}/", "/audit/"):
        page = words(admin.get(address)).lower()

        assert said.lower() in page, address
        assert "a second person above" not in page
    assert [*LimitsForm(limits=Limits()).fields] == ["per_order", "per_day", "approval_above"]


@pytest.mark.parametrize(
    ("limits", "says_cost", "says_approval"),
    [
        ({"own_approval_above": 50_000}, False, True),
        ({"own_per_order": 50_000}, True, False),
        ({"own_per_day": 50_000, "own_approval_above": 50_000}, True, True),
        ({}, False, False),
    ],
)
def test_a_person_s_page_says_of_each_limit_what_it_counts(
    limits: dict[str, int], *, says_cost: bool, says_approval: bool
):
    person, admin = make_person("cashier", **limits), browser_of("admin")

    page = admin.get(f"/staff/{person.pk}/")

    assert (has_id(page, "limits-count-cost"), has_id(page, "approval-counts-higher")) == (says_cost, says_approval)
    for fields in (page, admin.get("/staff/roles/cashier/")):
        assert all(has_id(fields, f"id_{name}_helptext") for name in LIMITS), "beside each field"
