"""The figures of each branch are the same from the sums of days as from the orders."""

import csv
import datetime as dt
import io
import re
from typing import Any
from urllib.parse import parse_qsl

import pytest
from django.utils import timezone

from branches.models import FIRST
from branches.seeing import own_branch, seen_in, seen_in_branch_of
from earnings.models import By, DaySum
from earnings.services import Period, figures_by, prove_days, sum_days
from testing.factories import make_order
from testing.people import make_person, signed_in
from tests.branches.helpers import make_branch
from tests.core.helpers import has_id, words_at
from tests.earnings.helpers import ago

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _noon(time_machine: Any) -> None:
    """Set the clock to noon, so that no midnight comes between two looks at the day."""
    time_machine.move_to(ago(0))


@pytest.fixture
def two_branches() -> int:
    """Yesterday the first branch sold one for Rp12.000, the other branch two; returns the other's key."""
    at = ago(1)
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
    DaySum.objects.filter(by=By.BRANCH, branch=FIRST).update(sales=13_000)
    assert prove_days() == [day]


def test_the_earnings_are_shown_by_branch_and_lead_to_its_orders(admin, two_branches):
    page = admin.get("/earnings/?days=yesterday&by=branch").content.decode()
    today = admin.get("/earnings/today/").content.decode()

    assert page.index("Tebet") < page.index("Rp24.000")
    assert f"branch={two_branches}" in page
    assert 'data-by="branch"' in today
    assert b"Tebet" in b"".join(admin.get("/earnings/csv/?days=yesterday&by=branch"))
    for branch in ["x", "-1", "99999999999999999999", "9" * 5_000, ""]:  # none: the whole shop
        report = admin.get("/earnings/", {"days": "yesterday", "branch": branch}).context["report"]
        assert (report.chosen.branch, report.now.sales) == (None, 36_000), branch


def test_a_shop_with_one_branch_is_not_shown_by_branch(admin):
    page = admin.get("/earnings/?by=branch").content.decode()

    assert 'data-by="brand"' in page
    assert 'data-by="branch"' not in page
    assert "by=branch#" not in page  # the page repeats the address's value, and no link uses it
    assert 'data-by="branch"' not in admin.get("/earnings/today/").content.decode()
    assert 'id="of-branch"' not in admin.get("/earnings/").content.decode()


def test_the_earnings_of_one_branch_are_those_of_its_orders(admin, two_branches):
    sum_days()
    where = {"days": "yesterday", "by": "person", "branch": two_branches}

    page, file = (admin.get(f"/earnings/{kind}", where) for kind in ("", "csv/"))

    report, drawing = page.context["report"], page.context["drawing"]
    assert (report.now.sales, report.now.cost, report.now.sold) == (24_000, 21_000, 2)
    assert [(line.key, line.figures.sales) for line in report.lines] == [("siti", 24_000)]
    assert sum(bar.now.figures.sales for bar in drawing.bars) == 24_000
    rows = [*csv.DictReader(io.StringIO(b"".join(file.streaming_content).decode("utf-8-sig")))]
    assert [(row["key"], row["sales"]) for row in rows] == [("siti", "24000")]
    assert f"-branch-{two_branches}." in file["Content-Disposition"]
    orders = dict(parse_qsl(report.lines[0].url.partition("?")[2]))
    assert (orders["branch"], orders["cashier"]) == (str(two_branches), "siti")
    assert admin.get(report.lines[0].url).context["filter"].qs.count() == 2


def test_every_link_and_form_of_earnings_keeps_the_branch(admin, two_branches):
    where = {"days": "7", "branch": two_branches, "against_since": "2026-01-01"}

    page = admin.get("/earnings/", where).content.decode()

    links = re.findall(r'<a class="(?:chip-link|btn-quiet)"[^>]*href="[^"]*\?([^"]*)"([^>]*)', page)
    kept = [dict(parse_qsl(query.replace("&amp;", "&"))) for query, rest in links if "data-branch" not in rest]
    assert len(kept) > 10
    assert {query.get("branch") for query in kept} == {str(two_branches)}
    assert page.count(f'<input type="hidden" name="branch" value="{two_branches}">') == 2
    assert 'data-by="branch"' not in page


def test_days_of_one_branch_are_a_month_at_most_and_the_page_says_so(admin, two_branches):
    bound = signed_in(make_person("supervisor", username="sonia", bound_since="2026-01-01T00:00Z"))
    long = {"since": "2026-01-01", "against_since": "2020-01-01", "against_until": "2020-12-31"}
    readers = ((bound, {}), (admin, {"branch": two_branches}), (admin, {}))

    pages = [browser.get("/earnings/", long | more) for browser, more in readers]

    chosen = [page.context["report"].chosen for page in pages]
    days = [[(part.last - part.first).days + 1 for part in (each.period, each.before)] for each in chosen]
    assert days[1] == [31, 31]
    assert days[2] > [300, 365]
    said = [words_at(page, 'id="one-branch"') for page in pages]
    assert ["31" in words for words in said] == [True, True, False]
    assert "Tebet" in said[1]


def test_given_one_branch_then_a_bound_reader_sees_how_many_days_there_are_at_most():
    bound = signed_in(make_person("supervisor", username="sonia", bound_since="2026-01-01T00:00Z"))
    free = signed_in(make_person("supervisor", username="tono"))

    page = bound.get("/earnings/", {"since": "2026-01-01"})

    assert "31" in words_at(page, 'id="most-days"')
    assert not has_id(page, "one-branch")
    assert not has_id(free.get("/earnings/", {"since": "2026-01-01"}), "most-days")


def test_a_bound_person_cannot_see_the_earnings_of_another_branch(two_branches):
    sonia = make_person("supervisor", username="sonia", bound_since="2026-01-01T00:00Z")
    bound = signed_in(sonia)
    for branch in (two_branches, FIRST):
        page = bound.get("/earnings/", {"days": "yesterday", "branch": branch})
        file = bound.get("/earnings/csv/", {"days": "yesterday", "branch": branch})

        assert page.context["report"].now.sales == 12_000
        assert 'id="of-branch"' not in page.content.decode()
        assert b",12000," in b"".join(file.streaming_content)

    # seeing one branch never widens it
    with seen_in_branch_of(lambda: sonia), seen_in(two_branches):
        assert own_branch() == FIRST
    with seen_in(two_branches):
        assert own_branch() == two_branches
    assert own_branch() is None
