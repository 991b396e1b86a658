"""The page of earnings: each figure fits the orders behind it; people without the right see no profit."""

import csv
import datetime as dt
import io
import re
from html import unescape
from typing import Any

import pytest
from django.http import QueryDict
from django.utils import timezone

from audit.models import AuditEvent
from core.times import start_of_day
from customers.models import Customer, SavedNumber
from drawers.models import Payment
from drawers.services import merge_customers
from earnings import views
from earnings.drawing import drawing_of, step_of
from earnings.periods import chosen_period, named_period
from earnings.presenting import BY, report_of
from earnings.services import sum_day
from purchases.filters import OrderFilter
from purchases.models import Order
from purchases.models.orders import CUSTOMER_PAYS
from purchases.states import Status
from purchases.sums import sums_of
from staff.models import User
from testing.factories import make_product
from testing.people import browser_of, make_person
from tests.branches.helpers import make_branch
from tests.core.helpers import has_id
from tests.earnings.helpers import ago, lines, sell_for_weeks, sold, tiles
from tests.exports.helpers import sheet_text

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_days_to_choose_have_one_order_everywhere():
    browser = browser_of("admin")
    beside = f"/earnings/beside/{make_person('cashier').pk}/"
    named = {path: browser.get(path).content.decode() for path in ("/orders/", "/earnings/", "/bank/", beside)}
    of_lists = re.findall(r'data-period="([\w-]+)"', named["/orders/"])

    own = [name for name in of_lists if name not in {"every", "30"}]
    assert re.findall(r'data-period="([\w-]+)"', named["/earnings/"]) == own
    assert re.findall(r'"chip-link" href="\?days=([\w-]+)', named["/bank/"])[: len(own)] == own
    of_person = re.findall(r'id="person-days-([\w-]+)"', named[beside])
    assert of_person
    assert of_person == [name for name in of_lists if name in of_person]
    overview = browser.get("/?days=7").content.decode()
    of_overview = re.findall(r'data-period="([\w-]+)"', overview)
    assert of_overview == [name for name in of_lists if name in of_overview]
    keys = re.findall(r'<a [^>]*data-by="(\w+)"', overview)
    assert keys == [key for key in re.findall(r'<a [^>]*data-by="(\w+)"', named["/earnings/"]) if key in keys]


@pytest.fixture
def shop() -> None:
    sell_for_weeks()


@pytest.mark.usefixtures("shop")
def test_yesterday_is_what_its_orders_are_and_figures_against_nothing_say_so_once():
    browser, day = browser_of("supervisor"), ago(40).date().isoformat()

    answer = browser.get("/earnings/", {"days": "yesterday", "by": "product"})

    shown, orders = tiles(answer), Order.objects.filter(created_at__gte=ago(1, 0), status=Status.SUCCESS)
    pays = sum(orders.annotate(pays=CUSTOMER_PAYS).values_list("pays", flat=True))
    assert (shown["sales"], shown["profit"], shown["sold"]) == (str(pays), "21000", "2") == ("42000", "21000", "2")
    assert lines(answer)["XL10"] == 12_000
    for address in ("/earnings/", "/earnings/today/"):
        against_nothing = browser.get(address, {"since": day, "until": day}).content.decode()
        against_a_sale = browser.get(address, {"days": "yesterday"}).content.decode()
        assert re.findall(r'data-before="(\w+)"', against_nothing) == ["sales"], address
        assert "data-before" not in against_a_sale, address


def test_at_midnight_itself_the_days_that_begin_have_nothing_yet(time_machine):
    time_machine.move_to(start_of_day(dt.date(2027, 2, 1)), tick=False)  # a Monday
    browser = browser_of("admin")

    for query in ("days=today", "days=week", "days=month", "since=2027-02-01&until=2027-02-01"):
        for path in ("/earnings/", "/earnings/today/"):
            page = browser.get(f"{path}?{query}")
            assert (page.status_code, has_id(page, "none-yet")) == (200, True), (path, query)


@pytest.mark.usefixtures("shop")
def test_the_lines_add_up_to_the_period_and_a_long_list_is_cut(monkeypatch: pytest.MonkeyPatch):
    auditor, since = browser_of("auditor"), ago(40).date().isoformat()
    for by in ("brand", "category", "product", "person", "method", "nonsense"):
        answer = auditor.get("/earnings/", {"since": since, "by": by})

        assert sum(lines(answer).values()) == int(tiles(answer)["sales"]) == 66_000, by

    monkeypatch.setattr(views, "_MOST", 1)
    answer = auditor.get("/earnings/", {"since": since, "by": "person"})
    assert lines(answer) == {"sari": 36_000}
    assert (tiles(answer)["sales"], 'id="more-lines"' in answer.content.decode()) == ("66000", True)


@pytest.mark.usefixtures("shop")
def test_what_sold_before_and_no_more_has_a_quiet_line_in_page_and_file():
    where = {"since": ago(1).date().isoformat(), "until": ago(1).date().isoformat(), "by": "product"}
    sold(ago(2), product=make_product(code="PDAM"))
    sum_day(ago(2).date())
    supervisor = browser_of("supervisor")

    page, file = (supervisor.get(f"/earnings/{kind}", where) for kind in ("", "csv/"))

    assert list(lines(page).items())[-1] == ("PDAM", 0)
    sold_lines, idle = page.content.decode().split('id="idle-lines"')
    assert "PDAM" not in sold_lines.split('id="earned-by"')[1]
    assert "Rp12.000" in re.findall(r'data-key="PDAM".*?</tr>', idle, re.S)[0]
    assert "is-down" not in idle
    rows = {
        row["key"]: row for row in csv.DictReader(io.StringIO(b"".join(file.streaming_content).decode("utf-8-sig")))
    }
    assert (rows["PDAM"]["sales"], rows["PDAM"]["sales_before"]) == ("0", "12000")
    total = re.findall(r'id="earned-total".*?</tr>', page.content.decode(), re.S)[0]
    assert "Rp42.000" in total


@pytest.mark.usefixtures("shop")
def test_the_files_hold_the_lines_of_the_page_and_are_noted():
    owner = browser_of("admin")
    where = {"since": ago(40).date().isoformat(), "by": "person"}

    page, file, book = (owner.get(f"/earnings/{kind}", where) for kind in ("", "csv/", "xlsx/"))

    rows = list(csv.DictReader(io.StringIO(b"".join(file.streaming_content).decode("utf-8-sig"))))
    assert {row["key"]: int(row["sales"]) for row in rows} == lines(page) == {"sari": 36_000, "": 30_000}
    assert {row["key"]: int(row["profit"]) for row in rows} == {"sari": 4_500, "": 19_500}
    parts = ("sold", "failed", "reversed", "cancelled", "open")
    assert all(int(row["placed"]) == sum(int(row[part]) for part in parts) for row in rows)
    sheet = sheet_text(book.content)
    assert [words in sheet for words in (">Cashier<", ">Sales before<", ">sales_before<")] == [True, True, False]
    assert AuditEvent.objects.filter(subject="earnings").count() == 2


def test_what_an_address_says_and_is_not_understood_is_said():
    browser = browser_of("supervisor")
    for query, left_out in {
        "since=0001-01-01&until=9999-12-31": ["since=0001-01-01", "until=9999-12-31"],
        "since=x": ["since=x"],
        "days=40&by=payment": ["days=40", "by=payment"],
        "until=2026-02-31&against_since=<b>": ["until=2026-02-31", "against_since=<b>"],
        "days=7&by=method&since=&branch=": [],
    }.items():
        answer = browser.get(f"/earnings/?{query}")

        assert (answer.status_code, answer.context["left_out"]) == (200, left_out), query
        assert ('id="filter-faults"' in answer.content.decode(), "<b>" in answer.content.decode()) == (
            bool(left_out),
            False,
        )
    chosen = browser.get("/earnings/?days=30").context["report"].chosen  # as in the list of orders
    assert (chosen.period.first, chosen.period.last) == (ago(29).date(), ago(0).date())


def test_a_branch_is_understood_with_lines_by_branch_and_said_if_unknown_and_to_be_chosen():
    owner = browser_of("admin")
    pages = [owner.get("/?branch=1"), owner.get("/earnings/?branch=1")]  # there is one branch
    tebet = make_branch("Tebet")
    bound = browser_of("supervisor", branch_id=tebet.pk, bound_since="2026-01-01T00:00Z")
    queries = ["branch=1", f"branch={tebet.pk}&by=branch"]
    pages += [bound.get(f"{page}?{query}") for page in ("/", "/earnings/") for query in queries]

    assert not any(has_id(page, "filter-faults") for page in pages)
    for page in ("/earnings/", "/"):
        for query, is_said in [(f"branch={tebet.pk}&by=branch", False), ("branch=999", True)]:
            assert has_id(owner.get(f"{page}?{query}"), "filter-faults") == is_said, (page, query)


def test_each_period_is_compared_with_one_as_long():
    now = start_of_day(dt.date(2026, 3, 31)) + dt.timedelta(hours=15.5)

    spans = {name: _span(named_period(name, now)) for name in ("today", "yesterday", "7", "30", "month", "last-month")}

    assert spans == {
        "today": ("31.03 00:00", "31.03 15:30", "24.03 00:00", "24.03 15:30"),
        "yesterday": ("30.03 00:00", "31.03 00:00", "23.03 00:00", "24.03 00:00"),
        "7": ("25.03 00:00", "31.03 15:30", "18.03 00:00", "24.03 15:30"),
        "30": ("02.03 00:00", "31.03 15:30", "31.01 00:00", "01.03 15:30"),
        "month": ("01.03 00:00", "31.03 15:30", "01.02 00:00", "01.03 00:00"),
        "last-month": ("01.02 00:00", "01.03 00:00", "01.01 00:00", "01.02 00:00"),
    }


def _span(chosen: Any) -> tuple[str, ...]:
    moments = (chosen.period.since, chosen.period.until, chosen.before.since, chosen.before.until)
    return tuple(f"{timezone.localtime(at):%d.%m %H:%M}" for at in moments)


@pytest.mark.usefixtures("shop")
def test_earnings_by_category_say_what_the_taxable_base_is():
    owner = browser_of("admin")

    pages = [owner.get("/earnings/", {"days": "yesterday", "by": by}).content.decode() for by in ("category", "brand")]

    assert ['id="taxable-base"' in page for page in pages] == [True, False]
    assert 'href="/guide/owner/#accountant"' in pages[0]
    assert 'id="accountant"' in owner.get("/guide/owner/").content.decode()


@pytest.mark.usefixtures("shop")
def test_a_line_opens_exactly_its_orders():
    since = {"since": ago(40).date().isoformat()}
    reports = [report_of(chosen_period(since), by) for by in BY]

    for line in (line for report in reports for line in report.lines if line.key):
        query = QueryDict(line.url.partition("?")[2])
        opened = sums_of(OrderFilter(query, queryset=Order.objects.all(), person=User(is_superuser=True)).qs)
        figures = line.figures
        assert (opened.count, opened.arrived, opened.price, opened.cost) == (
            figures.placed,
            figures.sold,
            figures.sales,
            figures.cost,
        )


def test_a_week_begins_on_monday_and_is_compared_up_to_the_same_hour():
    now = start_of_day(dt.date(2026, 11, 26)) + dt.timedelta(hours=9)  # a Thursday

    this, last = named_period("week", now), named_period("last-week", now)

    assert (this.period.first, this.period.until) == (dt.date(2026, 11, 23), now)
    assert (this.before.first, this.before.until) == (dt.date(2026, 11, 16), now - dt.timedelta(days=7))
    assert (last.period.first, last.period.last) == (dt.date(2026, 11, 16), dt.date(2026, 11, 22))
    assert (last.before.first, last.before.last) == (dt.date(2026, 11, 9), dt.date(2026, 11, 15))


def test_the_drawing_of_an_empty_shop_has_a_scale_of_amounts_that_a_shop_sells():
    chosen = named_period("7", timezone.now())

    ticks = drawing_of(chosen, report_of(chosen, "brand", step=step_of(chosen)).steps).ticks

    assert ticks == [100_000, 75_000, 50_000, 25_000, 0]


@pytest.mark.usefixtures("shop")
def test_a_long_period_is_drawn_by_week_and_the_bars_add_up():
    days = {"since": ago(98).date().isoformat(), "until": ago(0).date().isoformat()}

    answer = browser_of("supervisor").get("/earnings/", days)

    drawing = answer.context["drawing"]
    sold_in = [bar.now.figures.sold for bar in drawing.bars]
    # 40 days ago is in the ninth week; 8 days ago and yesterday, which has two, are in the last whole ones
    assert (drawing.by, len(sold_in), {at: n for at, n in enumerate(sold_in) if n}) == (
        "week",
        15,
        {8: 1, 12: 1, 13: 2},
    )
    assert 'id="drawing-title">Sales per week<' in answer.content.decode()


def test_people_who_see_the_journal_are_told_where_adjustments_stand():
    bound = browser_of("supervisor", bound_since="2026-01-01T00:00Z")  # the journal covers the whole shop

    shown = [
        'id="without-adjustments"' in person.get("/earnings/").content.decode()
        for person in (browser_of("admin"), bound)
    ]

    assert shown == [True, False]


def test_a_branch_that_sold_nothing_is_a_line_too():
    make_branch("Tebet")
    sold(ago(0, 0))

    page = browser_of("supervisor").get("/earnings/?by=branch")

    assert [(line.words, line.figures.sales) for line in page.context["report"].sold_lines][1:] == [("Tebet", 0)]


@pytest.mark.usefixtures("shop")
def test_a_cell_opens_the_orders_that_it_counts():
    # given two sales that succeeded, three that failed, and one that people cancelled
    for status in SIX:
        sold(ago(0, 0), status, placed_by=User.objects.get(username="sari"))

    for by, key, language in (("brand", "Telkomsel", "en"), ("person", "sari", "id"), ("method", "cash", "en")):
        assert_cells_open_six(f'data-key="{key}"', by, language)


def test_cells_of_a_customer_open_what_counts_for_them():
    # given six orders for a customer into whom another was merged, one of another customer, one without a customer
    sari, gone, other = (Customer.objects.create(name=name) for name in ("Bu Sari", "Sari", "Ani"))
    numbers = {kept.pk: f"08121111222{at}" for at, kept in enumerate((sari, gone, other))}
    for pk, number in numbers.items():
        SavedNumber.objects.create(customer_id=pk, destination=number, kind="phone")
    for at, status in enumerate(SIX):
        sold(ago(0, 0), status, destination=numbers[(sari, gone)[at % 2].pk])
    sold(ago(0, 0), destination=numbers[other.pk])
    sold(ago(0, 0), destination="081333333333")
    sold(ago(2), destination=numbers[sari.pk])
    merge_customers(sari, gone, name="Bu Sari", note="", actor=make_person("supervisor", username="merges"))
    SavedNumber.objects.filter(customer=sari).update(customer=other)  # a moved number takes no sale with it

    assert_cells_open_six(f'data-key="{sari.pk}"', "customer", "id")


SIX = (Status.SUCCESS, Status.FAILED, Status.REJECTED, Status.REVERSED, Status.CANCELLED, Status.SUCCESS)


def assert_cells_open_six(mark: str, by: str, language: str) -> None:
    """Assert that the row counts the orders `SIX`, and that each cell opens exactly the orders that it counts."""
    supervisor = browser_of("supervisor", username=f"reads-{by}", language=language)

    page = supervisor.get("/earnings/", {"days": "today", "by": by})

    links = cell_links(row_of(mark, page))
    opened = [supervisor.get(url).context["filter"] for url, _name in links]
    assert [filtered.form.errors for filtered in opened] == [{}] * 4
    arrived, unsold = ["success"] * 2, ["failed", "rejected", "reversed"]
    assert [sorted(order.status for order in filtered.qs) for filtered in opened] == [arrived] * 3 + [unsold]
    assert [re.findall(r"\d+", name)[-1] for _url, name in links] == ["2", "2", "2", "3"]


def test_a_cell_without_such_orders_opens_nothing():
    # given a product that was sold once, to a known customer, and another that failed and was cancelled
    order = sold(ago(0, 0), product=make_product(code="XL10"))
    ani = Customer.objects.create(name="Ani")
    Payment.objects.filter(pk=order.payment_id).update(buyer=ani.pk)
    failed = sold(ago(0, 0), Status.FAILED)
    sold(ago(0, 0), Status.CANCELLED, product=failed.product)
    supervisor = browser_of("supervisor")

    by_product, by_customer = (supervisor.get("/earnings/", {"by": by}) for by in ("product", "customer"))

    rows = [row_of(mark, by_product) for mark in ('data-key="XL10"', 'id="earned-total"')]
    assert [len(cell_links(row)) for row in rows] == [3, 4]
    assert len(cell_links(row_of(f'data-key="{ani.pk}"', by_customer))) == 3
    [unsold] = re.findall(r'href="([^"]*)"', row_of('id="earned-failed"', by_product))
    assert [found.pk for found in supervisor.get(unescape(unsold)).context["filter"].qs] == [failed.pk]


def row_of(mark: str, page: Any) -> str:
    """The row of the table that has this attribute."""
    return page.content.decode().split(f"<tr {mark}")[1].partition("</tr>")[0]


def cell_links(row: str) -> list[tuple[str, str]]:
    """The addresses to which the figures of a row lead, by their names."""
    links = re.findall(r'<a class="cell-link" href="([^"]*)">(.*?)</a>', row, re.S)
    return [(unescape(url), re.sub(r"<[^>]*>", " ", name)) for url, name in links]
