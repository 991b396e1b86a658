"""A period is compared with any other days, on the page, in its links and files; and its drawing as a table."""

import csv
import datetime as dt
import io
import itertools
import re
from urllib.parse import parse_qsl

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from audit.models import AuditEvent
from core.times import start_of_day
from earnings.periods import Chosen, named_period
from testing.factories import make_product
from testing.people import browser_of
from tests.earnings.helpers import ONE_DAY, ago, sold, sum_past_days

pytestmark = pytest.mark.django_db(transaction=True)


def days(number: int, until: int | None = None, prefix: str = "") -> dict[str, str]:
    """The query of the days from so many days ago until so many days ago."""
    last = number if until is None else until
    return {f"{prefix}since": f"{ago(number).date()}", f"{prefix}until": f"{ago(last).date()}"}


@pytest.fixture
def shop() -> None:
    """One sale yesterday; in the days to compare, two sales 40 days ago and one 38 days ago."""
    product = make_product(brand="xl", code="XL10")
    for number in (1, 38, 40, 40):
        sold(ago(number), product=product)
    sum_past_days()


@pytest.mark.usefixtures("shop")
def test_figures_lines_and_drawing_are_compared_with_the_days_that_are_typed():
    browser = browser_of("supervisor")

    page = browser.get("/earnings/", days(1) | days(40, 38, "against_") | {"by": "product"}).context

    report, bars = page["report"], page["drawing"].bars
    assert (report.now.sales, report.before.sales) == (12_000, 36_000)
    assert [line.before.sales for line in report.lines] == [36_000]
    assert [tile.change.words for tile in page["tiles"] if tile.name == "sales"] == ["66.7%"]
    # by day, because the other days are several: its one bar stands where the first of them is
    assert [bar.now.figures.sales if bar.now else None for bar in bars] == [12_000, None, None]
    assert [bar.before.figures.sales for bar in bars] == [24_000, 0, 12_000]

    # and the line of shorter days ends where they end
    drawing = browser.get("/earnings/", days(40, 38) | days(1, prefix="against_")).context["drawing"]
    assert [bar.now.figures.sales for bar in drawing.bars] == [24_000, 0, 12_000]
    assert [bar.before.figures.sales if bar.before else None for bar in drawing.bars] == [12_000, None, None]
    assert drawing.line.count(",") == 1


@pytest.mark.usefixtures("shop")
def test_one_day_against_one_day_is_drawn_by_hour_and_stands_in_the_table():
    page = browser_of("supervisor").get("/earnings/", days(1) | days(40, prefix="against_"))

    table = re.findall(r'id="sales-table".*?</table>', page.content.decode(), re.S)[0]
    rows = [re.findall(r"<td.*?>(.*?)</td>", row, re.S) for row in re.findall(r"<tr>(.*?)</tr>", table, re.S)]
    cells = [[re.sub(r"<.*?>", "", cell).split()[-1] for cell in row] for row in rows if row]
    assert len(cells) == 24
    assert cells[12] == ["12:00", "Rp12.000", "1", "Rp24.000"]
    assert cells[13] == ["13:00", "Rp0", "0", "Rp0"]


@pytest.mark.usefixtures("shop")
def test_the_links_and_files_keep_the_other_days():
    owner, against = browser_of("admin"), days(40, 38, "against_")
    where = days(1) | against | {"by": "product"}

    page = owner.get("/earnings/", where).content.decode()
    file, book = (owner.get(f"/earnings/{kind}/", where) for kind in ("csv", "xlsx"))

    addresses = re.findall(r'<a class="(?:chip-link|btn-quiet)"[^>]*href="[^"?]*\?([^"]*)"([^>]*)', page)
    kept = [dict(parse_qsl(query.replace("&amp;", "&"))) for query, rest in addresses if "data-other" not in rest]
    assert len(kept) > 10
    assert all(query.items() >= against.items() for query in kept)
    rows = [*csv.DictReader(io.StringIO(b"".join(file.streaming_content).decode("utf-8-sig")))]
    assert [(row["sales"], row["sales_before"]) for row in rows] == [("12000", "36000")]
    first, last = against.values()
    for answer in (file, book):
        assert f"-against-{first}-{last}." in answer["Content-Disposition"]
    noted = AuditEvent.objects.filter(subject="earnings").latest("pk")
    assert dict(parse_qsl(noted.facts["query"])) == {"by": "product"} | days(1) | against


def test_the_same_days_a_month_and_a_year_before_are_offered():
    browser, typed = browser_of("supervisor"), {"since": "2026-06-01", "until": "2026-06-30"}
    quarter = {"since": "2026-01-01", "until": "2026-03-31"}

    of_a_month, of_a_quarter = (browser.get("/earnings/", where).context["report"].chosen for where in (typed, quarter))

    offered = {other.name: dict(parse_qsl(other.address)) for other in of_a_month.others}
    assert offered == {
        "usual": typed,
        "month": typed | {"against_since": "2026-05-01", "against_until": "2026-05-31"},
        "year": typed | {"against_since": "2025-06-01", "against_until": "2025-06-30"},
    }
    assert [other.name for other in of_a_quarter.others] == ["usual", "year"]


def test_days_that_another_month_does_not_have_are_its_last():
    now = start_of_day(dt.date(2026, 3, 31)) + dt.timedelta(hours=9)

    offered = {other.name: dict(parse_qsl(other.address)) for other in named_period("today", now).others}

    assert offered["month"] == {"days": "today", "against_since": "2026-02-28", "against_until": "2026-02-28"}
    assert offered["year"] == {"days": "today", "against_since": "2025-03-31", "against_until": "2025-03-31"}


def test_a_running_period_is_compared_up_to_the_same_time():
    browser, today = browser_of("supervisor"), {"days": "today"}

    def chosen(where: dict[str, str]) -> Chosen:
        return browser.get("/earnings/", where).context["report"].chosen

    day, week = chosen(today | days(31, prefix="against_")), chosen({"days": "7"} | days(37, 31, "against_"))
    longer, over = chosen(today | days(38, 31, "against_")), chosen(days(1) | days(31, prefix="against_"))

    assert [each.period.until - each.before.until for each in (day, week)] == [31 * ONE_DAY] * 2
    assert (day.before.since, week.before.since) == (ago(31, hour=0), ago(37, hour=0))
    assert [each.before.until for each in (longer, over)] == [ago(30, hour=0)] * 2


@pytest.mark.usefixtures("shop")
def test_strange_other_days_are_a_page():
    browser, default = browser_of("supervisor"), {}
    for query in ["", "against_since=x", "against_until=2026-02-31", "against_since="]:
        chosen = browser.get(f"/earnings/?days=7&{query}").context["report"].chosen
        default.setdefault((chosen.before.first, chosen.before.last, chosen.is_against_own), query)
    assert len(default) == 1
    for query in [
        "against_since=2000-01-01&against_until=8999-12-31",
        "against_until=2000-01-01",
        "since=8000-01-01&until=8001-01-01",
        "since=8000-01-01&until=8001-01-01&against_since=8000-01-01",
    ]:
        assert browser.get(f"/earnings/?{query}").status_code == 200, query


@pytest.mark.usefixtures("shop")
def test_the_page_asks_few_questions():
    browser = browser_of("supervisor")
    browser.get("/earnings/")

    for by, against in itertools.product(("brand", "customer"), ({}, days(40, 38, "against_"))):
        with CaptureQueriesContext(connection) as queries:
            browser.get("/earnings/", days(3, 1) | against | {"by": by})

        assert len(queries) <= 12, [query["sql"] for query in queries]


def test_an_end_alone_is_one_day_and_a_begin_alone_goes_until_today():
    browser, day = browser_of("admin"), {number: str(ago(number).date()) for number in (3, 0)}

    def dates(query: dict[str, str]) -> dict[str, str]:
        return browser.get("/earnings/", query).context["report"].chosen.dates

    assert dates({"until": day[3]}) == {"since": day[3], "until": day[3]}
    assert dates({"since": day[3]}) == {"since": day[3], "until": day[0]}
    assert dates({}) == {"since": day[0], "until": day[0]}
    assert dates(days(-3, -5)) == {"since": day[0], "until": day[0]}  # days to come are today
