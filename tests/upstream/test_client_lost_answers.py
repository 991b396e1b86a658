"""Calls without an answer, which the upstream may have done: the outcome is always unknown, never sent again."""

import select
import socket
import threading
import time

import pytest

from tests.upstream.helpers import bought, buy, success, unknown_reason
from tests.upstream.scripted_upstream import CERTIFICATE, MakeClient, MakeUpstream, ScriptedUpstream, cut, tls_context
from upstream import requests
from upstream.client import Client


def test_a_connection_cut_before_or_after_the_request_was_read_is_unknown_and_not_sent_again(
    upstream: ScriptedUpstream, client: Client
) -> None:
    def cut_unread(connection: socket.socket) -> bool:
        select.select([connection], [], [])  # the request has arrived
        cut(connection)
        return False

    read_on = upstream.on_connect
    upstream.on_connect = cut_unread
    assert unknown_reason(client) == "connection"
    assert (upstream.requests, upstream.connections) == ([], 1)

    upstream.on_connect = read_on
    upstream.behaviour = lambda connection, _: cut(connection) or False
    assert unknown_reason(client) == "connection"
    assert (len(upstream.requests), upstream.connections) == (1, 2)


def test_a_kept_connection_is_not_used_for_money(upstream: ScriptedUpstream, client: Client) -> None:
    upstream.answers(200, success({"balance": 1}), keep=False)
    client.send(requests.balance())  # the upstream closes without saying so
    upstream.answers(200, bought())

    assert buy(client).data.trx_id == "T1"


def test_silence_is_a_timeout(upstream: ScriptedUpstream, make_client: MakeClient) -> None:
    upstream.behaviour = lambda *_: upstream.stopping.wait(10)

    assert unknown_reason(make_client(connect_timeout=1.0, read_timeout=0.1)) == "timeout"
    assert len(upstream.requests) == 1


@pytest.mark.parametrize(("part", "secure"), [("headers", True), ("body", False)], ids=["headers-https", "body-http"])
def test_a_dripping_answer_ends_at_the_deadline_of_the_call(
    scripted_upstream: MakeUpstream, make_client: MakeClient, monkeypatch: pytest.MonkeyPatch, part: str, secure: bool
) -> None:
    # given an upstream that sends a byte every 50 ms, so that no single read ever times out
    monkeypatch.setattr("requests.adapters.DEFAULT_CA_BUNDLE_PATH", str(CERTIFICATE))
    server = scripted_upstream(tls=tls_context() if secure else None)
    given_up = threading.Event()

    def drip(connection: socket.socket, received: object) -> bool:
        start = "HTTP/1.1 200 OK\r\n"
        connection.sendall((start + ("Content-Length: 9999\r\n\r\n" if part == "body" else "X-Long: ")).encode())
        try:
            for _ in range(200):  # ten seconds
                connection.sendall(b"x")
                time.sleep(0.05)
        except OSError:
            given_up.set()
        return False

    server.behaviour = drip

    # when a call is made whose deadline is 1.2 seconds
    reason = unknown_reason(make_client(base_url=server.url, connect_timeout=1.0, read_timeout=0.2))

    # then it ends while the upstream is still dripping
    assert reason == "timeout"
    assert given_up.wait(5)


def test_an_answer_that_is_not_whole_http_is_unknown(upstream: ScriptedUpstream, client: Client) -> None:
    for answer, reason in (
        (b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{", "connection"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "connection"),
        (b"not http at all\r\n\r\n", "connection"),
        (b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200 + b"\r\n", "connection"),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}", "malformed: too long or encoded"),
    ):
        upstream.behaviour = lambda connection, _, answer=answer: connection.sendall(answer) or False
        assert unknown_reason(client) == reason, answer[:60]


def test_an_answer_without_end_is_given_up_at_a_mebibyte(upstream: ScriptedUpstream, client: Client) -> None:
    def flood(connection: socket.socket, received: object) -> bool:
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:  # until the client hangs up
            connection.sendall(b" " * 65536)

    upstream.behaviour = flood
    assert unknown_reason(client) == "malformed: too long or encoded"
