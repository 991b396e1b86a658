"""The one door to the upstream: every exchange is numbered and recorded, and no forbidden request is sent."""

import json
import socket
from typing import Any

import pytest
from django.utils import timezone

from gateway.models import Exchange, UpstreamAccount
from gateway.services import call, next_number, read_balance, reserve
from testing.people import Browser
from tests.conftest import Upstream
from tests.upstream.helpers import error, success
from tests.upstream.scripted_upstream import Received, ScriptedUpstream
from upstream import requests
from upstream.budget import CallClass
from upstream.client import get_client
from upstream.endpoints import Endpoint
from upstream.errors import Misconfigured, OutcomeUnknown, Rejected, Unavailable


def test_an_answer_lies_between_two_numbers(upstream: Upstream):
    before = next_number()

    reply = read_balance()

    assert before < reply.sent_no < reply.answered_no < next_number()
    exchange = Exchange.objects.get(pk=reply.sent_no)
    assert (exchange.endpoint, exchange.balance, exchange.outcome) == ("balance", reply.data.balance, "answer")
    assert exchange.answered_no == reply.answered_no


def test_a_refusal_is_kept_with_its_group_and_raw_answer(upstream: Upstream):
    with pytest.raises(Rejected):
        call(requests.transaction_status(ref_id="never-sent"), attempt=3)

    exchange = Exchange.objects.get(ref_id="never-sent")
    assert (exchange.error, exchange.http_status, exchange.attempt) == ("Rejected: TRANSACTION_NOT_FOUND", 404, 3)
    assert "TRANSACTION_NOT_FOUND" in exchange.outcome
    assert exchange.raw["error_code"] == "TRANSACTION_NOT_FOUND"
    assert exchange.balance is None


def test_a_lost_answer_leaves_an_exchange_without_one(upstream: Upstream, settings: Any):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        settings.UPSTREAM_BASE_URL = f"http://127.0.0.1:{silent.getsockname()[1]}"
        get_client().budget.declare_fresh()
        with pytest.raises(OutcomeUnknown):
            read_balance()

    exchange = Exchange.objects.filter(endpoint="balance").get()
    assert (exchange.answered_no, exchange.balance) == (None, None)
    assert UpstreamAccount.objects.get().unreachable_since is not None


def test_an_upstream_that_accepts_no_more_requests_can_be_reached(upstream: Upstream):
    UpstreamAccount.objects.update_or_create(only=True, defaults={"unreachable_since": timezone.now()})
    upstream.control("account", limits={"ip": 0})

    with pytest.raises(Rejected, match="RATE_LIMITED"):
        read_balance()

    assert UpstreamAccount.objects.get().unreachable_since is None


def test_nothing_but_the_probe_is_sent_while_refused(upstream: Upstream, settings: Any):
    settings.UPSTREAM_SECRET_KEY = "wrong-secret-key"
    with pytest.raises(Misconfigured):
        read_balance()
    asked = len(upstream.control("requests")["requests"])

    with pytest.raises(Unavailable, match="stopped"):
        call(requests.transaction_status(ref_id="R1"))
    with pytest.raises(Unavailable, match="stopped"):
        reserve(Endpoint.TRANSACTION_CREATE, call_class=CallClass.INTERACTIVE)

    assert len(upstream.control("requests")["requests"]) == asked
    settings.UPSTREAM_SECRET_KEY = upstream.process.secret_key
    read_balance()
    assert UpstreamAccount.objects.get().refused_since is None


def test_only_answers_of_their_time_are_readings(upstream: Upstream):
    read_balance()
    call(
        requests.create_transaction(
            ref_id="R2", product_code="TSEL10", destination="081290000001", max_price=1_000_000
        ),
        permit=reserve(Endpoint.TRANSACTION_CREATE, call_class=CallClass.INTERACTIVE),
    )
    call(requests.transaction_status(ref_id="R2"))

    assert [e.endpoint for e in Exchange.objects.readings()] == ["transaction_create", "balance"]


def bar(browser: Browser) -> bool:
    """Whether the pages say that the upstream cannot be reached."""
    return 'id="upstream-unreachable"' in browser.get("/balance/alerts/mine/").content.decode()


def test_an_upstream_that_answers_with_error_pages_is_said_on_the_pages(scripted: ScriptedUpstream, cashier: Browser):
    for status, payload in (
        (502, b"<h1>Bad gateway</h1>"),
        (200, b"<h1>We are back soon</h1>"),
        (404, b"<h1>No such page</h1>"),  # a wrong UPSTREAM_BASE_URL
        (400, error(400, "NEW_CODE")),
    ):
        scripted.answers(status, payload)
        with pytest.raises(OutcomeUnknown):
            read_balance()
        assert bar(cashier), status

        scripted.answers(200, success({"balance": 1_000_000}))
        read_balance()

        assert not bar(cashier), status


def test_an_error_about_one_order_says_nothing_about_the_upstream_and_stops_no_other(
    scripted: ScriptedUpstream, cashier: Browser
):
    for status, payload in ((500, b"<h1>Internal server error</h1>"), (403, error(403, "PRODUCT_LOCKED"))):
        scripted.answers(status, payload)
        with pytest.raises(OutcomeUnknown):
            call(requests.transaction_status(ref_id="R1"))

        assert not bar(cashier), status
        reserve(Endpoint.TRANSACTION_CREATE, call_class=CallClass.INTERACTIVE).cancel()


def test_an_account_refused_with_an_unknown_code_sends_nothing_until_it_is_accepted(
    scripted: ScriptedUpstream, cashier: Browser
):
    for status in (401, 403):
        scripted.answers(status, error(status, "KEY_EXPIRED"))
        with pytest.raises(OutcomeUnknown):
            read_balance()

        with pytest.raises(Unavailable, match="stopped"):
            reserve(Endpoint.TRANSACTION_CREATE, call_class=CallClass.INTERACTIVE)
        assert "(KEY_EXPIRED)" in cashier.get("/balance/alerts/mine/").content.decode(), status
        scripted.answers(200, success({"balance": 1_000_000}))
        read_balance()
        reserve(Endpoint.TRANSACTION_CREATE, call_class=CallClass.INTERACTIVE).cancel()


def denies_only_the_balance(connection: socket.socket, received: Received) -> bool:
    """Deny the balance with an unknown code, and say of every order that there is none."""
    status, code = (403, "SCOPE_MISSING") if received.path.endswith("/balance") else (404, "TRANSACTION_NOT_FOUND")
    body = json.dumps(error(status, code)).encode()
    connection.sendall(f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
    return True


def test_a_balance_denied_alone_with_an_unknown_code_stops_no_order(scripted: ScriptedUpstream, cashier: Browser):
    for behaviour in (denies_the_balance_and_answers_nothing_else, denies_only_the_balance):
        scripted.behaviour = behaviour
        scripted.requests.clear()

        with pytest.raises(OutcomeUnknown):
            read_balance()

        assert [request.path.rpartition("/")[2] for request in scripted.requests] == ["balance", "status"]
        reserve(Endpoint.TRANSACTION_CREATE, call_class=CallClass.INTERACTIVE).cancel()
        assert "SCOPE_MISSING" not in cashier.get("/balance/alerts/mine/").content.decode()


def denies_the_balance_and_answers_nothing_else(connection: socket.socket, received: Received) -> bool:
    """Deny the balance with an unknown code, and end the connection of every other request."""
    return denies_only_the_balance(connection, received) if received.path.endswith("/balance") else False


def test_sending_goes_on_when_only_the_balance_stays_denied(scripted: ScriptedUpstream):
    # given: the whole account is refused with an unknown code
    scripted.answers(403, error(403, "SCOPE_MISSING"))
    with pytest.raises(OutcomeUnknown):
        read_balance()
    with pytest.raises(Unavailable, match="stopped"):
        reserve(Endpoint.TRANSACTION_CREATE, call_class=CallClass.INTERACTIVE)

    scripted.behaviour = denies_only_the_balance
    with pytest.raises(OutcomeUnknown):
        read_balance()

    reserve(Endpoint.TRANSACTION_CREATE, call_class=CallClass.INTERACTIVE).cancel()
