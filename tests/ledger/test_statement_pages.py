"""The statement with its filters and files, and the daily closing."""

import datetime as dt
import html
import itertools
import re
from dataclasses import replace

import pytest
import time_machine
from django.utils import timezone

from ledger import services as ledger
from ledger.models import Entry
from reconciliation import services as reconciliation
from staff.models import User
from tests.core.helpers import cells, has_id, words
from tests.exports.helpers import ask, csv_rows, made, sheet_text
from tests.ledger.helpers import closing_lines, open_books, spend, upstream_tells

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("long_books")]


def shown_kinds(answer) -> list[str]:
    return [kind.lower() for kind in cells(answer, "kind")]


def content(answer) -> bytes:
    return b"".join(answer.streaming_content)


def test_an_entry_shows_before_after_its_order_and_its_actor(admin):
    User.objects.filter(username="admin").update(first_name="Siti", last_name="Aminah")
    open_books(1_000_000)
    order = spend(10_500)
    difference = upstream_tells(1_489_500)
    admin.confirm(f"/balance/differences/{difference.pk}/acknowledge/", {"note": "BCA"})

    page = admin.get("/balance/statement/")

    assert shown_kinds(page) == ["top-up", "debit", "released", "reserved", "opening balance"]
    assert "−Rp10.500 Rp1.000.000 → Rp989.500" in words(page)
    assert cells(page, "before_after")[3].endswith("Rp0 → Rp10.500")
    assert "Siti Aminah BCA" in words(page)
    assert "BCA Siti Aminah" in words(admin.get("/balance/differences/"))
    assert f'href="/orders/{order.ref_id}/"' in page.content.decode()


def test_the_filters_live_in_the_url_and_combine(auditor):
    assert has_id(auditor.get("/balance/statement/"), "none-yet")
    open_books(1_000_000)
    first, _second = spend(10_500), spend(5_000, kind="bill")
    today = timezone.localdate().isoformat()

    def kinds(query):
        return shown_kinds(auditor.get(f"/balance/statement/?{query}"))

    assert kinds("kind=debit") == ["debit", "debit"]
    assert kinds("kind=money") == ["debit", "debit", "opening balance"]
    assert kinds(f"kind=debit&q={first.ref_id}") == ["debit"]
    assert "debit" in kinds(f"q={first.ref_id.lower()}")
    assert len(kinds(f"since={today}&until={today}")) == 7
    assert kinds("until=2020-01-01") == []
    assert has_id(auditor.get("/balance/statement/?until=2020-01-01"), "none-matches")


NONSENSE = ["kind=nonsense", "since=x", "since=2030-02-30", "until=9999-12-31", "since=0001-01-01"]
NONSENSE += ["q=" + "x" * 65]


def test_a_senseless_filter_is_said_on_page_and_makes_no_file(auditor):
    open_books()
    ways = itertools.cycle(((auditor.get, "csv"), (auditor.post, "csv"), (auditor.post, "xlsx")))

    for query, (method, name) in zip(NONSENSE, ways, strict=False):
        page = auditor.get(f"/balance/statement/?{query}")
        assert page.status_code == 200, query
        assert has_id(page, "filter-faults"), query
        assert shown_kinds(page) == ["opening balance"], query

        refused = method(f"/balance/statement/{name}/?{query}")
        assert refused.status_code == 400, query
        assert has_id(refused, "no-file"), query
        assert shown_kinds(refused) == [], query
        assert "Content-Disposition" not in refused, query

    # what is no filter breaks nothing
    made(auditor, "xlsx", "older=%00")
    for query in ["older=x", "newer=1", "older=%00", "nothing=known", "since="]:
        for page in ("", "csv/", "xlsx/"):
            assert auditor.get(f"/balance/statement/{page}?{query}").status_code == 200, query


def test_too_many_entries_for_a_workbook_are_refused_and_a_long_csv_is_left_to_the_worker(auditor, monkeypatch):
    open_books()
    spend(10_500)
    with monkeypatch.context() as patch:
        patch.setattr("exports.services.MOST_ROWS", 3)
        refused = ask(auditor, "xlsx", "kind=")
        narrowed = ask(auditor, "xlsx", "kind=money")
        assert refused.status_code == 400
        assert has_id(refused, "no-file")
        assert narrowed["Location"] == "/files/"
        assert len(csv_rows(content(auditor.get("/balance/statement/csv/")))) == 4

    monkeypatch.setattr("exports.lists.MOST_AT_ONCE", 3)
    long, short = (auditor.get(f"/balance/statement/csv/?{query}") for query in ("", "kind=money"))
    assert has_id(long, "may-ask")
    assert not long.streaming
    assert len(csv_rows(content(short))) == 2
    assert len(csv_rows(made(auditor, "csv"))) == 4


def test_pages_of_fifty_neither_lose_nor_repeat_an_entry(auditor):
    open_books()
    for _number in range(20):
        spend(1_000)

    rows, url = [], "/balance/statement/"
    while url:
        page = auditor.get(url)
        rows += cells(page, "before_after")
        link = re.search(r'href="([^"]*older=[^"]+)"', page.content.decode())
        url = "/balance/statement/" + html.unescape(link.group(1)) if link else ""

    assert len(rows) == Entry.objects.count() == 61


def test_the_csv_is_filtered_oldest_first_and_streamed(auditor):
    open_books(1_000_000)
    order = spend(10_500)

    answer = auditor.get("/balance/statement/csv/?kind=money")

    assert answer.streaming
    assert re.search(r'attachment; filename="statement-[\d-]+\.csv"', answer["Content-Disposition"])
    rows = csv_rows(content(answer))
    assert [(row["kind"], row["balance_change"]) for row in rows] == [("opening", "1000000"), ("debit", "-10500")]
    assert rows[1]["ref_id"] == order.ref_id


def test_a_cell_that_would_be_a_formula_is_text(admin):
    open_books(1_000_000)
    actor = admin.get("/").wsgi_request.user
    reasons = ("=HYPERLINK(1)", "\t=1")
    for number, reason in enumerate(reasons, start=1):
        difference = upstream_tells(1_000_000 + number * 500_000)
        reconciliation.acknowledge_top_up(difference, actor=actor, note=reason)

    rows = csv_rows(content(admin.get("/balance/statement/csv/?kind=topup")))
    written = sheet_text(made(admin, "xlsx", "kind=topup"))

    assert [row["reason"] for row in rows] == ["'=HYPERLINK(1)", "'\t'=1"]  # a program may split CSV at tabs, too
    assert [row["amount"] for row in rows] == ["500000"] * 2
    assert "<f>" not in written
    assert [html.escape(f"'{reason}", quote=False) in written for reason in reasons] == [True, True]


def test_a_closing_leads_to_just_the_entries_of_a_line_and_says_by_how_much_it_does_not_add_up(auditor, monkeypatch):
    open_books()
    spend(10_500)
    day = timezone.localdate().isoformat()

    page = auditor.get(f"/balance/closing/{day}/").content.decode()
    links = [html.unescape(link) for link in re.findall(r'href="([^"]*kind=debit[^"]*)"', page)]

    assert [shown_kinds(auditor.get(link)) for link in links] == [["debit"]]
    assert shown_kinds(auditor.get(f"/balance/statement/?kind=debit:bill&since={day}")) == []

    real = ledger.read_days

    def wrong(first, last):
        days = real(first, last)
        return replace(days, closings=[replace(day, closing=day.closing - 7) for day in days.closings])

    monkeypatch.setattr("reconciliation.services.days.read_days", wrong)
    page = auditor.get("/balance/closing/", follow=True)
    assert not has_id(page, "adds-up")
    assert "−Rp7" in page.content.decode().split('id="off-by"')[1]


def test_the_workbook_holds_numbers_and_moments_as_such(auditor):
    open_books(1_000_000)

    sheet = sheet_text(made(auditor, "xlsx"))

    assert "<v>1000000</v>" in sheet
    # Days since the end of 1899, in the shop's own time.
    [written] = re.findall(r'<c r="B2" s="\d+"><v>([\d.]+)</v>', sheet)
    moment = dt.datetime(1899, 12, 30, tzinfo=dt.UTC) + dt.timedelta(days=float(written))
    assert abs(moment - timezone.localtime(Entry.objects.get().at).replace(tzinfo=dt.UTC)) < dt.timedelta(seconds=1)


# --- the daily closing --------------------------------------------------------------------------------------------


def test_the_closing_lists_what_the_day_did_and_adds_up(auditor):
    yesterday = timezone.localtime().replace(hour=12, minute=0) - dt.timedelta(days=1)
    with time_machine.travel(yesterday):
        open_books(1_000_000)
    spend(10_500)
    spend(100_000, kind="bill")
    spend(5_000, refunded=True)

    today = auditor.get("/balance/closing/", follow=True)
    upstream_tells(990_000)
    before = auditor.get(f"/balance/closing/{yesterday:%Y-%m-%d}/")

    assert closing_lines(today) == {
        "opening": "Rp1.000.000",
        "purchases": "−Rp15.500",
        "bills": "−Rp100.000",
        "refunds": "+Rp5.000",
        "top_ups": "Rp0",
        "adjustments": "Rp0",
        "so_far": "Rp889.500",
        "reported": "Rp1.000.000",
    }
    assert has_id(today, "adds-up")
    lines = closing_lines(before)  # with the last balance of its day
    assert [lines[name] for name in ("opened_with", "closing", "reported")] == ["+Rp1.000.000", *["Rp1.000.000"] * 2]
    assert re.search(rf'rel="prev"\s+href="/balance/closing/{yesterday:%Y-%m-%d}/"', today.content.decode())
    assert 'rel="next"' not in today.content.decode()
    assert 'rel="prev"' not in before.content.decode()


def test_the_day_can_be_chosen_and_one_that_is_none_or_not_yet_is_a_404(auditor):
    open_books()
    day = timezone.localdate()

    assert auditor.get(f"/balance/closing/?day={day}")["Location"] == f"/balance/closing/{day}/"
    assert auditor.get("/balance/closing/?day=x")["Location"] == f"/balance/closing/{day}/"
    for none in ["x", "2999-01-01", "0001-01-01", "2026-02-30", "20260101x"]:
        assert auditor.get(f"/balance/closing/{none}/").status_code == 404, none


def test_the_curve_draws_each_day_and_has_a_table(auditor):
    with time_machine.travel(timezone.localtime() - dt.timedelta(days=2)):
        open_books(1_000_000)
    spend(10_500)

    page = auditor.get("/balance/").content.decode()

    assert page.count('class="chart-day"') == 3
    label = re.search(r'class="chart-drawing".*?aria-label="([^"]*)"', page, re.DOTALL)[1]
    assert re.findall(r"Rp[\d.]*\d", label) == ["Rp989.500", "Rp1.000.000", "Rp989.500"]  # lowest, highest, now
    assert page.count('href="/balance/closing/') >= 3


def test_a_day_before_the_opening_never_adds_up(auditor):
    with time_machine.travel(timezone.now() - dt.timedelta(days=2)):
        spend(10_500)
    open_books(1_000_000)

    before = auditor.get(f"/balance/closing/{timezone.localdate() - dt.timedelta(days=2):%Y-%m-%d}/")

    assert has_id(before, "before-opening")
    assert not has_id(before, "adds-up")
