"""Bills of a batch: checked in the background, ticked, and each paid once for exactly the total that was released."""

import datetime as dt

import pytest

from batches.errors import BatchRefused
from batches.models import Batch
from batches.services import again, check_table, mend_all, place_rows, release, resume, seal_of, tick
from bills.models import BillCheck
from bills.services import pay_bill
from catalogue.models import Product
from core import clock
from ledger.models import Entry
from purchases.models import Order
from testing.people import make_person, signed_in
from tests.batches.helpers import CASH, ask_all, checked, rows_of, send_all, supervisor
from tests.bills.helpers import check_bill, expire
from tests.conftest import Upstream

PAY, INQUIRY = "/v1/bill/pay", "/v1/bill/inquiry"
# A bill that is paid, one paid elsewhere, one that no biller knows, and a wrong number.
FOUR = "531290000001;PLNPASCA;Sari\n531290000035;PLNPASCA;Budi\n531290000036;PLNPASCA\n531290000102;PLNPASCA;Ani\n"


def asked(text: str, **facts) -> Batch:
    """The batch of this table, once the billers have answered."""
    batch = checked(text, **facts)
    ask_all(batch)
    return batch


def released(text: str) -> Batch:
    """The batch of this table, released for the totals of the billers."""
    batch = asked(text)
    release(batch, actor=supervisor(), seal=seal_of(batch), payment=CASH)
    batch.refresh_from_db()
    return batch


def kinds(order: Order) -> list[str]:
    """The kinds of the order's entries."""
    return [*Entry.objects.filter(ref_id=order.ref_id).order_by("pk").values_list("kind", flat=True)]


def test_a_check_asks_each_biller_once_in_the_background_and_pays_nothing(upstream: Upstream):
    batch = checked(FOUR)
    assert [(row.kind, row.state, row.fault) for row in rows_of(batch)] == [("bill", "wrong", "asking")] * 4
    assert batch.next_at
    with pytest.raises(BatchRefused) as refused:
        release(batch, actor=supervisor(), seal=seal_of(batch), payment=CASH)
    assert refused.value.reason == "asking"

    ask_all(batch)

    assert [(row.state, row.fault) for row in rows_of(batch)] == [
        ("ready", ""),
        ("wrong", "paid"),
        ("wrong", "biller"),
        ("ready", ""),
    ]
    assert batch.next_at is None
    for row in rows_of(batch):
        check = row.bill_check
        assert check
        assert len(upstream.control("requests", ref_id=check.ref_id)["requests"]) == 1
        if row.state == "ready":
            assert row.product
            assert (row.max_price, row.selling_price) == (check.total, check.total + row.product.fee)
    assert not Order.objects.exists()
    assert not Entry.objects.filter(kind="hold").exists()


def test_each_bill_is_paid_once_for_its_total_and_the_same_table_again_pays_nothing(upstream: Upstream):
    batch = released(FOUR)

    send_all(batch)

    assert batch.state == "ended"
    paid = [row for row in rows_of(batch) if row.order]
    assert [row.line for row in paid] == [1, 4]
    for row in paid:
        order, check = row.order, row.bill_check
        assert order
        assert check
        assert (order.status, order.kind, order.ref_id) == ("success", "bill", check.ref_id)
        assert (order.price, order.selling_price) == (row.max_price, row.selling_price)
        assert upstream.calls(order, "pay") == [PAY]
        assert upstream.ledger(order) == [("debit", -row.max_price)]
        assert kinds(order) == ["hold", "release", "debit"]

    before = BillCheck.objects.count(), Order.objects.count()
    same, is_new = check_table(FOUR, name="other.csv", actor=supervisor())
    place_rows(same.pk)
    assert (same, is_new) == (batch, False)
    assert (BillCheck.objects.count(), Order.objects.count()) == before


def test_just_the_ticked_bills_are_paid(upstream: Upstream):
    batch = asked(FOUR)
    tick(batch, actor=supervisor(), ticked=[])
    assert batch.rows.totals()["count"] == 0
    tick(batch, actor=supervisor(), ticked=[1, 4], shown=[1])
    assert [row.state for row in rows_of(batch)] == ["ready", "wrong", "wrong", "left_out"]
    tick(batch, actor=supervisor(), ticked=[4], shown=[4])
    seen = seal_of(batch)

    assert tick(batch, actor=supervisor(), shown=[1, 2, 4], ticked=[2, 4]) == 1

    with pytest.raises(BatchRefused) as refused:
        release(batch, actor=supervisor(), seal=seen, payment=CASH)
    assert refused.value.reason == "changed"
    release(batch, actor=supervisor(), seal=seal_of(batch), payment=CASH)
    send_all(batch)
    assert [row.state for row in rows_of(batch)] == ["left_out", "wrong", "wrong", "placed"]
    assert Order.objects.count() == 1


def test_a_bill_that_is_being_paid_or_is_paid_is_not_asked_about_in_another_table(upstream: Upstream):
    batch = released("531290000001;PLNPASCA;Sari;;INV-1\n")
    place_rows(batch.pk)
    order = Order.objects.get()

    [row] = rows_of(asked("531290000001;PLNPASCA;Sari\n"))

    assert (row.state, row.fault, row.said) == ("wrong", "open", order.ref_id)
    assert BillCheck.objects.count() == 1

    send_all(batch)
    [row] = rows_of(checked("531290000001;PLNPASCA;Bu Sari;;INV-1\n"))

    assert (row.state, row.fault, row.said) == ("wrong", "done", order.ref_id)


def test_a_check_that_has_expired_or_would_on_the_way_is_made_again_before_it_is_paid(upstream: Upstream):
    batch = released("531290000001;PLNPASCA\n531290000102;PLNPASCA\n")
    before = [row.bill_check for row in rows_of(batch)]
    assert before[0]
    assert before[1]
    expire(before[0])
    now = clock.now()
    times = {"answered_at": now - dt.timedelta(minutes=10), "expires_at": now + dt.timedelta(seconds=100)}
    BillCheck.objects.filter(pk=before[1].pk).update(**times)

    send_all(batch)

    assert (batch.state, BillCheck.objects.count()) == ("ended", 4)
    for row, first in zip(rows_of(batch), before, strict=True):
        order, check = row.order, row.bill_check
        assert first
        assert order
        assert check
        assert check != first
        assert (order.status, order.max_price, order.ref_id) == ("success", first.total, check.ref_id)
        assert upstream.control("requests", ref_id=first.ref_id, endpoint=PAY)["requests"] == []
        assert upstream.calls(order, "pay") == [PAY]
        assert upstream.ledger(order) == [("debit", -row.max_price)]
        assert kinds(order) == ["hold", "release", "debit"]


def test_another_total_after_an_expiry_waits_for_a_person_and_the_others_are_paid(upstream: Upstream):
    batch = released("531290000001;PLNPASCA\n531290000102;PLNPASCA\n")
    first, _second = rows_of(batch)
    assert first.bill_check
    assert first.max_price
    expire(first.bill_check)
    # As if the biller had given a lower total at the release.
    batch.rows.filter(line=1).update(max_price=first.max_price - 500, selling_price=first.selling_price - 500)
    was = batch.rows.get(line=1)

    send_all(batch)

    first, second = rows_of(batch)
    assert (first.state, first.fault, first.order) == ("wrong", "total_changed", None)
    assert (first.max_price, first.selling_price) == (was.max_price, was.selling_price)  # the released total
    assert second.order
    assert second.order.status == "success"
    assert (batch.state, batch.stopped_by) == ("paused", "BatchRefused:rows_wait")
    assert Order.objects.count() == 1
    resume(batch, actor=supervisor())
    send_all(batch)
    assert batch.state == "paused"  # it still waits


def test_a_changed_total_goes_into_a_new_batch_and_the_old_one_ends(upstream: Upstream):
    batch = released("531290000001;PLNPASCA\n")
    Product.objects.filter(code="PLNPASCA").update(fee=1_000)
    send_all(batch)
    assert [row.fault for row in rows_of(batch)] == ["total_changed"]

    other, _is_new = again(batch, actor=supervisor())
    ask_all(other)

    batch.refresh_from_db()
    assert (batch.state, batch.stopped_by) == ("ended", "")
    [row] = rows_of(other)
    assert (row.state, row.fee) == ("ready", 1_000)
    assert not Order.objects.exists()


def test_a_bill_that_was_paid_at_the_counter_meanwhile_is_not_paid_again(upstream: Upstream):
    batch = released("531290000001;PLNPASCA\n")
    [row] = rows_of(batch)
    assert row.bill_check
    other = check_bill(1)
    order = pay_bill(other, amount=other.total or 0, paid_by=None, enqueue=False)

    send_all(batch)

    [row] = rows_of(batch)
    assert row.state == "refused"
    assert [*Order.objects.all()] == [order]


def test_a_bill_is_asked_about_with_the_right_and_without_a_fresh_check_alone(upstream: Upstream):
    batch = checked(FOUR, make_person("auditor"))
    assert {row.fault for row in rows_of(batch)} == {"bill"}
    assert not BillCheck.objects.exists()

    check = check_bill(1)
    [row] = rows_of(asked(f"{check.destination};{check.product_code}\n"))

    assert (row.state, row.bill_check) == ("ready", check)
    assert BillCheck.objects.count() == 1


TWINS = "531290000001;PLNPASCA;Sari\n531290000001;PLNPASCA;Sari\n"


def test_a_bill_that_is_unticked_is_not_paid_by_its_twin(upstream: Upstream):
    batch = asked(TWINS)
    assert [row.fault for row in rows_of(batch)] == ["", "twice"]
    page = signed_in(supervisor()).get(batch.get_absolute_url()).content.decode()
    assert 'data-fault-group="twice"' in page
    assert ('value="leave_out"' in page, 'value="meant"' in page) == (True, False)
    with pytest.raises(BatchRefused) as refused:
        mend_all(batch, step="meant", actor=supervisor(), fault="twice")
    assert refused.value.reason == "not_repeatable"

    tick(batch, actor=supervisor(), ticked=[])

    ask_all(batch)
    assert [(row.state, row.fault) for row in rows_of(batch)] == [("left_out", ""), ("wrong", "twice")]
    assert (batch.next_at, BillCheck.objects.count()) == (None, 1)
    tick(batch, actor=supervisor(), ticked=[1])
    assert [(row.state, row.fault) for row in rows_of(batch)] == [("ready", ""), ("wrong", "twice")]
