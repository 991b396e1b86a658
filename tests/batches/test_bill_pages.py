"""The pages of a batch with bills: how far the checks are, the ticks, and the release of just the ticked ones."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest
from django.core.management import call_command

from batches.models import Batch
from batches.services import seal_of
from purchases.models import Order
from staff.models import User
from testing.people import Browser, make_person, signed_in
from tests.batches.helpers import ask_all, checked, rows_of, send_all
from tests.conftest import Upstream

pytestmark = pytest.mark.django_db

TABLE = "531290000001;PLNPASCA;Sari\n531290000002;PLNPASCA;Budi\n531290000036;PLNPASCA;Ani\n"


@pytest.fixture
def seller(db: None) -> User:
    return make_person("supervisor")


@pytest.fixture
def browser(seller: User) -> Browser:
    return signed_in(seller)


def release(browser: Browser, batch: Batch, **more):
    """Press the button of the page that shows the batch as it is now."""
    fields = {"seal": seal_of(batch), "paid_by": "cash", "shown": ["1", "2"], **more}
    return browser.confirm(f"/batches/{batch.pk}/release/", fields)


def test_the_page_shows_how_far_the_checks_are_and_then_the_totals(upstream: Upstream, browser: Browser, seller: User):
    batch = checked(TABLE, seller)

    page = browser.get(f"/batches/{batch.pk}/").content.decode()
    asks = re.search(r'hx-get="([^"]*/live/[^"]*)"', page)
    assert 'max="3"' in page
    assert "release-form" not in page
    assert asks
    ask_all(batch)

    news = browser.get(asks[1].replace("&amp;", "&"), headers={"HX-Request": "true"})
    assert news["HX-Refresh"] == "true"
    page = browser.get(f"/batches/{batch.pk}/").content.decode()
    total = batch.rows.totals()["pays"]
    assert f'data-rows="2" data-amount="{total}"' in page
    assert re.findall(r'name="tick" value="(\d+)" form="release-form"\s+checked', page) == ["1", "2"]
    first = rows_of(batch)[0].bill_check
    assert first
    assert first.customer_name in page


def test_a_tick_that_was_changed_shows_the_new_total_before_anything_is_paid(
    upstream: Upstream, browser: Browser, seller: User
):
    batch = checked(TABLE, seller)
    ask_all(batch)

    answer = release(browser, batch, tick=["2"])

    assert answer["Location"] == f"/batches/{batch.pk}/"
    batch.refresh_from_db()
    assert (batch.state, batch.rows.totals()["count"]) == ("checked", 1)
    release(browser, batch, tick=["2"])
    batch.refresh_from_db()
    send_all(batch)
    [order] = Order.objects.all()
    assert (order.destination, order.status, order.payment.method) == ("531290000002", "success", "cash")


def test_all_none_and_the_ticks_of_the_page_are_taken_over(upstream: Upstream, browser: Browser, seller: User):
    batch = checked(TABLE, seller)
    ask_all(batch)
    counts = []

    for fields in ({"step": "tick_none"}, {"step": "ticks", "shown": ["1", "2"], "tick": ["1"]}, {"step": "tick_all"}):
        browser.post(f"/batches/{batch.pk}/mend/", fields)
        counts.append(batch.rows.totals()["count"])

    assert counts == [0, 1, 2]


def test_bills_that_no_biller_has_answered_are_left_out_or_checked_again(
    upstream: Upstream, browser: Browser, seller: User
):
    batch = checked(TABLE, seller)
    ask_all(batch)

    browser.post(f"/batches/{batch.pk}/mend/", {"step": "ask_again", "fault": "biller"})
    batch.refresh_from_db()

    assert [row.fault for row in rows_of(batch)] == ["", "", "asking"]
    assert batch.next_at
    browser.post(f"/batches/{batch.pk}/mend/", {"step": "leave_out", "fault": "asking"})
    batch.refresh_from_db()
    assert (batch.next_at, rows_of(batch)[2].state) == (None, "left_out")


def test_the_file_of_the_result_has_what_the_biller_said(upstream: Upstream, browser: Browser, seller: User):
    batch = checked(TABLE, seller)
    ask_all(batch)
    release(browser, batch, tick=["1", "2"])
    batch.refresh_from_db()
    send_all(batch)

    file = browser.get(f"/batches/rows/file/?batch={batch.pk}&format=csv").getvalue().decode()

    row = next(csv.DictReader(io.StringIO(file.lstrip("\ufeff"))))
    order = Order.objects.get(destination="531290000001")
    check = order.bill_check
    assert (row["customer_name"], row["period"], row["total"]) == (check.customer_name, check.period, str(check.total))
    assert (row["status"], row["ref_id"], row["price"]) == ("success", check.ref_id, str(order.selling_price))


def test_the_command_checks_and_pays_the_bills(upstream: Upstream, tmp_path, capsys):
    file = tmp_path / "bills.csv"
    file.write_text(TABLE)
    with pytest.raises(SystemExit) as ended:
        call_command("batch", str(file), "--json")
    assert ended.value.code == 3
    assert json.loads(capsys.readouterr().out)["key"] is None

    with pytest.raises(SystemExit) as ended:
        call_command("batch", str(file), "--wait", "20", "--json")
    checks = json.loads(capsys.readouterr().out)
    assert ended.value.code == 1  # one of them has no bill
    with pytest.raises(SystemExit) as ended:
        call_command("batch", "--release", checks["key"], "--wait", "20", "--json")

    came = json.loads(capsys.readouterr().out)
    assert ended.value.code == 0
    assert [row["status"] for row in came["rows"]] == ["success", "success", None]
    assert came["rows"][0]["price"] == came["rows"][0]["total"] + came["rows"][0]["fee"]
