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

    answer = post(body)

    assert answer.status_code == 200
    callback = Callback.objects.get()
    assert bytes(callback.body) == body
    assert (callback.ref_id, callback.event, callback.delivery_id) == (order.ref_id, "transaction.success", "d-1")
    assert (callback.source_address, callback.is_signed, callback.state) == ("127.0.0.1", True, "received")
    assert not OrderEvent.objects.exists()


def test_an_address_typed_without_its_last_slash_takes_callbacks():
    body = body_for(make_order(Status.PENDING))

    answer = Client().post(
        URL.rstrip("/"), data=body, content_type="application/json", headers={"X-Signature": sign(body)}
    )

    assert answer.status_code == 200
    assert bytes(Callback.objects.get().body) == body


def test_the_signature_is_not_stored_with_the_headers():
    post(body_for(make_order(Status.PENDING)), headers={"Cookie": "sessionid=abc", "X-Event": "transaction.success"})

    kept = {name.lower() for name in Callback.objects.get().headers}
    assert "x-event" in kept
    assert not kept & {"x-signature", "cookie", "authorization"}


def test_the_same_bytes_again_are_counted_under_any_delivery_id():
    body = body_for(make_order(Status.PENDING))  # signed long ago, and overheard by a stranger

    answers = [post(body, headers={"X-Delivery-Id": name}).status_code for name in ("d-1", "d-1", "new-1", "new-2")]

    assert answers == [200] * 4
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


def test_the_same_delivery_id_with_other_bytes_is_a_new_callback():
    order = make_order(Status.PENDING)

    post(body_for(order, "success"))
    post(body_for(order, "failed"))

    assert Callback.objects.count() == 2


def test_an_unknown_ref_id_is_stored_and_answered_200():
    order = make_order(Status.PENDING)
    body = body_for(order).replace(order.ref_id.encode(), b"never-seen")

    assert post(body).status_code == 200
    assert Callback.objects.get().ref_id == "never-seen"


def test_a_body_not_genuine_is_403_counted_and_not_stored():
    body = body_for(make_order(Status.PENDING))

    for signature in ("", "0" * 64, sign(body + b" "), "ü"):
        assert post(body, signature=signature).status_code == 403

    assert not Callback.objects.exists()
    assert CallbackRefusalCount.objects.get().count == 4


def test_only_the_last_refusals_are_described_but_all_counted(monkeypatch):
    monkeypatch.setattr(CallbackRefusal, "KEPT", 3)
    for _ in range(8):
        post(b"{}", signature="wrong")

    assert CallbackRefusal.objects.count() == 3
    assert CallbackRefusalCount.objects.get().count == 8


def test_a_body_over_64_kib_is_413():
    body = b'{"x": "' + b"a" * (64 * 1024) + b'"}'

    assert post(body).status_code == 413
    assert post(b'{"x": "' + b"a" * (64 * 1024 - 10) + b'"}').status_code == 200


def test_anything_but_json_is_415():
    for content_type in ["text/plain", "application/x-www-form-urlencoded", "text/json"]:
        assert post(b"{}", content_type=content_type).status_code == 415, content_type


def test_json_that_is_not_strict_is_400_even_when_signed():
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


@pytest.mark.parametrize("accept", ["text/plain", "image/png", "garbage"])
def test_a_callback_is_not_lost_over_what_its_sender_accepts(accept):
    assert post(body_for(make_order(Status.PENDING)), headers={"Accept": accept}).status_code == 200


def test_other_methods_are_405():
    for method in ["get", "put", "delete", "patch"]:
        assert getattr(Client(), method)(URL).status_code == 405, method


def test_no_csrf_token_is_asked_for():
    body = body_for(make_order(Status.PENDING))
    headers = {"X-Signature": sign(body)}

    answer = Client(enforce_csrf_checks=True).post(URL, body, content_type="application/json", headers=headers)

    assert answer.status_code == 200


def test_given_registered_addresses_only_they_may_call(settings):
    settings.UPSTREAM_CALLBACK_ALLOWED_IPS = ["10.1.0.0/16", "2001:db8::/32"]
    body = body_for(make_order(Status.PENDING))

    assert post(body, REMOTE_ADDR="10.2.0.1").status_code == 403
    assert post(body, REMOTE_ADDR="10.1.2.3").status_code == 200
    assert post(body, REMOTE_ADDR="::ffff:10.1.2.3").status_code == 200
    assert post(body, REMOTE_ADDR="2001:db8::7").status_code == 200


def test_a_forwarded_address_counts_only_behind_a_trusted_proxy(settings):
    settings.UPSTREAM_CALLBACK_ALLOWED_IPS = ["10.1.2.3"]
    body = body_for(make_order(Status.PENDING))
    forged = {"headers": {"X-Forwarded-For": "10.1.2.3"}}

    assert post(body, REMOTE_ADDR="10.9.9.9", **forged).status_code == 403

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
