"""The client's requests, and its reading of the answers."""

import json
import socket
from datetime import UTC, datetime
from typing import Any

import pytest
from pytest_django.fixtures import Settings
from structlog.testing import capture_logs

from core.tracing import begin_trace, end_trace
from tests.upstream.helpers import BUY, INQUIRY, PRODUCT, TRANSACTION, bought, buy, error, send, success
from tests.upstream.scripted_upstream import ScriptedUpstream, signature_of
from upstream import requests
from upstream.client import Client, get_client
from upstream.config import Rate
from upstream.errors import Rejected
from upstream.messages import InquiryStatus, TransactionStatus
from upstream.requests import Request

CALLS: list[tuple[Request[Any], str, Any, dict[str, Any]]] = [
    (requests.balance(), "/v1/balance", {"balance": 5}, {}),
    (requests.categories(), "/v1/categories", {"categories": []}, {}),
    (requests.brands(), "/v1/brands", {"brands": []}, {}),
    (requests.products(), "/v1/products", {"products": [PRODUCT]}, {}),
    (requests.create_transaction(**BUY, max_price=9), "/v1/transaction/create", TRANSACTION, {**BUY, "max_price": 9}),
    (requests.create_transaction(**BUY, max_price=None), "/v1/transaction/create", TRANSACTION, BUY),
    (requests.transaction_status(ref_id="R1"), "/v1/transaction/status", TRANSACTION, {"ref_id": "R1"}),
    (requests.bill_inquiry(**BUY), "/v1/bill/inquiry", INQUIRY, BUY),
    (requests.bill_pay(ref_id="R1", amount=9), "/v1/bill/pay", TRANSACTION, {"ref_id": "R1", "amount": 9}),
    (requests.bill_pay(ref_id="R1", amount=None), "/v1/bill/pay", TRANSACTION, {"ref_id": "R1"}),
]


def test_each_request_is_signed_json_and_returns_the_data(upstream: ScriptedUpstream, client: Client) -> None:
    for made, path, data, sent in CALLS:
        upstream.answers(200, success(data))
        upstream.requests.clear()
        before = datetime.now(UTC)

        answer = send(client, made)

        [request] = upstream.requests
        signature = signature_of(client, "R1" if "ref_id" in sent else None)
        assert request.path == path
        assert request.body == {"secret_id": client.config.secret_id, "signature": signature, **sent}, path
        assert request.headers["content-type"] == "application/json", path
        assert request.headers["user-agent"] == "merchant-backoffice", path
        assert answer.raw == success(data), path
        assert before <= answer.sent_at <= answer.received_at <= datetime.now(UTC), path


def test_a_call_goes_on_with_the_trace_that_it_is_made_in(upstream: ScriptedUpstream, client: Client) -> None:
    upstream.answers(200, success({"balance": 5}))
    begin_trace("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
    try:
        client.send(requests.balance())
    finally:
        end_trace()
    client.send(requests.balance())

    within, outside = (request.headers.get("traceparent", "") for request in upstream.requests)
    assert within.startswith("00-4bf92f3577b34da6a3ce929d0e0e4736-")
    assert outside == ""


def test_a_transaction_and_an_inquiry_are_read_field_by_field(upstream: ScriptedUpstream, client: Client) -> None:
    upstream.answers(200, bought(status="success", sn="0042/ABC", points=1.5))
    answer = buy(client)
    read = answer.data
    assert read.status is TransactionStatus.SUCCESS
    assert (read.trx_id, read.sn, read.price, read.balance) == ("T1", "0042/ABC", 10_250, 1_489_750)
    assert answer.raw["data"]["points"] == 1.5  # unknown fields are kept for the record

    upstream.answers(200, success(INQUIRY))
    inquiry = client.send(requests.bill_inquiry(**BUY)).data
    assert inquiry.status is InquiryStatus.VALID
    assert inquiry.total == 152_500
    assert inquiry.expires_at == datetime(2026, 8, 22, 3, 5, tzinfo=UTC)
    assert inquiry.details[0].amount == 150_000

    nothing = dict.fromkeys(["amount", "admin_fee", "penalty", "total", "expires_at", "details", "customer_name"])
    upstream.answers(200, success({**INQUIRY, "status": "pending", **nothing}))
    inquiry = client.send(requests.bill_inquiry(**BUY)).data
    assert (inquiry.status, inquiry.total, inquiry.details) == (InquiryStatus.PENDING, None, [])


def test_reads_share_a_connection_and_money_calls_do_not_and_a_cookie_is_not_sent_back(
    upstream: ScriptedUpstream, client: Client
) -> None:
    upstream.answers(200, success({"balance": 5}), headers="Set-Cookie: a=b\r\n")
    client.send(requests.balance())
    client.send(requests.balance())
    upstream.answers(200, bought())
    buy(client)
    send(client, requests.bill_pay(ref_id="R1", amount=None))

    assert [request.connection for request in upstream.requests] == [1, 1, 2, 3]
    assert upstream.requests[3].headers["connection"] == "close"
    assert [request for request in upstream.requests if "cookie" in request.headers] == []


def test_a_long_product_list_and_a_chunked_answer_are_read(upstream: ScriptedUpstream, client: Client) -> None:
    upstream.answers(200, success({"products": [], "padding": "x" * 2**21}))
    assert client.send(requests.products()).data.products == []

    body = json.dumps(bought()).encode()

    def behave(connection: socket.socket, received: object) -> bool:
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        connection.sendall(b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body))
        return False

    upstream.behaviour = behave
    assert buy(client).data.trx_id == "T1"


def test_a_changed_setting_makes_another_client(settings: Settings) -> None:
    settings.UPSTREAM_SECRET_ID = "first"
    settings.UPSTREAM_ACCOUNT_RATE = "60/minute"
    first = get_client()
    assert get_client() is first
    assert first.config.account_rate == Rate(60, 60.0)

    settings.UPSTREAM_SECRET_ID = "second"

    assert get_client().config.secret_id == "second"


def test_each_call_is_logged_with_ref_id_outcome_and_time(upstream: ScriptedUpstream, client: Client) -> None:
    upstream.answers(409, error(409, "PRICE_CHANGED"))

    with capture_logs() as entries, pytest.raises(Rejected):
        buy(client, max_price=1)

    [entry] = entries
    assert entry["log_level"] == "info"
    logged = (entry["endpoint"], entry["ref_id"], entry["outcome"])
    assert logged == ("transaction_create", "R1", "Rejected: PRICE_CHANGED")
    assert entry["ms"] >= 0
