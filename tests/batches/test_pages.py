"""The pages of batches: check a table, correct it, release exactly the shown rows, and follow them."""

import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import translation

from batches.models import Batch
from batches.services import place_rows, seal_of
from batches.tables import BatchRowTable
from drawers.services import rounded_up
from purchases.models import Order
from staff.models import User
from testing.people import Browser, browser_of, code_of
from tests.batches.helpers import checked, press_release, released, rows_of, send_all
from tests.conftest import Upstream
from tests.core.helpers import codes
from tests.drawers.helpers import begin, sell

pytestmark = pytest.mark.django_db

TABLE = "081290000001;10;Sari\n081290000102;20;Budi\n087812345678;TSEL10;Ani\n0812;10;Edo\n"


def test_a_table_is_checked_and_shown_with_its_faults_and_pasted_again_the_same_batch(
    upstream: Upstream, browser: Browser, seller: User
):
    for fields in ({}, {"text": "  \n"}):
        assert codes(browser.post("/batches/new/", fields)) == {"nothing"}
    for text in ("what is this\n", "Nomor;Produk\n;TSEL10\n"):
        assert "No row has a number" in browser.post("/batches/new/", {"text": text}).content.decode()
    assert not Batch.objects.exists()

    browser.post("/batches/new/", {"file": SimpleUploadedFile("staff.csv", TABLE.encode("utf-16"))})
    answer = browser.post("/batches/new/", {"text": TABLE.replace("\n", "\r\n")}, follow=True)

    batch = Batch.objects.get()
    assert (batch.name, answer.redirect_chain[-1][0]) == ("staff.csv", f"/batches/{batch.pk}/")
    page = answer.content.decode()
    assert 'data-rows="2"' in page
    assert set(re.findall(r'data-fault-group="(\w+)"', page)) == {"other_operator", "wrong_number"}
    assert not Order.objects.exists()

    # a colleague is told whose table it is, and led to no missing page
    answer = browser_of("cashier").post("/batches/new/", {"text": TABLE}, follow=True)
    assert (answer.status_code, answer.redirect_chain[-1][0]) == (200, "/batches/")
    said = next(str(message) for message in answer.context["messages"] if "table_of_another" in message.tags)
    assert seller.shown_name in said
    assert str(batch.pk) in said
    assert Batch.objects.count() == 1

    answer = browser.get(f"/batches/rows/file/?batch={batch.pk}&format=csv")
    with translation.override("id"):  # the answer is sent after the request, in the language of the page
        lines = answer.getvalue().decode()
    assert "Wrong number" in lines
    assert "Nomor salah" not in lines


def test_a_limit_of_one_order_is_compared_with_the_dearest_row(upstream: Upstream, browser: Browser, seller: User):
    batch = checked(TABLE, seller)
    cost = batch.rows.totals()["cost"]
    User.objects.filter(pk=seller.pk).update(own_per_order=cost - 1)

    page = browser.get(f"/batches/{batch.pk}/")

    assert codes(page) == set()
    User.objects.filter(pk=seller.pk).update(own_per_order=11_000)
    assert codes(browser.get(f"/batches/{batch.pk}/")) == {"LimitReached:per_order"}


def test_exactly_what_was_seen_is_released_for_enough_money(upstream: Upstream, browser: Browser, seller: User):
    batch = checked(TABLE, seller)
    seal = seal_of(batch)
    browser.post(f"/batches/{batch.pk}/rows/2/", {"number": "081290000102", "what": "50"})
    answer = browser.confirm(f"/batches/{batch.pk}/release/", {"seal": seal})
    assert "BatchRefused:changed" in codes(answer)

    answer = press_release(browser, batch, cash_given=str(batch.rows.totals()["pays"] - 1000))
    assert codes(answer) >= {"PaymentUnclear"}
    batch.refresh_from_db()
    assert (batch.state, batch.released_at) == ("checked", None)

    answer = press_release(browser, batch, paid_by="transfer", transfer_reference="BCA 1")

    assert answer["Location"] == f"/batches/{batch.pk}/"
    batch.refresh_from_db()
    assert (batch.state, batch.method, batch.reference, batch.released_by) == ("running", "transfer", "BCA 1", seller)
    place_rows(batch.pk)
    assert [order.payment.method for order in Order.objects.all()] == ["transfer", "transfer"]


def test_a_row_is_corrected_left_out_and_taken_in_and_else_left_out_by_the_release(
    upstream: Upstream, browser: Browser, seller: User
):
    batch = checked(f"{TABLE}0812;20;Rina\n", seller)
    badge = re.compile(r'data-fault="wrong_number">(.*?)</td>', re.DOTALL)
    address = f"/batches/rows/?batch={batch.pk}"

    browser.post(f"/batches/{batch.pk}/rows/4/", {"number": "0812 9000 0003", "what": "10"})
    browser.post(f"/batches/{batch.pk}/rows/1/", {"step": "leave_out"})
    browser.post(f"/batches/{batch.pk}/rows/2/", {"step": "leave_out"})
    browser.post(f"/batches/{batch.pk}/rows/2/", {"step": "take_in"})

    assert [row.state for row in rows_of(batch)] == ["left_out", "ready", "wrong", "ready", "wrong"]
    assert rows_of(batch)[3].destination == "081290000003"
    assert "To be corrected" in badge.search(browser.get(address).content.decode())[1]

    press_release(browser, batch, cash_given=str(batch.rows.totals()["pays"]))

    batch.refresh_from_db()
    assert batch.state == "running"
    assert "Left out" in badge.search(browser.get(address).content.decode())[1]
    page = browser.get(f"/batches/{batch.pk}/").content.decode()
    assert re.search(r'Not corrected, not sold</dt>\s*<dd data-group="wrong"><a[^>]*>2</a>', page)
    assert "To be corrected" not in page


def test_the_page_shows_what_was_written_where_it_is_not_what_is_sold(
    upstream: Upstream, browser: Browser, seller: User
):
    batch = checked("0812 9000 0001;10\n8129 000 0002;10\n081290 000003;10\n", seller)

    page = browser.get(f"/batches/{batch.pk}/").content.decode()

    assert "0812 9000 0001" not in page
    assert "8129 000 0002" in page
    assert "081290 000003" in page


def test_all_rows_of_a_kind_are_changed_at_once_by_the_operator_of_each_number(
    upstream: Upstream, browser: Browser, seller: User
):
    # given: a heading that names no product, which the page says
    batch = checked("Nama;Nomor HP\nAni;081290000001\nBudi;087812345678\nEdo;0812\n", seller)
    page, address = f"/batches/{batch.pk}/", f"/batches/{batch.pk}/mend/"
    assert 'id="no-product"' in browser.get(page).content.decode()

    refused = browser.post(address, {"fault": "no_product", "step": "product", "code": "unheardof"}, follow=True)
    assert "BatchRefused:no_product" in refused.content.decode()
    assert [row.what for row in rows_of(batch)] == [""] * 3
    browser.post(address, {"fault": "no_product", "step": "product", "code": "10"})
    browser.post(address, {"fault": "wrong_number", "step": "leave_out"})

    assert [(row.state, row.product and row.product.code) for row in rows_of(batch)][:2] == [
        ("ready", "TSEL10"),
        ("ready", "XL10"),
    ]
    assert rows_of(batch)[2].state == "left_out"
    shown = browser.get(page).content.decode()
    assert ('id="no-product"' in shown, 'data-rows="2"' in shown) == (False, True)

    other = checked("087812345678;TSEL10\n087812345679;TSEL10\n", seller)
    fields = {"fault": "other_operator", "step": "product", "code": "xl 10.000"}
    browser.post(f"/batches/{other.pk}/mend/", fields)
    assert [(row.state, row.product and row.product.code) for row in rows_of(other)] == [("ready", "XL10")] * 2


def test_a_name_behind_the_product_is_asked_about(upstream: Upstream, browser: Browser, seller: User):
    batch = checked("081290000001 10 Sari\n081290000102 10 Ani\n", seller)
    assert 'value="names"' in browser.get(f"/batches/{batch.pk}/").content.decode()
    assert 'value="names"' in browser.get(f"/batches/{batch.pk}/rows/1/").content.decode()

    browser.post(f"/batches/{batch.pk}/rows/1/", {"step": "names"})

    assert [(row.state, row.name) for row in rows_of(batch)] == [("ready", "Sari"), ("wrong", "")]


def test_what_was_bought_today_is_sold_again_once_it_is_meant(upstream: Upstream, browser: Browser, seller: User):
    send_all(released("081290000001;10\n", seller))
    batch = checked("081290000001;10;Sari\n", seller)
    assert rows_of(batch)[0].fault == "today"

    browser.post(f"/batches/{batch.pk}/mend/", {"fault": "today", "step": "meant"})
    press_release(browser, batch)
    send_all(batch)

    assert [order.status for order in Order.objects.all()] == ["success", "success"]


def test_the_rows_of_a_batch_are_one_sale_for_the_coins(upstream: Upstream, seller: User):
    shift = begin(seller)

    send_all(released("081290000001;10\n081290000102;10\n", seller))

    assert [amount % 100 for amount in shift.payments.values_list("amount", flat=True)] == [50, 50]
    assert rounded_up(shift) == (0, 0)
    sell(seller, 10_550)
    assert rounded_up(shift) == (1, 50)


def test_the_bar_follows_the_rows_to_their_end_and_the_foot_sums_what_is_sold(
    upstream: Upstream, browser: Browser, seller: User
):
    batch = released("081290000001;10\n081290000004;10\n0812;10\n", seller)
    live = browser.get(f"/batches/{batch.pk}/").content.decode()
    asked = re.search(r'hx-get="([^"]*/live/[^"]*)"', live)
    assert asked

    send_all(batch)

    answer = browser.get(asked[1].replace("&amp;", "&"), headers={"HX-Request": "true"})
    assert answer.headers["HX-Refresh"] == "true"  # each row names its ending
    news = answer.content.decode()
    counts = {
        name: re.sub(r"<[^>]*>|\s", "", cell) for name, cell in re.findall(r'data-group="(\w+)">(.*?)</dd>', news, re.S)
    }
    assert counts == {"wrong": "1", "waiting": "0", "open": "0", "done": "1", "failed": "1", "left": "0"}
    assert 'id="batch-again"' in news

    sums = {}
    for query in ("", "group=done", "group=failed"):
        [(_words, amount)] = browser.get(f"/batches/rows/sums/?{query}").context["facts"]
        sums[query] = "".join(filter(str.isdigit, amount))
    sold = f"{Order.objects.get(destination='081290000001').selling_price}"
    assert sums == {"": sold, "group=done": sold, "group=failed": "0"}


def test_a_batch_is_not_called_finished_while_an_order_of_it_is_open(
    upstream: Upstream, browser: Browser, seller: User
):
    batch = released("081290000003;10\n", seller)
    place_rows(batch.pk)
    place_rows(batch.pk)
    batch.refresh_from_db()
    assert (batch.state, batch.rows.counts()["open"]) == ("ended", 1)

    pages = [browser.get(page).content.decode() for page in (f"/batches/{batch.pk}/", "/batches/")]

    assert all("All orders placed" in page and "Finished" not in page for page in pages)
    # the reason of the same sale in another table names the order in full
    (row,) = rows_of(checked("081290000003;10;Sari\n", seller))
    assert BatchRowTable.export["reason"](row) == row.words
    assert Order.objects.get().ref_id in row.words


def test_pages_ask_as_often_for_many_rows_as_for_few(
    upstream: Upstream, browser: Browser, seller: User, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("batches.services.placing.AHEAD", 2)
    counts = []
    for rows in (4, 12):  # both still run
        table = "".join(f"0812{rows:04d}{row:04d};10\n" for row in range(rows))
        batch = released(table, seller)
        place_rows(batch.pk)
        of_pages = {}
        for page in ("/batches/", "/batches/rows/", "/batches/{}/", "/batches/{}/live/"):
            browser.get(page.format(batch.pk))  # the rows that are read once
            with CaptureQueriesContext(connection) as asked:
                browser.get(page.format(batch.pk))
            of_pages[page] = len(asked)
        counts.append(of_pages)

    assert counts[0] == counts[1]


def test_a_batch_is_paused_which_it_says_resumed_and_cancelled(upstream: Upstream, browser: Browser, seller: User):
    batch = released(TABLE, seller)
    states = []

    for step in ("pause", "resume", "cancel"):
        browser.post(f"/batches/{batch.pk}/step/", {"step": step})
        batch.refresh_from_db()
        states.append(batch.state)
        says_why = 'id="why-paused"' in browser.get(f"/batches/{batch.pk}/").content.decode()
        assert says_why is (step == "pause"), step

    assert states == ["paused", "running", "cancelled"]
    assert [row.state for row in rows_of(batch)] == ["cancelled"] * 4


def test_a_payment_that_lacks_something_uses_up_no_code(upstream: Upstream, browser: Browser, seller: User):
    batch, code = checked(TABLE, seller), code_of(seller)
    fields = {"seal": seal_of(batch), "factor_code": code}

    answer = browser.post(f"/batches/{batch.pk}/release/", {**fields, "paid_by": "card"})
    assert codes(answer) == {"PaymentUnclear"}
    browser.post(f"/batches/{batch.pk}/release/", {**fields, "paid_by": "card", "paid_reference": "SLIP 1"})

    batch.refresh_from_db()
    assert batch.state == "running"
