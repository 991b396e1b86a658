"""What each branch has sold: the same from the sums of days as from their orders."""

import datetime as dt

import pytest
from django.utils import timezone

from branches.models import FIRST
from earnings.models import By, DaySum
from earnings.services import Period, figures_by, prove_days, sum_days
from testing.factories import make_order
from testing.people import make_person
from tests.branches.helpers import make_branch

pytestmark = pytest.mark.django_db


@pytest.fixture
def two_branches() -> int:
    """Yesterday the first branch sold one for Rp12.000, and the other two; the key of the other."""
    at = timezone.now() - dt.timedelta(days=1)
    tebet = make_branch()
    people = [make_person("cashier", username="andi"), make_person("cashier", username="siti", branch=tebet)]
    for person, count in zip(people, (1, 2), strict=True):
        for _ in range(count):
            facts = {"placed_by": person, "selling_price": 12_000, "price": 10_500, "final_at": at}
            make_order("success", created_at=at, **facts)
    return tebet.pk


def test_each_branch_has_its_figures_by_orders_and_by_sums(two_branches):
    day = timezone.localdate() - dt.timedelta(days=1)
    period = Period.of_days(day, day)
    by_orders = figures_by("branch", period)

    assert sum_days() == 1

    assert {key: figures.sales for key, figures in by_orders.items()} == {FIRST: 12_000, two_branches: 24_000}
    assert DaySum.objects.filter(by=By.BRANCH).count() == 2
    assert figures_by("branch", period) == by_orders
    assert prove_days() == []


def test_the_sums_of_a_branch_are_proved(two_branches):
    sum_days()
    DaySum.objects.filter(by=By.BRANCH, branch=FIRST).update(sales=13_000)

    assert prove_days() == [timezone.localdate() - dt.timedelta(days=1)]


def test_the_earnings_are_shown_by_branch_and_lead_to_its_orders(admin, two_branches):
    page = admin.get("/earnings/?days=yesterday&by=branch").content.decode()
    today = admin.get("/earnings/today/").content.decode()

    assert page.index("Tebet") < page.index("Rp24.000")
    assert f"branch={two_branches}" in page
    assert 'data-top="branch"' in today
    assert b"Tebet" in b"".join(admin.get("/earnings/csv/?days=yesterday&by=branch"))


def test_a_shop_with_one_branch_is_not_shown_by_branch(admin):
    page = admin.get("/earnings/?by=branch").content.decode()

    assert 'data-by="brand"' in page
    assert "by=branch" not in page
    assert 'data-top="branch"' not in admin.get("/earnings/today/").content.decode()
