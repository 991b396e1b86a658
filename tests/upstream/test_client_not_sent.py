"""Calls that certainly sent nothing: refused here, no connection, no Redis."""

import socket
import time
from typing import Any

import pytest
from django.db import transaction

from tests.upstream.helpers import bought, buy, success
from tests.upstream.scripted_upstream import MakeClient, MakeConfig, ScriptedUpstream
from upstream import client as client_module, requests
from upstream.budget import CallClass
from upstream.client import Client
from upstream.config import Rate
from upstream.endpoints import Endpoint
from upstream.error_codes import ErrorCode
from upstream.errors import CallInsideTransaction, Misconfigured, Rejected, Unavailable

# --- Refused before anything is sent ----------------


def test_wrong_settings_send_nothing(upstream: ScriptedUpstream, make_client: MakeClient) -> None:
    changes: list[dict[str, Any]] = [
        {"base_url": ""},
        {"secret_id": ""},
        {"secret_key": ""},
        {"base_url": "http://api.example.com"},
        {"base_url": "http://127.0.0.1.example.com"},
        {"base_url": "ftp://127.0.0.1"},
        {"base_url": "https://user:word@api.example.com"},
        {"base_url": "https://api.example.com/?a=1"},
        {"base_url": "https://api.example.com:port"},
        {"base_url": "https://[oops"},
        {"base_url": "api.example.com"},
        {"read_timeout": 0.0},
    ]
    for change in changes:
        with pytest.raises(Misconfigured) as caught:
            buy(make_client(**change))
        assert (caught.value.error_code, upstream.connections) == (None, 0), change


def test_a_request_that_can_never_be_valid_is_not_sent(upstream: ScriptedUpstream, client: Client) -> None:
    changes: list[dict[str, Any]] = [
        {"ref_id": ""},
        {"ref_id": "R" * 65},
        {"ref_id": "R1\n"},
        {"ref_id": "R 1"},
        {"product_code": ""},
        {"destination": "0812\x00"},
        {"max_price": -1},
        {"max_price": True},
        {"max_price": 10.5},
    ]
    for change in changes:
        with pytest.raises(Rejected) as caught:
            buy(client, **change)
        assert caught.value.error_code is ErrorCode.INVALID_REQUEST, change
        assert caught.value.balance_untouched, change
        assert upstream.connections == 0, change


@pytest.mark.django_db(transaction=True)
def test_a_call_inside_a_database_transaction_is_refused(upstream: ScriptedUpstream, client: Client) -> None:
    upstream.answers(200, success({"balance": 5}))

    with transaction.atomic(), pytest.raises(CallInsideTransaction):
        client.send(requests.balance())

    assert upstream.connections == 0
    assert client.send(requests.balance()).data.balance == 5  # and outside it is fine


@pytest.mark.django_db
def test_the_transaction_of_a_test_itself_does_not_count(upstream: ScriptedUpstream, client: Client) -> None:
    upstream.answers(200, success({"balance": 5}))

    assert client.send(requests.balance()).data.balance == 5
    with transaction.atomic(), pytest.raises(CallInsideTransaction):
        client.send(requests.balance())


# --- No connection ----------------


def test_a_refused_connection_or_an_unknown_name_is_unavailable_and_costs_no_budget(make_client: MakeClient) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    client = make_client(base_url=f"http://127.0.0.1:{port}", account_rate=Rate(2, 0.01))
    for _ in range(3):
        with pytest.raises(Unavailable, match=r"^connect$"):
            buy(client)
    with pytest.raises(Unavailable, match=r"^connect$"):
        buy(make_client(base_url="https://upstream.invalid"))


def test_a_connection_that_is_never_accepted_is_unavailable(make_client: MakeClient) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        fillers = [socket.socket() for _ in range(3)]  # fill the queue, so that the kernel does not answer any more
        for filler in fillers:
            filler.setblocking(False)
            filler.connect_ex(listener.getsockname())
        client = make_client(base_url=f"http://127.0.0.1:{listener.getsockname()[1]}", connect_timeout=0.3)

        with pytest.raises(Unavailable) as caught:
            buy(client)

        for filler in fillers:
            filler.close()
    assert caught.value.reason == "connect"


def test_a_connection_after_the_connect_timeout_is_not_used(
    upstream: ScriptedUpstream, make_client: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    # given a slow name server, which no timeout of a socket bounds
    resolve = socket.getaddrinfo

    def resolve_slowly(host: str, *rest: Any) -> Any:
        time.sleep(0.3)
        return resolve(host, *rest)

    client = make_client(connect_timeout=0.2)
    permit = client.reserve(Endpoint.TRANSACTION_CREATE, call_class=CallClass.INTERACTIVE)
    monkeypatch.setattr(socket, "getaddrinfo", resolve_slowly)

    # then no request is written after its permit has stopped counting
    with pytest.raises(Unavailable, match=r"^connect$"):
        buy(client, permit=permit)
    assert upstream.requests == []


# --- No Redis ----------------


def test_without_redis_nothing_is_sent(upstream: ScriptedUpstream, make_config: MakeConfig) -> None:
    client = Client(make_config(base_url=upstream.url, redis_url="redis://127.0.0.1:9/0"))

    with pytest.raises(Unavailable) as caught:
        buy(client)

    assert caught.value.reason == "budget_unreachable"
    assert upstream.connections == 0


def test_a_redis_lost_after_sending_costs_no_answer(upstream: ScriptedUpstream, client: Client) -> None:
    upstream.answers(200, bought())
    permit = client.reserve(Endpoint.TRANSACTION_CREATE, call_class=CallClass.INTERACTIVE)
    client.budget._redis.connection_pool.connection_kwargs["port"] = 9
    client.budget._redis.connection_pool.disconnect()

    assert buy(client, permit=permit).data.trx_id == "T1"


def test_a_process_that_was_frozen_before_it_wrote_sends_nothing(
    upstream: ScriptedUpstream, make_client: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    # given a connection that is kept open
    made = make_client(connect_timeout=1.0, account_rate=Rate(1000, 60.0))
    upstream.answers(200, success({"balance": 5}))
    made.send(requests.balance(), CallClass.INTERACTIVE)
    sign = client_module.sign
    monkeypatch.setattr(client_module, "sign", lambda **facts: time.sleep(1.2) or sign(**facts))

    # when the process stands still for longer than a connection may take, between its permit and the first byte
    with pytest.raises(Unavailable) as caught:
        made.send(requests.balance(), CallClass.INTERACTIVE)

    # then the request is not sent any more, and its place is free again
    assert caught.value.reason == "connect"
    assert len(upstream.requests) == 1
    assert made.budget.used() == 1
