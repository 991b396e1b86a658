"""The journal of sent orders: a line is on the disk before its request leaves, and its loss stops no sale."""

import datetime as dt
import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from core import disk_lines
from gateway.services import note_unwritten, note_written, upstream_account
from purchases.models import Order
from purchases.services import submit
from purchases.services.sent import read_lines
from purchases.states import Status
from testing import orders
from testing.factories import make_product, reported
from testing.orders import OneAnswer
from testing.people import make_person
from testing.sandbox_process import eventually
from tests.alerts.helpers import open_alerts
from upstream.budget import CallClass
from upstream.client import Reply
from upstream.error_codes import ErrorCode
from upstream.errors import Rejected
from upstream.messages import Transaction

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("sent_folder")]


class Watching(OneAnswer):
    """An upstream that reads the journal while it gets a request."""

    def __init__(self, order: Order, folder: Path) -> None:
        super().__init__(reported(order))
        self.folder, self.seen = folder, dict[str, Any]()

    def send(self, *_: Any) -> Reply[Transaction]:
        self.seen = read_lines(self.folder, account="")
        return self.answer


class Busy(OneAnswer):
    """An upstream that accepts no more requests at the moment."""

    def send(self, *_: Any) -> Reply[Transaction]:
        raise Rejected(ErrorCode.RATE_LIMITED, "", 429, 1.0)


def test_the_line_is_on_the_disk_before_the_request_leaves(sent_folder, monkeypatch):
    seller = make_person("cashier")
    order = orders.place(placed_by=seller)
    upstream = Watching(order, sent_folder)

    orders.send(order, upstream, monkeypatch)

    line = upstream.seen[order.ref_id]
    assert Order.objects.get().status == Status.SUCCESS
    assert (line["product_code"], line["destination"]) == (order.product_code, order.destination)
    assert (line["max_price"], line["selling_price"], line["attempt"]) == (10_500, order.selling_price, 1)
    assert (line["seller"], line["seller_name"]) == (seller.pk, seller.username)
    assert line["idempotency_key"] == order.idempotency_key
    assert (line["payment"]["method"], line["payment"]["amount"]) == ("cash", order.customer_pays)
    assert line["approval"] is None
    assert line["bill"] is None


def test_each_sending_has_its_line_and_the_last_one_counts(sent_folder, monkeypatch):
    order = orders.place(make_product())
    orders.send(order, Busy(reported(order)), monkeypatch)
    assert Order.objects.get().status == Status.QUEUED

    orders.send(order, OneAnswer(reported(order)), monkeypatch)

    (day,) = sent_folder.iterdir()
    assert day.read_text().count(order.ref_id) == 2
    assert read_lines(sent_folder, account="")[order.ref_id]["attempt"] == 2


def test_the_newest_line_of_an_order_counts_in_whatever_file_it_is(sent_folder):
    # given the journals of two machines: the second sending is in the file that is read first
    sent_folder.mkdir()
    for machine, time, attempt in (("a", "10:00", 2), ("b", "09:00", 1)):
        line = {"ref_id": "B261120-1", "account": "", "time": f"2026-11-20T{time}:00+00:00", "attempt": attempt}
        (sent_folder / f"2026-11-20-{machine}.jsonl").write_text(json.dumps(line) + "\n")

    assert read_lines(sent_folder, account="")["B261120-1"]["attempt"] == 2


def test_without_its_line_a_sale_goes_on_and_an_alert_says_so(sent_folder, monkeypatch):
    sent_folder.write_text("no folder")
    order = orders.place()

    orders.send(order, OneAnswer(reported(order)), monkeypatch)

    assert Order.objects.get().status == Status.SUCCESS
    assert set(upstream_account().unwritten) == {order.ref_id}
    assert ("sent_unwritten", "written") in open_alerts()

    # a line that comes late says nothing of another one
    note_unwritten("B-2")
    note_written("B-2")
    account = upstream_account()
    assert set(account.unwritten) == {order.ref_id}
    assert account.unwritten_at == dt.datetime.fromisoformat(account.unwritten[order.ref_id])
    assert ("sent_unwritten", "written") in open_alerts()


def test_a_line_that_comes_late_ends_its_alert(sent_folder, monkeypatch):
    answers, append = threading.Event(), disk_lines.DiskLines._append
    monkeypatch.setattr(disk_lines, "PATIENCE_SECONDS", 0.05)
    monkeypatch.setattr(disk_lines.DiskLines, "_append", lambda self, text: answers.wait(30) and append(self, text))
    first, second = orders.place(), orders.place(make_product())

    # when: the disk does not answer, the sales go on
    for order in (first, second):
        orders.send(order, OneAnswer(reported(order)), monkeypatch)
    assert set(Order.objects.values_list("status", flat=True)) == {Status.SUCCESS}
    assert set(upstream_account().unwritten) == {first.ref_id, second.ref_id}
    assert ("sent_unwritten", "written") in open_alerts()

    # when: it answers late, both lines are there, and no other fault is logged
    answers.set()
    eventually(lambda: upstream_account().unwritten == {}, within=10)
    assert set(read_lines(sent_folder, account="")) == {first.ref_id, second.ref_id}
    assert upstream_account().unwritten_at is None
    assert ("sent_unwritten", "written") not in open_alerts()


def test_a_line_that_waits_to_be_copied_is_an_alert(sent_folder, settings, monkeypatch):
    order = orders.place()
    orders.send(order, OneAnswer(reported(order)), monkeypatch)
    settings.BACKUP_TO = str(sent_folder.parent)
    (day,) = sent_folder.iterdir()
    assert ("sent_unwritten", "copied") not in open_alerts()

    day.write_text(day.read_text().replace(f"{Order.objects.get().sent_at:%Y-%m-%d}", "2026-01-01"))
    assert ("sent_unwritten", "copied") in open_alerts()

    (sent_folder / "copied").touch()
    assert ("sent_unwritten", "copied") not in open_alerts()


def test_given_a_busy_shop_then_the_first_uncopied_line_counts(sent_folder, settings):
    # given: lines of so many seconds ago; those until 300 seconds ago are copied, except one that was written late
    now = dt.datetime.now(dt.UTC)
    sent_folder.mkdir()
    day, copied = sent_folder / f"{now:%Y%m%d}.jsonl", sent_folder / "copied"
    settings.BACKUP_TO = str(sent_folder.parent)
    for waits, alerts in (([600, 90, 1], True), ([600, 30, 1], False), ([600, 400], True)):
        lines = [json.dumps({"time": (now - dt.timedelta(seconds=wait)).isoformat()}) for wait in waits]
        day.write_text("\n" + "\n\n".join(lines) + "\n")
        copied.touch()
        os.utime(copied, (now.timestamp() - 300,) * 2)
        os.utime(day, (now.timestamp() - min(waits[-1], 299),) * 2)

        assert (("sent_unwritten", "copied") in open_alerts()) is alerts, waits


def test_an_order_that_is_not_sent_has_no_line(sent_folder):
    order = orders.place()
    Order.objects.update(status=Status.CANCELLED, next_poll_at=None, final_at=order.created_at, ended_no=1)

    submit(order.pk, call_class=CallClass.INTERACTIVE)

    assert not sent_folder.exists()
