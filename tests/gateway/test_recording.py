"""The kept parts of each exchange, and the parts that are never kept: secrets and signatures."""

import json
from functools import partial
from typing import Any

import pytest
from django.db import connection

from catalogue.models import Product, ProductType
from core.tracing import begin_trace, end_trace
from gateway.models import Exchange
from gateway.services import call, read_balance, reserve
from purchases.services import submit
from testing.orders import place
from tests.conftest import Upstream
from tests.upstream.scripted_upstream import ScriptedUpstream
from upstream import requests
from upstream.budget import CallClass
from upstream.endpoints import Endpoint
from upstream.errors import OutcomeUnknown, Rejected, UpstreamError
from upstream.requests import sign


def everything_stored() -> str:
    """Every row of every table of ours, as text; bytes as text too."""
    with connection.cursor() as cursor:
        kept = []
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT row_to_json(stored)::text FROM "{table}" stored')  # noqa: S608
            kept += [row for (row,) in cursor.fetchall()]
        cursor.execute("SELECT encode(body, 'escape') FROM callbacks_callback")
        kept += [row for (row,) in cursor.fetchall()]
    return "\n".join(kept)


def test_an_exchange_keeps_what_was_asked_and_how_it_went(upstream: Upstream):
    begin_trace()
    try:
        order = place(Product.objects.get(name="Telkomsel 10.000"), destination="081290000001")
        submit(order.pk, call_class=CallClass.INTERACTIVE)
    finally:
        end_trace()

    kept = Exchange.objects.get(ref_id=order.ref_id)
    asked = {"product_code": order.product_code, "destination": order.destination, "max_price": order.max_price}
    assert (kept.request, kept.raw["data"]["ref_id"]) == (asked, order.ref_id)
    assert (kept.http_status, kept.attempt, kept.error, len(kept.trace_id)) == (200, 1, "", 32)
    assert 0 < kept.latency_ms <= 1_000  # the longest that a call may take here
    assert kept.waited_ms >= 0


def test_of_lists_and_balances_only_size_and_digest_stay(upstream: Upstream):
    call(requests.products())
    read_balance()

    exchanges = list(Exchange.objects.filter(endpoint__in=[Endpoint.PRODUCTS, Endpoint.BALANCE]))
    assert {kept.endpoint for kept in exchanges} == {Endpoint.PRODUCTS, Endpoint.BALANCE}
    for kept in exchanges:
        assert kept.raw.keys() == {"bytes", "sha256"}
        assert kept.raw["bytes"] > 0


def test_a_long_answer_stays_only_as_size_and_digest_and_one_that_is_no_json_keeps_its_beginning(
    scripted: ScriptedUpstream,
):
    scripted.answers(200, {"code": 200, "status": "success", "data": {"long": "x" * 70_000}})
    with pytest.raises(OutcomeUnknown):
        call(requests.transaction_status(ref_id="R1"))
    scripted.answers(502, b"<h1>Bad gateway</h1>" + b" " * 5_000)
    with pytest.raises(OutcomeUnknown):
        call(requests.transaction_status(ref_id="R2"))

    kept = Exchange.objects.get(ref_id="R1")
    assert kept.raw["bytes"] > 70_000
    assert kept.error.startswith("OutcomeUnknown: malformed")
    kept = Exchange.objects.get(ref_id="R2")
    assert kept.raw["text"].startswith("<h1>Bad gateway</h1>")
    assert len(kept.raw["text"]) == 2_000
    assert (kept.error, kept.http_status) == ("OutcomeUnknown: http_502", 502)


def test_what_repeats_our_secrets_is_masked_before_kept(scripted: ScriptedUpstream, settings: Any):
    def repeat(connection: Any, received: Any, before: bytes) -> bool:
        body = before + json.dumps({"key": "our-very-secret-key", **received.body}).encode()
        connection.sendall(f"HTTP/1.1 200 X\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        return False

    for before in (b"", b"no json "):
        scripted.behaviour = partial(repeat, before=before)
        with pytest.raises(UpstreamError):
            call(requests.transaction_status(ref_id="R1"))

    signature = sign(secret_id="our-secret-id", secret_key=settings.UPSTREAM_SECRET_KEY, ref_id="R1")
    assert [signature in request.body.values() for request in scripted.requests] == [True, True]
    assert Exchange.objects.filter(ref_id="R1").count() == 2
    stored = everything_stored()
    assert "R1" in stored
    assert signature not in stored
    assert settings.UPSTREAM_SECRET_KEY not in stored


def test_given_sales_then_no_row_holds_secret_or_signature(upstream: Upstream, settings: Any):
    order = place(Product.objects.get(name="Telkomsel 10.000"), destination="081290000001")
    submit(order.pk, call_class=CallClass.INTERACTIVE)
    call(requests.transaction_status(ref_id=order.ref_id))
    biller = Product.objects.filter(type=ProductType.POSTPAID).first()
    call(requests.bill_inquiry(ref_id="BILL1", product_code=biller.code, destination="1234567890"))
    permit = reserve(Endpoint.BILL_PAY, call_class=CallClass.INTERACTIVE)
    with pytest.raises(Rejected):
        call(requests.bill_pay(ref_id="BILL2", amount=1), permit=permit)

    stored, secret_id, key = everything_stored(), settings.UPSTREAM_SECRET_ID, settings.UPSTREAM_SECRET_KEY
    signatures = [sign(secret_id=secret_id, secret_key=key, ref_id=no) for no in (order.ref_id, "BILL1", "BILL2", None)]
    assert order.ref_id in stored
    assert [secret for secret in (key, *signatures) if secret in stored] == []
