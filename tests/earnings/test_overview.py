"""The part of earnings on the overview follows the chosen days, branch and kind of lines."""

import datetime as dt
import re
from html import unescape
from typing import Any
from urllib.parse import parse_qsl

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from alerts.services.results import choose_results
from branches.models import Branch
from catalogue.models import Product
from core.money import rupiah
from earnings.periods import named_period
from earnings.services import figures_by, sum_day, totals_of
from purchases.models import Order
from purchases.states import Status
from staff.models import User
from testing.factories import make_order, make_product
from testing.people import browser_of, make_person, signed_in
from tests.branches.helpers import make_branch
from tests.core.helpers import has_id, next_question, words_at
from tests.earnings.helpers import ago, lines, sell_for_weeks, sold, tiles

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def shop(time_machine: Any) -> None:
    """At nine: sales of a brand yesterday, eight and forty days ago, and of another brand yesterday and today."""
    time_machine.move_to(ago(0, 9))
    sell_for_weeks()
    sold(ago(0, 0), selling_price=15_000)


def links(page: str, mark: str) -> list[dict[str, str]]:
    """The queries of the links with this attribute."""
    tags = [unescape(tag) for tag in re.findall(rf"<a [^>]*{mark}[^>]*>", page)]
    return [dict(parse_qsl(re.findall(r'href="/\?([^"#]*)', tag)[0])) for tag in tags]


# In the evening the day a week before is read from its sums, and its later hours from the orders.
@pytest.mark.usefixtures("shop")
def test_it_follows_the_days_in_at_most_15_questions(time_machine: Any):
    for hour, bys in ((9, ("brand", "customer")), (21, ("customer", "brand"))):
        time_machine.move_to(ago(0, hour))
        supervisor = browser_of("supervisor", username=f"at-{hour}")
        supervisor.get("/earnings/today/")
        for days, by in zip(("today", "yesterday", "7", "month"), bys * 2, strict=True):
            with CaptureQueriesContext(connection) as queries:
                answer = supervisor.get("/earnings/today/", {"days": days, "by": by})

            period = named_period(days, timezone.now()).period
            expected = totals_of(figures_by("day", period).values())
            shown = tiles(answer)
            assert (shown["sales"], shown["sold"]) == (str(expected.sales), str(expected.sold)), (hour, days, by)
            assert sum(lines(answer).values()) == expected.sales, (hour, days, by)
            drawing = answer.context["drawing"]
            assert sum(bar.now.figures.sales for bar in drawing.bars if bar.now) == expected.sales, (hour, days, by)
            assert drawing.by == ("hour" if period.first == period.last else "day")  # a month's first day is one day
            asked = [query["sql"] for query in queries.captured_queries]
            assert len(asked) <= 15, "\n".join([days, by, *asked])
            today = f"\"created_at\" >= '{timezone.localdate()} 00:00:00+07:00'"
            of_today = [sql for sql in asked if today in sql]
            assert hour == 21 or len(of_today) == int(days != "yesterday"), "\n".join([days, by, *of_today])


def test_an_answer_has_each_part_that_the_overview_takes_from_it():
    owner = browser_of("admin")
    page = owner.get("/?days=week").content.decode()
    taken = set(re.search('hx-select-oob="([^"]+)"', page)[1].replace("#", "").split(","))

    answer = owner.get("/earnings/today/?days=yesterday")

    assert taken == {name for name in taken if has_id(answer, name)}
    titles = [words_at(each, 'id="overview-title"').split() for each in (answer, owner.get("/?days=yesterday"))]
    assert titles[0] == titles[1]


def test_on_its_first_day_a_week_is_named_in_the_head(time_machine: Any):
    time_machine.move_to(dt.datetime(2026, 11, 30, 2, tzinfo=dt.UTC))  # 09:00 of a Monday
    supervisor = browser_of("supervisor")

    for days, head in (
        ("today", "Monday 30 November"),
        ("week", "This week: Monday 30 November"),
        ("7", "Tue 24 Nov – Mon 30 Nov"),
    ):
        assert words_at(supervisor.get(f"/?days={days}"), 'id="overview-title"').strip() == head


@pytest.mark.usefixtures("shop")
def test_days_that_the_address_names_need_no_script():
    supervisor = browser_of("supervisor")
    plain = supervisor.get("/")
    assert (tiles(plain), 'hx-trigger="load, every 60s"' in plain.content.decode()) == ({}, True)
    week = next(link for link in links(plain.content.decode(), "data-period") if link["days"] == "7")

    page = supervisor.get("/", week | {"by": "product"})

    part = supervisor.get("/earnings/today/", {"days": "7", "by": "product"})
    assert (tiles(page), lines(page)) == (tiles(part), lines(part))
    assert lines(page) == {"XL10": 12_000} | {key: sales for key, sales in lines(page).items() if key != "XL10"}
    text = page.content.decode()
    assert 'hx-trigger="every 60s"' in text
    assert {link["by"] for link in links(text, "data-period")} == {"product"}
    assert {link["days"] for link in links(text, "data-by")} == {"7"}
    chosen = re.findall(r'data-(?:period|by)="(\w+)"[^>]*aria-current="true"', text)
    assert chosen == ["7", "product"]


@pytest.mark.usefixtures("shop")
def test_a_figure_opens_the_earnings_of_its_days_and_the_lines_come_to_the_total():
    auditor = browser_of("auditor")

    page = auditor.get("/", {"days": "week", "by": "product"})

    text = page.content.decode()
    leads = re.findall(r'class="figure-link"\s+href="([^"]+)"', text)
    assert leads == ["/earnings/?days=week&amp;by=product#earned-by"] * len(tiles(page))
    total = re.search(r'id="earned-total">.*?(Rp[\d.]+)', text, re.DOTALL)
    assert bool(total) is (len(lines(page)) > 1)
    assert not total or total[1] == rupiah(sum(lines(page).values()))


@pytest.mark.usefixtures("shop")
def test_a_line_is_of_what_sold_and_opens_its_orders():
    failed = make_product(code="TRI10")
    sold(ago(0, 0), Status.FAILED, product=failed)
    sold(ago(7, 0), product=failed)
    sum_day(ago(7).date())
    auditor = browser_of("auditor")

    page = auditor.get("/", {"days": "today", "by": "product"})

    day = f"since={ago(0).date()}&until={ago(0).date()}"
    (code,) = lines(page)
    assert code != "TRI10"
    opened = re.findall(r'<a class="row-link" href="(/orders/\?since[^"]*)"', page.content.decode())
    assert [unescape(address) for address in opened] == [f"/orders/?{day}&product={code}"]
    assert auditor.get(unescape(opened[0])).content.decode().count('class="row-link"') == 1
    assert 'href="/earnings/?days=today&amp;by=product#earned-by"' in page.content.decode()


@pytest.mark.usefixtures("shop")
def test_a_cashiers_line_opens_what_the_person_did_in_these_days():
    sari = User.objects.get(username="sari")
    where = {"days": "yesterday", "by": "person"}
    orders = f"/orders/?since={ago(1).date()}&until={ago(1).date()}&cashier=sari"
    supervisor, auditor = browser_of("supervisor"), browser_of("auditor")

    typed = line_of("sari", supervisor.get("/earnings/", {"since": ago(1).date(), "by": "person"}))

    assert "/staff/" not in typed[0]
    arrived = [f"{orders}&status=success"] * 3
    for address in ("/", "/earnings/"):
        assert line_of("sari", supervisor.get(address, where)) == [f"/staff/{sari.pk}/?days=yesterday", *arrived]
        assert line_of("sari", auditor.get(address, where)) == [orders, *arrived]


def test_a_cashiers_line_opens_no_page_that_shows_other_figures_or_nothing():
    sari, tebet = make_person("cashier", username="sari"), make_branch("Tebet")
    sold(ago(0, 0), placed_by=sari)
    User.objects.filter(pk=sari.pk).update(branch=tebet)
    bound = browser_of("supervisor", bound_since="2026-01-01T00:00Z")

    of_branch = browser_of("admin").get("/", {"days": "today", "by": "person", "branch": sari.branch_id})
    of_bound = bound.get("/", {"days": "today", "by": "person"})

    lines_shown = [line_of("sari", page) for page in (of_branch, of_bound)]
    assert [{url.partition("?")[0] for url in urls} for urls in lines_shown] == [{"/orders/"}, {"/orders/"}]


def line_of(key: str, page: Any) -> list[str]:
    """The addresses to which the line leads."""
    line = page.content.decode().split(f'data-key="{key}"')[1].partition("</tr>")[0]
    return [unescape(url) for url in re.findall(r'href="([^"]*)"', line)]


def test_six_lines_stand_there_and_the_page_of_earnings_has_all():
    supervisor = browser_of("supervisor")
    for number in range(10):
        sold(ago(0, 0), product=make_product(code=f"B{number}"), selling_price=20_000 + number)
    ten = supervisor.get("/earnings/today/", {"by": "product"})
    assert (len(lines(ten)), has_id(ten, "earned-others")) == (10, False)  # of ten none is left out
    sold(ago(0, 0), product=make_product(code="B10"), selling_price=20_010)

    part, page = (supervisor.get(address, {"by": "product"}) for address in ("/earnings/today/", "/earnings/"))

    assert list(lines(part)) == list(lines(page))[:6]
    assert (part.context["report"].count, len(lines(page))) == (11, 11)
    text = part.content.decode()
    assert ">\n        All 11</a>" in text
    rest = re.search(r'id="to-others" href="([^"]+)"', text)
    assert rest
    assert list(lines(supervisor.get(unescape(rest[1])))) == list(lines(page))
    more = re.search(r'id="earned-others"[^>]*data-sales="(\d+)"', text)
    assert more
    assert int(more[1]) + sum(lines(part).values()) == part.context["report"].now.sales


def test_what_only_failed_has_a_line_and_the_lines_come_to_the_total():
    # given products that sold, one of which failed once, and five that only failed or were taken back
    for number in range(9):
        sold(ago(0, 0), product=make_product(code=f"B{number}"), selling_price=20_000 + number)
    sold(ago(0, 0), Status.FAILED, product=Product.objects.get(code="B3"))
    for number in range(4):
        sold(ago(0, 0), Status.REJECTED, product=make_product(code=f"F{number}"))
    back = sold(ago(0, 0), Status.REVERSED, product=make_product(code="F4"))
    sold(ago(0, 0), Status.FAILED, product=back.product)
    sold(ago(0, 0), Status.CANCELLED, product=make_product(code="C0"))
    supervisor = browser_of("supervisor", language="en")

    for address in ("/earnings/today/", "/earnings/"):
        page = supervisor.get(address, {"days": "today", "by": "product"})

        report, text = page.context["report"], page.content.decode()
        row = text.split('id="earned-failed"')[1].partition("</tr>")[0]
        links = [unescape(url) for url in re.findall(r'href="(/orders/[^"]*)"', row)]
        assert f"since={ago(0).date()}&until={ago(0).date()}&product=F4" in links[0], address
        assert re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", row)).count("(") == len(links) == 3, address
        assert "2 more" in row, address
        assert (report.only_failed.unsold, report.only_failed.sold, report.only_failed.share) == (6, 0, 0)
        parts = [line.figures for line in report.sold_lines] + [report.others, report.only_failed]
        assert sum(part.sold for part in parts) == report.now.sold == 9, address
        assert sum(part.unsold for part in parts) == report.now.unsold == 7, address
        assert "C0" not in row, address


def test_a_day_on_which_all_failed_says_what():
    sold(ago(0, 0), Status.FAILED, product=make_product(code="F0"))

    page = browser_of("supervisor").get("/earnings/today/", {"by": "product"})

    assert has_id(page, "earned-failed")
    assert not has_id(page, "none-yet")


@pytest.mark.usefixtures("shop")
def test_a_branch_narrows_the_figures_the_orders_and_the_work():
    tebet = make_branch("Tebet")
    sari = make_person("cashier", username="tini", branch=tebet)
    order = sold(ago(0, 0), placed_by=sari, selling_price=17_000)
    supervisor = browser_of("supervisor")

    page = supervisor.get("/", {"days": "7", "branch": tebet.pk})

    text = page.content.decode()
    assert (tiles(page)["sales"], page.context["today_count"]) == ("17000", 1)
    assert [row.pk for row in page.context["latest"].rows] == [order.pk]
    assert f'hx-get="/work/first/?branch={tebet.pk}"' in text
    question = next_question(page)[0]
    assert f"branch={tebet.pk}" in question
    again = supervisor.get(question.replace("overview~", "overview~old"))
    assert again.context["today_count"] == 1
    for each in (text, again.content.decode()):
        assert f'since={timezone.localdate()}&branch={tebet.pk}"' in unescape(each)
    assert {link.get("branch") for link in links(text, "data-period")} == {str(tebet.pk)}
    offered = {link.get("branch") for link in links(text, "data-branch")}
    assert offered == {None, *map(str, Branch.objects.values_list("pk", flat=True))}
    assert {link["days"] for link in links(text, "data-branch")} == {"7"}
    assert 'id="own-branch"' not in text


def test_a_person_of_one_branch_is_offered_no_other():
    tebet = make_branch("Tebet")
    sold(ago(0, 0), selling_price=17_000)
    bound = browser_of("supervisor", bound_since="2026-01-01T00:00Z")

    page = bound.get("/", {"days": "today", "branch": tebet.pk})

    assert tiles(page)["sales"] == "17000"
    assert not has_id(page, "of-branch")
    assert not has_id(browser_of("cashier").get("/"), "of-branch")


def test_who_sees_the_shop_finds_from_its_head_and_a_cashiers_overview_sells():
    make_order(Status.SUCCESS)
    page, of_cashier = browser_of("supervisor").get("/?days=7"), browser_of("cashier").get("/?days=7")

    assert not has_id(page, "of-branch")  # there is one branch
    assert (has_id(page, "quick"), has_id(page, "quick-find")) == (False, True)
    form = re.findall(r'<form[^>]*id="quick-find"[^>]*>', page.content.decode())[0]
    assert ('action="/find/"' in form, 'method="get"' in form) == (True, True)
    assert Order.objects.count() == 1
    assert "/earnings/" not in of_cashier.content.decode()
    assert (has_id(of_cashier, "quick"), has_id(of_cashier, "quick-find")) == (True, False)


def test_the_way_to_the_result_of_the_evening_is_for_who_can_choose_it(settings):
    admin = make_person("admin")
    bound = browser_of("supervisor", bound_since="2026-01-01T00:00Z")

    before = words_at(signed_in(admin).get("/"), 'id="send-evening"')
    choose_results(evening=True, weekly=False, person=admin)
    without_way = words_at(signed_in(admin).get("/"), 'id="send-evening"')
    settings.ALERT_URLS = ["json://127.0.0.1:9/"]
    after = words_at(signed_in(admin).get("/"), 'id="send-evening"')

    assert len({before, without_way, after}) == 3
    assert all((before, without_way, after))
    assert not has_id(browser_of("viewer").get("/"), "send-evening")
    assert not has_id(bound.get("/"), "send-evening")


def test_what_the_overview_does_not_understand_in_its_address_is_said():
    browser = browser_of("supervisor")
    for query, left_out in [("by=category", True), ("days=40", True), ("by=product&days=7", False), ("", False)]:
        for page in ("/", "/earnings/today/"):
            answer = browser.get(f"{page}?{query}")

            said = words_at(answer, 'id="filter-faults"')
            assert query in said if left_out else not said, (page, query)
