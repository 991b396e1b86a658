"""Permits of the rate budget, and the upstream's own refusal 429: how calls use them, and how long they wait."""

import time

import pytest
import redis

from tests.upstream.helpers import bought, buy, error, success, unknown_reason
from tests.upstream.scripted_upstream import MakeClient, ScriptedUpstream, cut
from upstream import requests, transport
from upstream.budget import PERMIT_SECONDS, CallClass
from upstream.client import Client
from upstream.config import Rate
from upstream.endpoints import Endpoint, Limit
from upstream.errors import Rejected, Unavailable

PURCHASE = Endpoint.TRANSACTION_CREATE


@pytest.fixture
def slow_pace(make_client: MakeClient) -> Client:
    """A client that may make one call in about seven seconds."""
    return make_client(account_rate=Rate(9, 60.0))


def test_a_permit_handed_in_is_the_one_that_is_used(upstream: ScriptedUpstream, slow_pace: Client) -> None:
    upstream.answers(200, bought())
    permit = slow_pace.reserve(PURCHASE, call_class=CallClass.BACKGROUND)

    assert buy(slow_pace, permit=permit).data.trx_id == "T1"

    with pytest.raises(Unavailable) as caught:
        slow_pace.send(requests.balance())
    assert caught.value.reason == "budget"
    assert caught.value.retry_after
    assert len(upstream.requests) == 1


@pytest.mark.parametrize("misuse", ["twice", "for another endpoint", "too late"])
def test_a_permit_is_good_for_one_call_to_its_endpoint_soon(
    upstream: ScriptedUpstream, client: Client, misuse: str
) -> None:
    upstream.answers(200, bought())
    endpoint = Endpoint.BILL_PAY if misuse == "for another endpoint" else PURCHASE
    permit = client.reserve(endpoint, call_class=CallClass.INTERACTIVE)
    if misuse == "twice":
        buy(client, permit=permit)
    if misuse == "too late":
        for key in client.budget._keys(Limit.ACCOUNT):
            redis.Redis.from_url(client.config.redis_url).zincrby(key, -PERMIT_SECONDS * 1_000_000, permit.id)
    sent = len(upstream.requests)

    with pytest.raises(Unavailable) as caught:
        buy(client, permit=permit)

    assert caught.value.reason == "permit_expired"
    assert len(upstream.requests) == sent


def test_a_call_that_is_refused_here_gives_its_permit_back(make_client: MakeClient) -> None:
    client = make_client(account_rate=Rate(1, 3600.0))
    permit = client.reserve(PURCHASE, call_class=CallClass.INTERACTIVE)

    with pytest.raises(Rejected):
        buy(client, permit=permit, max_price=-1)

    assert client.budget.used() == 0


def test_a_call_that_cannot_go_out_in_time_is_refused_at_once(
    upstream: ScriptedUpstream, make_client: MakeClient
) -> None:
    client = make_client(account_rate=Rate(1, 3600.0), interactive_wait=10.0)
    client.reserve(Endpoint.BALANCE, call_class=CallClass.INTERACTIVE)

    with pytest.raises(Unavailable) as caught:
        buy(client)

    assert caught.value.retry_after > 10
    assert upstream.connections == 0


def seconds_left(client: Client) -> float:
    """The seconds for which the call that counts longest will still count."""
    calls, _ = client.budget._keys(Limit.ACCOUNT)
    valkey = redis.Redis.from_url(client.config.redis_url)
    seconds, microseconds = valkey.time()
    [(_, score)] = valkey.zrange(calls, -1, -1, withscores=True)
    return float(score / 1_000_000 - seconds - microseconds / 1_000_000)


def test_an_answered_call_counts_for_a_window_a_lost_one_longer(
    upstream: ScriptedUpstream, make_client: MakeClient
) -> None:
    client = make_client(account_rate=Rate(1000, 60.0))

    upstream.answers(200, success({"balance": 5}))
    client.send(requests.balance())
    assert 50 < seconds_left(client) <= 60.03

    upstream.behaviour = lambda connection, _: cut(connection) or False
    assert unknown_reason(client) == "connection"
    assert seconds_left(client) > 60 + client.config.connect_timeout + client.config.read_timeout


@pytest.mark.parametrize("fresh", [False, True])
def test_a_call_counts_from_when_the_upstream_is_known_to_have_counted_it(
    upstream: ScriptedUpstream, make_client: MakeClient, monkeypatch: pytest.MonkeyPatch, fresh: bool
) -> None:
    # given an upstream that counts a request within 0.1 s, and answers after 0.5 s
    client = make_client(account_rate=Rate(1000, 60.0), counts_within=0.1)
    upstream.answers(200, bought() if fresh else success({"balance": 5}))
    answer = upstream.behaviour
    upstream.behaviour = lambda *asked: bool(time.sleep(0.5)) or answer(*asked)
    # and a connection that takes 0.3 s, which is not time since the request was written
    connect = transport._Connection.connect
    monkeypatch.setattr(transport._Connection, "connect", lambda self: time.sleep(0.3) or connect(self))

    began = time.monotonic()
    if fresh:
        buy(client)
    else:
        client.send(requests.balance())
    took = time.monotonic() - began
    counts_until = seconds_left(client) + time.monotonic() - began

    # then it counts from 0.1 s after it was written, not from its beginning or its answer
    assert 60.03 + 0.3 + 0.1 <= counts_until < 60.03 + took - 0.2


# --- 429 ----------------


def test_a_429_stops_all_sending_for_as_long_as_it_says(upstream: ScriptedUpstream, make_client: MakeClient) -> None:
    for headers, seconds in (
        ("Retry-After: 7\r\n", 7),
        ("", 60),
        ("Retry-After: soon\r\n", 60),
        ("Retry-After: -5\r\n", 60),
    ):
        client = make_client()
        upstream.requests.clear()
        upstream.answers(429, error(429, "RATE_LIMITED"), headers=headers)
        with pytest.raises(Rejected) as caught:
            buy(client)
        assert caught.value.retry_after == seconds, headers

        with pytest.raises(Unavailable) as refused:
            client.send(requests.balance())

        assert refused.value.reason == "budget", headers
        assert seconds - 5 < refused.value.retry_after <= seconds, headers
        assert len(upstream.requests) == 1, headers


def test_a_429_for_the_product_list_does_not_stop_sales(upstream: ScriptedUpstream, client: Client) -> None:
    upstream.answers(429, error(429, "RATE_LIMITED"), headers="Retry-After: 60\r\n")
    with pytest.raises(Rejected):
        client.send(requests.products())
    upstream.answers(200, bought())

    with pytest.raises(Unavailable):
        client.send(requests.products())
    assert buy(client).data.trx_id == "T1"


def test_a_429_of_a_proxy_is_unknown_and_stops_sending_too(upstream: ScriptedUpstream, client: Client) -> None:
    upstream.answers(429, b"slow down", headers="Retry-After: 30\r\n")
    assert unknown_reason(client) == "malformed: not JSON"

    with pytest.raises(Unavailable):
        buy(client)
