"""The pages about callbacks: found, shown safely, processed again."""

import hashlib
import html
import json
import re

import pytest

from callbacks.models import Receipt, Refusal, RefusalCount
from purchases.order_life import Status
from tests.factories import make_order, reported

pytestmark = pytest.mark.django_db


def words(answer) -> str:
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", answer.content.decode())))


def make_receipt(body: bytes = b"{}", **facts) -> Receipt:
    facts = {"state": Receipt.State.APPLIED, "is_signed": True, "headers": {"X-Event": "e"}, **facts}
    return Receipt.objects.create(body=body, content_hash=hashlib.sha256(body).hexdigest(), **facts)


def test_callbacks_are_listed_newest_first_and_found_by_ref_id_and_state(auditor):
    make_receipt(ref_id="A-1", delivery_id="d-1", event="transaction.success")
    make_receipt(ref_id="B-2", delivery_id="d-2", event="transaction.failed", state="unmatched")

    def refs(query):
        return re.findall(r'class="c-ref mono nowrap">([^<]+)<', auditor.get(f"/callbacks/{query}").content.decode())

    assert refs("") == ["B-2", "A-1"]
    assert refs("?q=a-") == ["A-1"]
    assert refs("?q=d-2") == ["B-2"]
    assert refs("?state=unmatched") == ["B-2"]
    assert refs("?q=%00&state=nonsense") == ["B-2", "A-1"]


def test_a_callback_shows_its_order_its_headers_and_its_bytes(auditor):
    order = make_order(Status.SUCCESS)
    receipt = make_receipt(
        json.dumps({"data": {"ref_id": order.ref_id}}).encode(),
        ref_id=order.ref_id,
        headers={"X-Event": "transaction.success"},
        source_address="203.0.113.9",
        result="pending → success",
        repeats=2,
    )

    page = auditor.get(f"/callbacks/{receipt.pk}/")

    for fact in (order.ref_id, "X-Event", "transaction.success", "203.0.113.9", "pending → success", "2 times"):
        assert fact in words(page)
    assert f"/orders/{order.ref_id}/" in page.content.decode()


@pytest.mark.parametrize(
    "body", [b"<script>alert(1)</script>", b"\xff\xfe\x00 broken", b'{"a": "<img src=x onerror=1>"}', b"", b"[" * 5000]
)
def test_whatever_the_bytes_are_they_are_shown_as_text(auditor, body):
    receipt = make_receipt(body, event="<b>bold</b>", headers={"<i>": "<u>"})

    page = auditor.get(f"/callbacks/{receipt.pk}/")

    assert page.status_code == 200
    for markup in (b"<script>alert", b"<img", b"<b>bold", b"<i>", b"<u>"):
        assert markup not in page.content


def test_a_callback_can_be_processed_again_by_those_who_may(admin, auditor):
    order = make_order(Status.PENDING)
    data = reported(order).model_dump(mode="json")
    body = json.dumps({"event": "transaction.success", "timestamp": "2026-08-22T10:00:12+07:00", "data": data}).encode()
    receipt = make_receipt(body, ref_id=order.ref_id, state="unmatched", event="transaction.success")

    assert "Process again" not in words(auditor.get(f"/callbacks/{receipt.pk}/"))
    assert auditor.post(f"/callbacks/{receipt.pk}/process/").status_code == 403
    answer = admin.post(f"/callbacks/{receipt.pk}/process/", follow=True)

    order.refresh_from_db()
    assert order.status == Status.SUCCESS
    assert "Processed again: pending → success" in words(answer)


def test_one_that_still_waits_is_not_processed_twice(admin):
    receipt = make_receipt(state="received")

    assert "Process again" not in words(admin.get(f"/callbacks/{receipt.pk}/"))
    assert "still waits to be processed" in words(admin.post(f"/callbacks/{receipt.pk}/process/", follow=True))


def test_what_was_turned_away_is_counted_and_described(auditor):
    from django.utils import timezone

    RefusalCount.objects.create(day=timezone.localdate(), reason="bad signature", count=1_234)
    Refusal.objects.create(reason="bad signature", source_address="198.51.100.7", size=77)

    page = words(auditor.get("/callbacks/"))

    assert "1234" in page.replace(",", "").replace(".", "")
    assert "198.51.100.7" in page


def test_an_unknown_callback_is_a_404(auditor):
    assert auditor.get("/callbacks/999999/").status_code == 404


def test_no_callbacks_and_none_that_match_are_two_different_things(auditor):
    assert "No callbacks yet" in words(auditor.get("/callbacks/"))
    make_receipt()
    assert "No callback matches" in words(auditor.get("/callbacks/?q=zzz"))
