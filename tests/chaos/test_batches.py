"""A batch whose worker is killed again and again: each row is charged at most once, and none is forgotten."""

import os
import random
import signal
import subprocess
import sys
import time

from django.utils import timezone

from batches.models import Batch
from batches.services import is_over, place_rows, release, seal_of
from ledger.models import Entry
from purchases.models import Order
from purchases.services.polling import follow
from purchases.states import ActionReason, Status
from testing.fleet import Fleet
from testing.sandbox_process import PROJECT, eventually
from tests.batches.helpers import CASH, ask_all, checked, released, rows_of, supervisor
from tests.conftest import Upstream

KILLS, ROWS = 20, 40
CREATE, PAY = "/v1/transaction/create", "/v1/bill/pay"


def table(rows: int, *, bills_each: int = 0) -> str:
    """A table of so many rows; one in every `bills_each` is a bill."""
    is_bill = [bills_each > 0 and row % bills_each == 0 for row in range(rows)]
    return "".join(
        f"5312{row:08d};PLNPASCA\n" if bill else f"0812{row:08d};10\n" for row, bill in enumerate(is_bill, 100)
    )


def test_killed_at_random_rows_twenty_times_each_row_is_charged_once(upstream: Upstream, fleet: Fleet, settings):
    upstream.control("topup", amount=50_000_000)  # each month has other bills
    batch = checked(table(ROWS, bills_each=6))
    ask_all(batch)
    release(batch, actor=supervisor(), seal=seal_of(batch), payment=CASH)
    moments = random.Random(26)
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.batches.worker"],
        cwd=PROJECT,
        env={**fleet.env, "DJANGO_SETTINGS_MODULE": "backoffice.settings"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin
    assert process.stdout
    assert process.stdout.readline() == "ready\n"
    for _kill in range(KILLS):
        before = Order.objects.count()
        process.stdin.write("\n")
        process.stdin.flush()
        pid = int(process.stdout.readline())
        # It has begun with a row of this turn, or with the orders that are left.
        eventually(lambda before=before: Order.objects.count() > min(before, ROWS - 1), within=60)
        time.sleep(moments.uniform(0, 0.08))
        os.kill(pid, signal.SIGKILL)
        assert process.stdout.readline() == "ended\n"
        # The leases are over.
        Batch.objects.filter(next_at__isnull=False).update(next_at=timezone.now())
        Order.objects.filter(next_poll_at__isnull=False).update(next_poll_at=timezone.now())
    process.stdin.close()
    process.wait()

    settings.ORDER_NOT_FOUND_GRACE_SECONDS = 0.5
    batch.refresh_from_db()
    while not is_over(batch):  # the last worker may have placed the last row, and left its order in progress
        if batch.state == "running":
            place_rows(batch.pk)
        for order in Order.objects.filter(batch_row__batch=batch, next_poll_at__isnull=False):
            follow(order, seconds=10)
        batch.refresh_from_db()

    assert_charged_once(upstream, batch, rows=ROWS)


def assert_charged_once(upstream: Upstream, batch: Batch, *, rows: int) -> None:
    """Assert that each row is one order, which arrived and was charged once, or was killed before a byte was sent."""
    orders = [row.order for row in rows_of(batch)]
    assert len({order.pk for order in orders if order}) == rows
    for order in orders:
        assert order
        kinds = list(Entry.objects.filter(ref_id=order.ref_id).order_by("pk").values_list("kind", flat=True))
        if order.kind == Order.Kind.BILL or order.status == Status.SUCCESS:
            is_bill = order.kind == Order.Kind.BILL
            assert order.status == Status.SUCCESS  # a bill that has not arrived is sent again, the identical request
            assert upstream.ledger(order) == [("debit", -(order.price or 0))]
            assert upstream.calls(order, "pay" if is_bill else "create") == [PAY if is_bill else CREATE]
            assert kinds == ["hold", "release", "debit"]
        else:  # killed after the claim and before a byte was sent: a person decides, nothing was charged
            assert (order.status, order.action_reason) == (Status.NEEDS_ACTION, ActionReason.NEVER_ARRIVED)
            assert upstream.ledger(order) == []
            assert upstream.calls(order, "create") == []


def test_the_real_workers_killed_on_the_way_then_all_rows_end(upstream: Upstream, fleet: Fleet):
    batch = released(table(12))
    fleet.env |= {"ORDER_LEASE_SECONDS": "3", "ORDER_NOT_FOUND_GRACE_SECONDS": "0.5"}
    fleet.start("background")
    eventually(lambda: Order.objects.count() >= 3, within=30)

    fleet.kill("background")
    Batch.objects.filter(next_at__isnull=False).update(next_at=timezone.now())
    fleet.start("background")

    eventually(lambda: is_over(Batch.objects.get()), within=120)
    assert_charged_once(upstream, batch, rows=12)
