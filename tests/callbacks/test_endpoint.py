"""The callback address: it checks strictly, stores first, and answers before any work."""

import hashlib
import hmac
import logging
from unittest import mock

import pytest
import structlog
from django.conf import settings as django_settings
from django.db import DatabaseError
from django.test import Client

from callbacks import refusals
from callbacks.models import Callback, CallbackRefusal, CallbackRefusalCount, RefusalReason
from purchases.models import OrderEvent
from purchases.states import Status
from testing.callbacks import URL, body_for, post, sign
from testing.factories import make_order
from upstream.config import Config

pytestmark = pytest.mark.django_db


def test_a_genuine_callback_is_stored_and_no_order_is_changed():
    order = make_order(Status.PENDING)
    body = body_for(order)

    answer = post(body, headers={"Cookie": "sessionid=abc", "X-Event": "transaction.success"})

    assert answer.status_code == 200
    callback = Callback.objects.get()
    assert bytes(callback.body) == body
    assert (callback.ref_id, callback.event, callback.delivery_id) == (order.ref_id, "transaction.success", "d-1")
    assert (callback.source_address, callback.is_signed, callback.state) == ("127.0.0.1", True, "received")
    assert not OrderEvent.objects.exists()
    kept = {name.lower() for name in callback.headers}
    assert "x-event" in kept
    assert not kept & {"x-signature", "cookie", "authorization"}

    # the same bytes again are counted under any delivery ID; other bytes under the same one are a new callback
    for name in ("d-1", "new-1", "new-2"):  # signed long ago, and overheard by a stranger
        assert post(body, headers={"X-Delivery-Id": name}).status_code == 200
    assert Callback.objects.get().repeats == 3
    assert post(body_for(order, "failed")).status_code == 200
    assert Callback.objects.count() == 2


def test_a_callback_is_stored_however_its_sender_asks():
    order = make_order(Status.PENDING)
    body = body_for(order).replace(order.ref_id.encode(), b"never-seen")
    headers = {"X-Signature": sign(body)}

    # without the last slash, and without a token against forged forms
    answer = Client(enforce_csrf_checks=True).post(
        URL.rstrip("/"), data=body, content_type="application/json", headers=headers
    )

    assert answer.status_code == 200
    assert (bytes(Callback.objects.get().body), Callback.objects.get().ref_id) == (body, "never-seen")
    for accept in ("text/plain", "image/png", "garbage"):
        assert post(body, headers={"Accept": accept}).status_code == 200, accept
    assert Callback.objects.get().repeats == 3


def test_the_key_before_signs_callbacks_while_keys_are_exchanged(settings):
    body = body_for(make_order(Status.PENDING))
    signature = hmac.new(b"the-key-before", body, hashlib.sha256).hexdigest()
    assert post(body, signature=signature).status_code == 403

    settings.UPSTREAM_SECRET_KEY_PREVIOUS = "the-key-before"

    assert post(body, signature=signature).status_code == 200
    assert post(body).status_code == 200
    assert post(body, signature="0" * 64).status_code == 403
    assert Config.from_settings().secret_key == settings.UPSTREAM_SECRET_KEY


def test_a_flood_of_refusals_costs_no_statement_and_no_line_each(monkeypatch, caplog, django_assert_max_num_queries):
    monkeypatch.setattr(refusals, "SECONDS", 600.0)
    monkeypatch.setattr(refusals, "_due", 0.0)
    monkeypatch.setattr(refusals.threading, "Timer", mock.Mock())  # nobody writes but this test
    with structlog.testing.capture_logs() as lines, django_assert_max_num_queries(8):
        for _ in range(200):
            assert post(b"{}", signature="wrong").status_code == 403
    assert len([line for line in lines if line["event"] == "callbacks_rejected"]) <= 1
    assert caplog.records == []

    refusals.write()

    assert CallbackRefusalCount.objects.get().count == 200
    assert CallbackRefusal.objects.count() <= 1 + refusals._DESCRIBED


def test_counts_wait_for_a_database_that_is_away(monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(refusals, "_COUNT", "SELECT %s, %s, %s, away")
        with pytest.raises(DatabaseError):
            refusals.count_refusal(reason=RefusalReason.SIGNATURE, source_address=None, size=1)

    refusals.write()

    assert CallbackRefusalCount.objects.get().count == 1


def test_a_body_not_genuine_is_403_counted_and_not_stored(monkeypatch):
    monkeypatch.setattr(CallbackRefusal, "KEPT", 3)
    body = body_for(make_order(Status.PENDING))

    for signature in ("", "0" * 64, sign(body + b" "), "ü"):
        assert post(body, signature=signature).status_code == 403

    assert not Callback.objects.exists()
    assert CallbackRefusalCount.objects.get().count == 4
    assert CallbackRefusal.objects.count() == 3, "only the last are described"


def test_what_is_not_strict_json_is_refused_even_when_signed():
    for method in ("get", "put", "delete", "patch"):
        assert getattr(Client(), method)(URL).status_code == 405, method
    for content_type in ("text/plain", "application/x-www-form-urlencoded", "text/json"):
        assert post(b"{}", content_type=content_type).status_code == 415, content_type
    for body in [
        b" ",
        b"{",
        b"[]",
        b'"text"',
        b"[" * 60_000,
        b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
        b'{"data": 1, "data": 2}',
        b'{"price": 1e400}',
        b'{"price": NaN}',
        b'{"sn": "a\\u0000b"}',
        b'{"sn": "\\ud800"}',
        b"\xff\xfe{}",
        b'{"price": ' + b"9" * 5000 + b"}",
    ]:
        answer = post(body)

        assert answer.status_code == 400, body
        assert not Callback.objects.exists(), body
    # the body is at most 64 KiB long
    assert post(b'{"x": "' + b"a" * (64 * 1024) + b'"}').status_code == 413
    assert post(b'{"x": "' + b"a" * (64 * 1024 - 10) + b'"}').status_code == 200


def test_given_registered_addresses_only_they_may_call(settings):
    settings.UPSTREAM_CALLBACK_ALLOWED_IPS = ["10.1.0.0/16", "2001:db8::/32"]
    body = body_for(make_order(Status.PENDING))
    forged = {"headers": {"X-Forwarded-For": "10.1.2.3"}}

    assert post(body, REMOTE_ADDR="10.2.0.1").status_code == 403
    assert post(body, REMOTE_ADDR="10.1.2.3").status_code == 200
    assert post(body, REMOTE_ADDR="::ffff:10.1.2.3").status_code == 200
    assert post(body, REMOTE_ADDR="2001:db8::7").status_code == 200
    assert post(body, REMOTE_ADDR="10.9.9.9", **forged).status_code == 403

    # a forwarded address counts only behind a trusted proxy
    settings.TRUSTED_PROXY_COUNT = 1
    chain = {"headers": {"X-Forwarded-For": "6.6.6.6, 10.1.2.3"}}
    assert post(body, REMOTE_ADDR="10.9.9.9", **chain).status_code == 200


def test_with_md5_ref_the_callback_is_stored_as_a_hint_only(settings):
    settings.UPSTREAM_CALLBACK_VERIFIER = "md5_ref"
    order = make_order(Status.PENDING)
    text = f"{settings.UPSTREAM_SECRET_ID}:{settings.UPSTREAM_SECRET_KEY}:{order.ref_id}"

    answer = post(body_for(order), signature=hashlib.md5(text.encode()).hexdigest())  # noqa: S324

    assert answer.status_code == 200
    assert Callback.objects.get().is_signed is False


def test_neither_secret_nor_signature_reaches_the_log(caplog):
    caplog.set_level(logging.DEBUG)
    body = body_for(make_order(Status.PENDING))

    post(body)
    post(body, signature="0" * 64)

    assert sign(body) not in caplog.text
    assert django_settings.UPSTREAM_SECRET_KEY not in caplog.text
