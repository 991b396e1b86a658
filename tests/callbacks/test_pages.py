"""The pages about callbacks: found, shown safely, processed again."""

import json
import secrets

import pytest
from django.utils import timezone, translation

from callbacks.models import Callback, CallbackRefusal, CallbackRefusalCount, CallbackState, RefusalReason
from purchases.states import Status
from testing.factories import make_order, reported
from tests.core.helpers import cells, codes, has_id, words

pytestmark = pytest.mark.django_db


def succeeded() -> str:
    """A page's words about an order that became a success; the browser of these tests reads English."""
    with translation.override("en"):
        return f"{Status.PENDING.label} → {Status.SUCCESS.label}"


def make_callback(body: bytes = b"{}", **facts) -> Callback:
    facts = {"state": CallbackState.APPLIED, "is_signed": True, "headers": {"X-Event": "e"}, **facts}
    return Callback.objects.create(body=body, content_hash=secrets.token_hex(32), **facts)


def test_callbacks_list_newest_first_and_by_ref_id_and_state(auditor):
    assert has_id(auditor.get("/callbacks/"), "none-yet")
    make_callback(ref_id="A-1", delivery_id="d-1", event="transaction.success", result="pending → success")
    make_callback(ref_id="B-2", delivery_id="d-2", event="transaction.failed", state="unmatched")
    CallbackRefusalCount.objects.create(day=timezone.localdate(), reason=RefusalReason.SIGNATURE, count=1_234)
    CallbackRefusal.objects.create(reason=RefusalReason.SIGNATURE, source_address="198.51.100.7", size=77)

    def refs(query):
        return cells(auditor.get(f"/callbacks/{query}"), "ref")

    assert refs("") == ["B-2", "A-1"]
    assert refs("?q=a-") == ["A-1"]
    assert refs("?q=d-2") == ["B-2"]
    assert refs("?state=unmatched") == ["B-2"]
    assert refs("?state=nonsense") == ["B-2", "A-1"]
    assert refs("?q=%00") == []
    assert has_id(auditor.get("/callbacks/?q=zzz"), "none-matches")

    # what was rejected is counted and described
    page = words(auditor.get("/callbacks/"))
    assert "1234" in page.replace(",", "").replace(".", "")
    assert "198.51.100.7" in page

    indonesian = auditor.get("/callbacks/?q=a-", headers={"Accept-Language": "id"})
    assert cells(indonesian, "status") == ["Selesai"]
    assert cells(indonesian, "result") == ["Diproses → Sukses"]


def test_a_callback_shows_its_order_its_headers_and_its_bytes(auditor):
    order = make_order(Status.SUCCESS)
    callback = make_callback(
        json.dumps({"data": {"ref_id": order.ref_id}}).encode(),
        ref_id=order.ref_id,
        headers={"X-Event": "transaction.success"},
        source_address="203.0.113.9",
        result="pending → success",
        repeats=2,
    )

    page = auditor.get(f"/callbacks/{callback.pk}/")

    for fact in (order.ref_id, "X-Event", "transaction.success", "203.0.113.9", succeeded()):
        assert fact in words(page)
    assert f"/orders/{order.ref_id}/" in page.content.decode()


def test_whatever_the_bytes_are_they_are_shown_as_text(auditor):
    for body in [
        b"<script>alert(1)</script>",
        b"\xff\xfe\x00 broken",
        b'{"a": "<img src=x onerror=1>"}',
        b"",
        b"[" * 5000,
    ]:
        callback = make_callback(body, event="<b>bold</b>", headers={"<i>": "<u>"})

        page = auditor.get(f"/callbacks/{callback.pk}/")

        assert page.status_code == 200, body
        for markup in (b"<script>alert", b"<img", b"<b>bold", b"<i>", b"<u>"):
            assert markup not in page.content, body


def test_a_callback_can_be_processed_again_by_those_who_may(admin, auditor):
    order = make_order(Status.PENDING)
    data = reported(order).model_dump(mode="json")
    body = json.dumps({"event": "transaction.success", "timestamp": "2026-08-22T10:00:12+07:00", "data": data}).encode()
    callback = make_callback(body, ref_id=order.ref_id, state="unmatched", event="transaction.success")

    assert not has_id(auditor.get(f"/callbacks/{callback.pk}/"), "process-again")
    assert auditor.post(f"/callbacks/{callback.pk}/process/").status_code == 403
    answer = admin.post(f"/callbacks/{callback.pk}/process/", follow=True)

    order.refresh_from_db()
    assert order.status == Status.SUCCESS
    assert succeeded() in words(answer)


def test_a_fault_of_ours_may_be_tried_again_and_one_that_still_waits_not(admin):
    callback = make_callback(state="received", tries=3, fault="RuntimeError: no such thing")
    assert "RuntimeError: no such thing" in cells(admin.get("/callbacks/"), "result")[0]
    page = admin.get(f"/callbacks/{callback.pk}/")
    assert has_id(page, "fault")
    assert has_id(page, "process-again")

    waiting = make_callback(state="received")
    assert not has_id(admin.get(f"/callbacks/{waiting.pk}/"), "process-again")
    assert codes(admin.post(f"/callbacks/{waiting.pk}/process/", follow=True)) == {"StillWaiting"}
    assert admin.get("/callbacks/999999/").status_code == 404


def test_a_fault_of_ours_shows_no_number_without_the_right(auditor):
    callback = make_callback(state="received", tries=2, fault="KeyError: '081377077077'")

    addresses = ("/callbacks/", f"/callbacks/{callback.pk}/", "/work/?kind=callback")
    pages = [auditor.get(address).content.decode() for address in addresses]

    assert ["0813•••••077" in page for page in pages] == [True, True, True]
    assert ["081377077077" in page for page in pages] == [False, False, False]


def test_a_destination_is_masked_whole_also_if_it_came_as_a_number(auditor):
    def shown(body: str) -> str:
        return auditor.get(f"/callbacks/{make_callback(body.encode()).pk}/").content.decode()

    others = {"destination": "081234567890123", "message": "sent to 081234567890123"}
    page = shown(json.dumps({"data": {"destination": "08123456789", "others": others}}))
    assert ("sent to 0812••••••••123" in page, "7890123" in page) == (True, False)

    for number in ("81234567890", "81234567890.0", "8.123456789e10"):
        page = shown(f'{{"data": {{"destination": {number}, "message": "sent to 6281234567890"}}}}')
        assert ("sent to 628123••••890" in page, "2345678" in page) == (True, False), number
