"""The pages of a batch with bills: the progress of the checks, the ticks, and the release of the ticked bills."""

import csv
import io
import json
import re

import pytest
from django.core.management import call_command
from python_calamine import CalamineWorkbook

from approvals.models import Approval
from batches.models import Batch
from core.numbers import masked
from purchases.models import Order
from purchases.states import Status
from staff.models import User
from testing.factories import make_check, make_payment
from testing.people import Browser, browser_of
from tests.batches.helpers import ask_all, checked, press_release, rows_of, send_all
from tests.conftest import Upstream
from tests.drawers.helpers import begin
from tests.dues.helpers import due_bill

pytestmark = pytest.mark.django_db

TABLE = "531290000001;PLNPASCA;Sari\n531290000102;PLNPASCA;Budi\n531290000036;PLNPASCA;Ani\n"


def release(browser: Browser, batch: Batch, **more):
    """Press the button under the two ticks that the page has shown."""
    return press_release(browser, batch, **{"shown": ["1", "2"], **more})


def test_the_page_shows_how_far_the_checks_are_and_then_the_totals(
    upstream: Upstream, browser: Browser, seller: User, monkeypatch: pytest.MonkeyPatch
):
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

    # the total of the bill that the biller refused is empty in both files
    assert [row.max_price is None for row in rows_of(batch)] == [False, False, True]
    address = f"/batches/rows/file/?batch={batch.pk}"
    file = browser.get(f"{address}&format=csv").getvalue().decode()
    _first, _second, refused = csv.DictReader(io.StringIO(file.lstrip("\ufeff")))
    assert (refused["number"], refused["total"]) == (masked("531290000036"), "")
    book = CalamineWorkbook.from_filelike(io.BytesIO(browser.get(f"{address}&format=xlsx").content))
    head, *rows = book.get_sheet_by_index(0).to_python()
    assert rows[2][head.index("total")] == ""

    # the next page of ticks is one of the batch
    monkeypatch.setattr("batches.views._BILLS", 1)
    page = browser.post(f"/batches/{batch.pk}/mend/", {"step": "ticks", "shown": ["1"], "tick": ["1"]}).content.decode()
    assert re.findall(r'href="([^"]*\?page=2)"', page) == [f"/batches/{batch.pk}/?page=2"]
    assert 'value="2" form="release-form"' in browser.get(f"/batches/{batch.pk}/?page=2").content.decode()


def test_a_tick_that_was_changed_shows_the_new_total_before_anything_is_paid(
    upstream: Upstream, browser: Browser, seller: User
):
    begin(seller)
    batch = checked(TABLE, seller)
    ask_all(batch)

    answer = release(browser, batch, tick=["2"], paid_by="cash", cash_given="900000", reason="Office")

    second = rows_of(batch)[1]
    page = answer.content.decode()
    assert f'data-rows="1" data-amount="{second.selling_price}"' in page
    assert 'value="900000"' in page
    batch.refresh_from_db()
    assert (batch.state, batch.rows.totals()["count"]) == ("checked", 1)
    release(browser, batch, tick=["2"])
    batch.refresh_from_db()
    send_all(batch)
    [order] = Order.objects.all()
    assert (order.destination, order.status, order.payment.method) == ("531290000102", "success", "cash")


def test_above_the_limit_a_second_person_approves_exactly_these_bills_and_the_file_says_what_came(
    upstream: Upstream, browser: Browser, seller: User
):
    User.objects.filter(pk=seller.pk).update(own_approval_above=15_000)
    batch = checked(TABLE, seller)
    ask_all(batch)
    first, second, _unknown = rows_of(batch)
    assert first.max_price
    assert second.max_price

    release(browser, batch, tick=["1", "2"], reason="Office")
    approval = Approval.objects.get()
    assert (approval.facts["rows"], approval.facts["price"]) == (2, first.max_price + second.max_price)
    assert not Order.objects.exists()
    browser_of("administrator").confirm(f"/approvals/{approval.pk}/approve/", {"seal": approval.seal})
    batch.refresh_from_db()
    send_all(batch)

    for row in (first, second):
        order = Order.objects.get(bill_check=row.bill_check)
        assert (order.ref_id, order.status) == (row.bill_check and row.bill_check.ref_id, "success")
        assert (order.placed_by, order.price) == (seller, row.max_price)
        assert upstream.calls(order, "pay") == ["/v1/bill/pay"]
        assert upstream.ledger(order) == [("debit", -row.max_price)]
    assert Order.objects.count() == 2

    file = browser.get(f"/batches/rows/file/?batch={batch.pk}&format=csv").getvalue().decode()
    row = next(csv.DictReader(io.StringIO(file.lstrip("\ufeff"))))
    order = Order.objects.get(destination="531290000001")
    check = order.bill_check
    assert (row["customer_name"], row["period"], row["total"]) == (check.customer_name, check.period, str(check.total))
    assert (row["status"], row["ref_id"], row["price"]) == ("success", check.ref_id, str(order.selling_price))


def test_a_tick_whose_biller_is_asked_again_loads_the_page_that_says_so(
    upstream: Upstream, browser: Browser, seller: User
):
    batch = checked(TABLE, seller)
    ask_all(batch)
    ticks = {"step": "ticks", "shown": ["1", "2"]}
    htmx = {"HX-Request": "true"}
    assert "HX-Refresh" not in browser.post(f"/batches/{batch.pk}/mend/", {**ticks, "tick": ["1"]}, headers=htmx)
    row = rows_of(batch)[1]
    make_check(product=row.product, destination=row.destination)  # somebody at the counter has checked it, too

    answer = browser.post(f"/batches/{batch.pk}/mend/", {**ticks, "tick": ["1", "2"]}, headers=htmx)

    assert answer["HX-Refresh"] == "true"
    assert "batch-asking" in browser.get(f"/batches/{batch.pk}/").content.decode()


def test_ticks_are_taken_over_with_how_it_is_paid_until_somebody_releases(
    upstream: Upstream, browser: Browser, seller: User
):
    begin(seller)
    batch = checked(TABLE, seller)
    ask_all(batch)
    counts = []
    paid = {"paid_by": "transfer", "transfer_reference": "TRF-7"}
    ticks = {"step": "ticks", "shown": ["1", "2"], "tick": ["1"]}

    for fields in ({"step": "tick_none"}, ticks | paid, {"step": "tick_all"}):
        answer = browser.post(f"/batches/{batch.pk}/mend/", fields, headers={"HX-Request": "true"})
        counts.append(batch.rows.totals()["count"])
        if fields["step"] == "ticks":
            page = answer.content.decode()

    assert counts == [0, 1, 2]
    assert 'data-rows="1"' in page
    assert re.findall(r'name="paid_by" value="(\w+)"[^>]*checked', page) == ["transfer"]
    assert 'value="TRF-7"' in page

    release(browser, batch, tick=["1", "2"])
    answer = browser.post(f"/batches/{batch.pk}/mend/", ticks, headers={"HX-Request": "true"})
    assert answer["HX-Refresh"] == "true"  # the page says that it was released
    assert batch.rows.filter(state="ready").count() == 2


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
    page = browser.get(f"/batches/{batch.pk}/").content.decode()
    assert re.findall(r'data-fault-group="(\w+)" data-count="(\d)"', page) == [("asking", "1")]

    browser.post(f"/batches/{batch.pk}/mend/", {"step": "ask_again", "fault": "asking"})
    ask_all(batch)
    assert (rows_of(batch)[2].state, rows_of(batch)[2].fault) == ("wrong", "biller")


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


def test_ticked_bills_due_become_a_batch_with_their_fresh_checks(upstream: Upstream, browser: Browser):
    first, second, paying = due_bill("1234567890"), due_bill("1234567891"), due_bill("1234567892")
    make_payment(make_check(product=paying.number.product, destination="1234567892"), Status.PENDING)
    ticked = {"number": [bill.number_id for bill in (first, second, paying)]}
    assert 'formaction="/batches/due/"' in browser.get("/due/").content.decode()
    assert browser.post("/batches/due/", {"number": ["x"]})["Location"] == "/due/"
    assert not Batch.objects.exists()

    answer = browser.post("/batches/due/", ticked)
    batch = Batch.objects.get()
    ask_all(batch)

    assert answer["Location"] == f"/batches/{batch.pk}/"
    rows = rows_of(batch)
    assert [(row.state, row.bill_check_id) for row in rows] == [
        ("ready", first.bill_check_id),
        ("ready", second.bill_check_id),
    ]
    assert [row.selling_price for row in rows] == [first.to_pay, second.to_pay]
    assert Order.objects.count() == 1  # it pays nothing by itself
    assert browser.post("/batches/due/", ticked)["Location"] == answer["Location"]
    assert Batch.objects.count() == 1
