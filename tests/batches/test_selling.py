"""From the release to the true outcome: each row is charged at most once, also after kills, repeats and stops."""

import csv
import io
from dataclasses import replace

import pytest
from django.utils import timezone

from batches.errors import BatchRefused
from batches.models import BatchRow
from batches.services import again, cancel, check_table, mend_all, pause, place_rows, placing, release, resume, seal_of
from batches.services.checking import recheck
from batches.services.placing import AHEAD, DUE_BATCHES, PLACE
from catalogue.models import Product
from core import clock
from drawers.errors import PaymentUnclear
from drawers.services import PaymentFacts, close_shift, expected_cash, sold_in_no_shift
from gateway.dispatching import Work
from ledger.models import Entry
from purchases.errors import LimitReached
from purchases.models import Order
from purchases.presenting import upstream_words
from purchases.services import submit
from purchases.services.placing import place_order
from purchases.states import Status
from staff.models import User
from testing.people import make_person, signed_in
from tests.batches.helpers import CASH, checked, released, rows_of, send_all, supervisor
from tests.conftest import Upstream
from tests.core.helpers import words
from tests.drawers.helpers import begin, pieces_of
from tests.purchases.magic import ended
from upstream.budget import CallClass

THREE = "081290000001;10;Sari\n081290000004;10;Budi\n081290000102;20;Ani\n"


def limit_per_day(person: User, amount: int | None) -> None:
    """The person may spend so many rupiah a day."""
    User.objects.filter(pk=person.pk).update(own_per_day=amount)
    person.refresh_from_db()


def table(rows: int) -> str:
    """A table of so many rows, each for another number."""
    return "".join(f"0812{row:08d};10\n" for row in range(1, rows + 1))


def test_each_row_becomes_its_order_and_ends_as_the_upstream_says(upstream: Upstream):
    person = supervisor()
    batch = checked(THREE, person)
    by_card = PaymentFacts(method="card")
    with pytest.raises(PaymentUnclear):  # it needs its slip
        release(batch, actor=person, seal=seal_of(batch), payment=by_card)
    release(batch, actor=person, seal=seal_of(batch), payment=replace(by_card, reference="004217"))
    batch.refresh_from_db()

    send_all(batch)

    rows = rows_of(batch)
    assert [row.order and row.order.status for row in rows] == ["success", "failed", "success"]
    assert batch.state == "ended"
    for row in rows:
        order = row.order
        assert order
        assert (order.ref_id, order.idempotency_key) == (row.ref_id, f"batch:{row.ref_id}")
        assert order.placed_by == batch.released_by
        assert (order.payment.method, order.payment.reference) == ("card", "004217")
        assert upstream.calls(order, "create") == ["/v1/transaction/create"]
        refund = [("refund", order.price)] if order.status == "failed" else []
        assert upstream.ledger(order) == [("debit", -(order.price or 0)), *refund]
        kinds = Entry.objects.filter(ref_id=order.ref_id).order_by("pk").values_list("kind", flat=True)
        assert [*kinds] == ["hold", "release", "debit", *(["refund"] if refund else [])]
    assert {*Order.objects.matching("004217")} == {row.order for row in rows}


def test_a_batch_that_was_released_without_a_drawer_is_in_no_later_shift(upstream: Upstream):
    # given: the first row is placed, and the seller opens a drawer with a count before the others
    batch = released(THREE)
    assert placing._place_next(batch.pk)
    shift = begin(supervisor(), cash=100_000)

    place_rows(batch.pk)

    orders = Order.objects.filter(batch_row__batch=batch)
    assert list(orders.values_list("payment__sold_in", "payment__agreed_in")) == [(None, None)] * 3
    amount = sum(order.customer_pays for order in orders)
    assert (expected_cash(shift), sold_in_no_shift(timezone.localdate())) == (100_000, (3, amount))
    assert close_shift(shift, pieces=pieces_of(100_000), actor=supervisor()).difference == 0


def test_orders_wait_in_the_background_and_a_cancelled_batch_sells_nothing_more(upstream: Upstream, monkeypatch):
    batch = released(table(AHEAD + 5))

    place_rows(batch.pk)

    queued = Order.objects.filter(status=Status.QUEUED)
    assert queued.count() == AHEAD
    assert all(order.next_poll_at and order.next_poll_at <= clock.now() for order in queued)
    place_rows(batch.pk)  # no room
    assert Order.objects.count() == AHEAD

    assert cancel(batch, actor=supervisor()) == 5
    monkeypatch.setattr(placing, "AHEAD", 2 * AHEAD)  # there would be room
    place_rows(batch.pk)
    assert Order.objects.count() == AHEAD
    batch.refresh_from_db()
    assert (batch.state, batch.rows.filter(state="cancelled").count()) == ("cancelled", 5)


def test_a_running_batch_falls_due_until_its_last_row_which_is_placed_once(upstream: Upstream):
    person, batch = supervisor(), released("081290000001;10\n")

    pause(batch, actor=person)
    place_rows(batch.pk)
    assert not Order.objects.exists(), "nothing until it is resumed"
    assert DUE_BATCHES.take(5) == []
    resume(batch, actor=person)

    assert DUE_BATCHES.take(5) == [Work(PLACE, batch.pk)]
    assert DUE_BATCHES.take(5) == []  # leased: a killed worker's batch falls due again later
    batch.refresh_from_db()
    assert batch.next_at
    assert batch.next_at > clock.now()

    place_rows(batch.pk)
    first = Order.objects.get()
    place_rows(batch.pk)
    place_rows(batch.pk)
    assert [*Order.objects.all()] == [first]
    batch.refresh_from_db()
    assert batch.state == "ended"


def test_the_same_table_again_sells_nothing_unless_it_is_meant_again(upstream: Upstream):
    text = "081290000001;10;Sari\n"
    batch = released(text)
    send_all(batch)

    same, is_new = check_table("081290000001\t10\tSari", name="other.csv", actor=supervisor())

    assert (same, is_new) == (batch, False)
    with pytest.raises(BatchRefused) as refused:
        release(same, actor=supervisor(), seal=seal_of(same), payment=CASH)
    assert refused.value.reason == "released"
    assert Order.objects.count() == 1

    # meant again: one new batch with new ref_ids
    tables = [check_table(text, name="", actor=supervisor(), meant_again=True) for _ in range(2)]
    assert [is_new for _batch, is_new in tables] == [True, False]
    other = released(text, meant_again=True)
    send_all(other)

    assert ({table for table, _is_new in tables}, other.nth) == ({other}, 2)
    assert [order.status for order in Order.objects.order_by("pk")] == ["success", "success"]
    assert {row.ref_id for row in rows_of(batch)}.isdisjoint(row.ref_id for row in rows_of(other))


def test_what_is_twice_open_bought_today_or_done_by_its_reference_is_named(upstream: Upstream):
    send_all(released("081290000001;10;Sari;;INV-1\n"))
    place_rows(released("081290000102;10\n").pk)

    rows = rows_of(checked("081290000001;10\n081290000102;10\n081290000003;10\n0812 9000 0003;10\n"))
    first, second = rows_of(checked("081290000001;10;Sari;;INV-1\n081290000005;10;Ani;;INV-2\n"))

    assert [(row.state, row.fault) for row in rows] == [
        ("wrong", "today"),
        ("wrong", "open"),
        ("ready", ""),
        ("wrong", "twice"),
    ]
    assert (first.fault, second.state) == ("done", "ready")


def test_a_price_that_rises_is_asked_about_before_the_release_and_refuses_its_rows_after_it(upstream: Upstream):
    batch = checked(THREE)
    seen = seal_of(batch)
    Product.objects.filter(code="TSEL10").update(price=10_900, selling_price=12_000)

    with pytest.raises(BatchRefused) as refused:
        release(batch, actor=supervisor(), seal=seen, payment=CASH)

    assert refused.value.reason == "changed"
    batch.refresh_from_db()
    assert batch.state == "checked"
    assert {row.max_price for row in rows_of(batch) if row.what == "10"} == {10_900}
    release(batch, actor=supervisor(), seal=seal_of(batch), payment=CASH)

    Product.objects.filter(code="TSEL10").update(price=11_500)
    send_all(batch)

    assert [(row.state, row.fault) for row in rows_of(batch)] == [
        ("refused", "PriceMoved"),
        ("refused", "PriceMoved"),
        ("placed", ""),
    ]
    assert Order.objects.count() == 1


def test_a_limit_of_the_day_refuses_the_release_or_pauses_the_batch_and_it_goes_on(upstream: Upstream):
    person = supervisor()
    limit_per_day(person, 15_000)
    batch = checked(THREE, person)
    with pytest.raises(LimitReached):
        release(batch, actor=person, seal=seal_of(batch), payment=CASH)
    batch.refresh_from_db()
    assert batch.state == "checked"

    limit_per_day(person, None)
    release(batch, actor=person, seal=seal_of(batch), payment=CASH)
    limit_per_day(person, 15_000)
    send_all(batch)

    assert (batch.state, batch.stopped_by) == ("paused", "LimitReached:per_day")
    assert batch.why_stopped
    assert Order.objects.count() == 1
    limit_per_day(person, None)
    resume(batch, actor=person)
    send_all(batch)
    assert batch.state == "ended"
    assert Order.objects.count() == 3


def test_the_failed_ones_again_are_a_new_batch_once(upstream: Upstream):
    batch = released(f"{THREE}0812;10;Edo\n")
    send_all(batch)

    other, is_new = again(batch, actor=supervisor())
    same = again(batch, actor=supervisor())

    assert is_new
    assert same == (other, False)
    row, uncorrected = rows_of(other)
    assert (row.destination, row.state) == ("081290000004", "ready")
    assert (uncorrected.typed, uncorrected.state) == ("0812", "wrong")
    assert row.ref_id != BatchRow.objects.get(batch=batch, line=2).ref_id


def test_a_row_that_is_tried_again_is_in_one_new_batch(upstream: Upstream):
    # given: one row has failed and is tried again; then another row fails, too
    batch = released("081290000004;10\n081290000003;20\n")
    place_rows(batch.pk)
    first, second = Order.objects.order_by("pk")
    for order in (first, second):
        submit(order.pk, call_class=CallClass.BACKGROUND)
    assert ended(first).status == Status.FAILED
    other, _is_new = again(batch, actor=supervisor())
    upstream.control("settle", ref_id=second.ref_id, status="failed")
    assert ended(second).status == Status.FAILED

    third, is_new = again(batch, actor=supervisor())

    assert is_new
    assert [row.line for row in rows_of(other)] == [1]
    assert [row.line for row in rows_of(third)] == [2]
    assert again(batch, actor=supervisor()) == (third, False)
    page = signed_in(supervisor()).get(batch.get_absolute_url()).content.decode()
    assert 'id="batch-again"' not in page
    assert all(f'href="{later.get_absolute_url()}"' in page for later in (other, third))

    # when: the batch that nobody has released is dropped
    cancel(other, actor=supervisor())

    assert [row.line for row in rows_of(again(batch, actor=supervisor())[0])] == [1]


def test_the_seller_without_the_right_stops_the_batch(upstream: Upstream):
    person = make_person("administrator")
    batch = released(THREE, person)
    person.is_active = False
    person.save()

    send_all(batch)

    assert (batch.state, batch.stopped_by) == ("paused", "BatchRefused:off")
    assert not Order.objects.exists()


def test_twice_in_the_table_is_sold_twice_once_a_person_means_it(upstream: Upstream):
    batch = checked("081290000001;10\n081290000001;10\n")
    assert [row.fault for row in rows_of(batch)] == ["", "twice"]

    mend_all(batch, step="meant", actor=supervisor(), fault="twice")
    release(batch, actor=supervisor(), seal=seal_of(batch), payment=CASH)
    place_rows(batch.pk)
    place_rows(batch.pk)
    assert Order.objects.count() == 1  # the second one waits for the end of the first
    send_all(batch)

    first, second = Order.objects.order_by("pk")
    assert [row.order for row in rows_of(batch)] == [first, second]
    for order in (first, second):
        assert order.status == Status.SUCCESS
        assert upstream.ledger(order) == [("debit", -(order.price or 0))]
        assert upstream.calls(order, "create") == ["/v1/transaction/create"]


def test_a_row_at_which_the_app_fails_waits_for_a_person_and_the_others_are_sold(upstream: Upstream, monkeypatch):
    def fails_at_the_second(**facts):
        if facts["destination"] == "081290000004":
            raise ZeroDivisionError
        return place_order(**facts)

    monkeypatch.setattr(placing, "place_order", fails_at_the_second)
    monkeypatch.setattr(placing, "AHEAD", 2)
    batch = released(THREE)

    place_rows(batch.pk)

    batch.refresh_from_db()
    assert (batch.state, batch.stopped_by) == ("running", "BatchRefused:rows_wait")
    browser = signed_in(supervisor())
    assert f'href="/batches/{batch.pk}/"' in browser.get("/work/").content.decode()  # at once
    assert 'id="rows-wait"' in browser.get(f"/batches/{batch.pk}/").content.decode()
    send_all(batch)
    rows = rows_of(batch)
    assert [(row.state, row.fault) for row in rows] == [("placed", ""), ("wrong", "unexpected"), ("placed", "")]
    assert batch.state == "paused"
    assert not Order.objects.filter(destination="081290000004").exists()
    other, _is_new = again(batch, actor=supervisor())
    batch.refresh_from_db()
    assert [row.destination for row in rows_of(other)] == ["081290000004"]
    assert (batch.state, batch.stopped_by) == ("ended", "")


def test_a_row_that_waits_after_another_was_tried_again_pauses_the_batch(upstream: Upstream, monkeypatch):
    # given: the first row has failed, and is in a new batch; then the app fails at the second one
    monkeypatch.setattr(placing, "AHEAD", 1)
    batch = released("081290000004;10\n081290000001;20\n")
    place_rows(batch.pk)
    first = Order.objects.get()
    submit(first.pk, call_class=CallClass.BACKGROUND)
    assert ended(first).status == Status.FAILED
    again(batch, actor=supervisor())
    monkeypatch.setattr(placing, "place_order", lambda **_facts: 1 / 0)

    send_all(batch)

    assert [(row.state, row.fault) for row in rows_of(batch)] == [("placed", ""), ("wrong", "unexpected")]
    assert (batch.state, batch.stopped_by) == ("paused", "BatchRefused:rows_wait")


def test_leaving_out_one_of_two_equal_rows_leaves_the_other_as_it_is(upstream: Upstream):
    batch, other = (checked(f"081290000001;10;{name}\n081290000001;10;{name}\n") for name in ("Sari", "Ani"))

    mend_all(batch, step="leave_out", actor=supervisor(), line=1)

    assert [(row.state, row.fault) for row in rows_of(batch)] == [("left_out", ""), ("wrong", "twice")]
    mend_all(batch, step="meant", actor=supervisor(), line=2)
    assert [row.state for row in rows_of(batch)] == ["left_out", "ready"]

    mend_all(other, step="leave_out", actor=supervisor(), line=2)
    assert [row.state for row in rows_of(other)] == ["ready", "left_out"]


def test_an_ended_row_has_its_sn_or_its_reason_on_the_page_and_in_the_file(upstream: Upstream):
    batch = released("081290000001;10;Sari;;INV-1\n081290000004;10;Budi\n")
    send_all(batch)
    browser, (sold, failed) = signed_in(supervisor()), (row.order for row in rows_of(batch))
    assert sold
    assert failed
    assert (bool(sold.sn), failed.status) == (True, "failed")

    file = browser.get(f"/batches/rows/file/?batch={batch.pk}&format=csv").getvalue().decode()

    first, second = csv.DictReader(io.StringIO(file.lstrip("\ufeff")))
    reason = upstream_words(failed.message, failed, with_cost=False) or str(failed.get_status_display())
    assert (first["row"], first["status"], first["reference"], first["sn"]) == ("1", "success", "INV-1", sold.sn)
    assert (second["status"], second["reason"]) == ("failed", reason)
    assert reason in words(browser.get(f"/batches/{batch.pk}/"))


def test_another_product_for_a_row_that_was_meant_again_is_not_meant_again(upstream: Upstream):
    send_all(released("081290000001;TSEL10\n081290000001;TSEL20\n"))
    batch = checked("081290000001;TSEL10;Sari\n")
    mend_all(batch, step="meant", actor=supervisor(), line=1)
    Product.objects.filter(code="TSEL10").update(availability="inactive")
    recheck(batch)
    assert rows_of(batch)[0].fault == "not_for_sale"

    mend_all(batch, step="product", actor=supervisor(), fault="not_for_sale", code="TSEL20")

    assert [(row.state, row.fault) for row in rows_of(batch)] == [("wrong", "today")]
