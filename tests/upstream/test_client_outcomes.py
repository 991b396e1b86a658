"""Every way in which a call can end badly, and which of the four kinds of error it becomes."""

import json
import select
import socket
import ssl
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.upstream.scripted_upstream import Cut, MakeClient, MakeConfig, MakeUpstream, ScriptedUpstream
from upstream.client import CallClass, Client, Endpoint
from upstream.config import Rate
from upstream.errors import OutcomeUnknown, Unavailable

CERTIFICATE = Path(__file__).parent / "localhost.pem"  # self-signed, made for this test, guards nothing
DATA = {
    "trx_id": "T1",
    "ref_id": "R1",
    "product_code": "P",
    "product_name": "P",
    "destination": "0812",
    "price": 50_000,
    "status": "pending",
    "sn": None,
    "message": "",
    "balance": 100,
}


def success(**changes: Any) -> dict[str, Any]:
    return {"code": 200, "status": "success", "message": "ok", "data": {**DATA, **changes}}


def error(status: int, error_code: Any, **changes: Any) -> dict[str, Any]:
    return {"code": status, "status": "error", "error_code": error_code, "message": "no", **changes}


def buy(client: Client) -> Any:
    return client.create_transaction(ref_id="R1", product_code="P", destination="0812", max_price=None)


def outcome(client: Client) -> str:
    with pytest.raises(OutcomeUnknown) as caught:
        buy(client)
    return caught.value.reason


# --- Certainly not sent   ----------------


def test_a_refused_connection_is_unavailable_and_costs_no_budget(make_client: MakeClient) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    client = make_client(base_url=f"http://127.0.0.1:{port}", account_rate=Rate(2, 0.01))
    for _ in range(3):
        with pytest.raises(Unavailable) as caught:
            buy(client)
        assert caught.value.reason == "connect"


def test_a_name_that_does_not_resolve_is_unavailable(make_client: MakeClient) -> None:
    with pytest.raises(Unavailable) as caught:
        buy(make_client(base_url="https://upstream.invalid"))
    assert caught.value.reason == "connect"


def test_a_connection_that_is_never_accepted_is_unavailable(make_client: MakeClient) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        fillers = [socket.socket() for _ in range(3)]  # fill the queue, so that the kernel answers no more
        for filler in fillers:
            filler.setblocking(False)
            filler.connect_ex(listener.getsockname())
        client = make_client(base_url=f"http://127.0.0.1:{listener.getsockname()[1]}", connect_timeout=0.3)

        with pytest.raises(Unavailable) as caught:
            buy(client)

        for filler in fillers:
            filler.close()
    assert caught.value.reason == "connect"


def test_a_connection_that_is_ready_only_after_the_connect_timeout_is_not_used(
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

    # then no request is written so late that nobody counts it any more
    with pytest.raises(Unavailable) as caught:
        client.create_transaction(ref_id="R1", product_code="P", destination="0812", max_price=None, permit=permit)
    assert caught.value.reason == "connect"
    assert upstream.requests == []


def tls_context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    return context


def test_an_untrusted_certificate_is_unavailable_and_nothing_is_sent(
    scripted_upstream: MakeUpstream, make_client: MakeClient
) -> None:
    server = scripted_upstream(tls=tls_context())

    with pytest.raises(Unavailable) as caught:
        buy(make_client(base_url=server.url))

    assert caught.value.reason == "connect"
    assert server.connections == 1
    assert server.requests == []


def test_a_certificate_of_another_host_is_refused_even_if_trusted(
    scripted_upstream: MakeUpstream, make_client: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("requests.adapters.DEFAULT_CA_BUNDLE_PATH", str(CERTIFICATE))
    server = scripted_upstream(tls=tls_context())

    with pytest.raises(Unavailable):
        buy(make_client(base_url=f"https://127.0.0.2:{server.port}"))

    assert server.requests == []


def test_a_trusted_certificate_is_accepted(
    scripted_upstream: MakeUpstream, make_client: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("requests.adapters.DEFAULT_CA_BUNDLE_PATH", str(CERTIFICATE))
    server = scripted_upstream(tls=tls_context())
    server.answers(200, success())

    assert buy(make_client(base_url=server.url)).data.trx_id == "T1"


@pytest.mark.parametrize("variable", ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"])
def test_the_environment_cannot_loosen_the_certificate_check(
    scripted_upstream: MakeUpstream, make_client: MakeClient, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, str(CERTIFICATE))
    server = scripted_upstream(tls=tls_context())

    with pytest.raises(Unavailable):
        buy(make_client(base_url=server.url))


def test_the_environment_cannot_send_the_call_through_a_proxy(
    upstream: ScriptedUpstream, scripted_upstream: MakeUpstream, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = scripted_upstream()
    monkeypatch.setenv("http_proxy", proxy.url)
    monkeypatch.setenv("all_proxy", proxy.url)
    upstream.answers(200, success())

    assert buy(client).data.trx_id == "T1"
    assert proxy.connections == 0


def test_without_redis_nothing_is_sent(upstream: ScriptedUpstream, make_config: MakeConfig) -> None:
    client = Client(make_config(base_url=upstream.url, redis_url="redis://127.0.0.1:9/0"))

    with pytest.raises(Unavailable) as caught:
        buy(client)

    assert caught.value.reason == "budget_unreachable"
    assert upstream.connections == 0


def test_losing_redis_after_the_request_was_sent_does_not_lose_the_answer(
    upstream: ScriptedUpstream, client: Client
) -> None:
    upstream.answers(200, success())
    permit = client.reserve(Endpoint.TRANSACTION_CREATE, call_class=CallClass.INTERACTIVE)
    client.budget._redis.connection_pool.connection_kwargs["port"] = 9
    client.budget._redis.connection_pool.disconnect()

    answer = client.create_transaction(ref_id="R1", product_code="P", destination="0812", max_price=None, permit=permit)

    assert answer.data.trx_id == "T1"


# --- Perhaps sent   ----------------


def test_a_connection_cut_before_the_request_was_read_is_unknown(
    upstream: ScriptedUpstream, client: Client, cut: Cut
) -> None:
    def cut_unread(connection: socket.socket) -> bool:
        select.select([connection], [], [])  # the request is there
        cut(connection)
        return False

    upstream.on_connect = cut_unread

    assert outcome(client) == "connection"
    assert upstream.requests == []


def test_a_connection_cut_after_the_request_was_read_is_unknown_and_sent_once(
    upstream: ScriptedUpstream, client: Client, cut: Cut
) -> None:
    upstream.behaviour = lambda connection, _: cut(connection) or False

    assert outcome(client) == "connection"
    assert len(upstream.requests) == 1


def test_a_kept_connection_that_was_closed_meanwhile_is_not_used_for_money(
    upstream: ScriptedUpstream, client: Client
) -> None:
    upstream.answers(200, {"code": 200, "status": "success", "message": "", "data": {"balance": 1}}, keep=False)
    client.balance()  # the upstream says nothing about closing, and closes
    upstream.answers(200, success())

    assert buy(client).data.trx_id == "T1"


def test_silence_is_a_timeout(upstream: ScriptedUpstream, make_client: MakeClient) -> None:
    upstream.behaviour = lambda *_: upstream.stopping.wait(10)

    assert outcome(make_client(connect_timeout=0.2, read_timeout=0.2)) == "timeout"
    assert len(upstream.requests) == 1


@pytest.mark.parametrize("secure", [False, True], ids=["http", "https"])
@pytest.mark.parametrize("part", ["headers", "body"])
def test_a_dripping_answer_ends_at_the_deadline_of_the_whole_call(
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

    # when a call is made whose deadline is 0.8 seconds
    reason = outcome(make_client(base_url=server.url, connect_timeout=0.4, read_timeout=0.4))

    # then it ends while the upstream is still dripping
    assert reason == "timeout"
    assert given_up.wait(5)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{", "connection"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "connection"),
        (b"not http at all\r\n\r\n", "connection"),
        (b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200 + b"\r\n", "connection"),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}", "malformed: too long or encoded"),
    ],
    ids=["truncated", "bad chunk", "not http", "too many headers", "compressed"],
)
def test_an_answer_that_is_not_whole_http_is_unknown(
    upstream: ScriptedUpstream, client: Client, answer: bytes, reason: str
) -> None:
    def behave(connection: socket.socket, received: object) -> bool:
        connection.sendall(answer)
        return False

    upstream.behaviour = behave
    assert outcome(client) == reason


def test_a_chunked_answer_is_read(upstream: ScriptedUpstream, client: Client) -> None:
    body = json.dumps(success()).encode()

    def behave(connection: socket.socket, received: object) -> bool:
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        connection.sendall(b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body))
        return False

    upstream.behaviour = behave
    assert buy(client).data.trx_id == "T1"


def test_an_answer_without_end_is_given_up_at_a_mebibyte(upstream: ScriptedUpstream, client: Client) -> None:
    def flood(connection: socket.socket, received: object) -> bool:
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:  # until the client hangs up
            connection.sendall(b" " * 65536)

    upstream.behaviour = flood
    assert outcome(client) == "malformed: too long or encoded"


def test_a_long_product_list_is_read(upstream: ScriptedUpstream, client: Client) -> None:
    upstream.answers(
        200, {"code": 200, "status": "success", "message": "", "data": {"products": [], "padding": "x" * 2**21}}
    )
    assert client.products().data.products == []


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed(
    upstream: ScriptedUpstream, scripted_upstream: MakeUpstream, client: Client, status: int
) -> None:
    elsewhere = scripted_upstream()
    upstream.answers(status, b"", headers=f"Location: {elsewhere.url}/v1/transaction/create\r\n")

    assert outcome(client) == f"malformed: http_{status}"
    assert elsewhere.connections == 0


def test_a_cookie_is_not_sent_back(upstream: ScriptedUpstream, client: Client) -> None:
    upstream.answers(
        200, {"code": 200, "status": "success", "message": "", "data": {"balance": 1}}, headers="Set-Cookie: a=b\r\n"
    )
    client.balance()
    client.balance()
    assert "cookie" not in upstream.requests[1].headers


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (b"", "malformed: not JSON"),
        (b'{"code":200,', "malformed: not JSON"),
        (b"\xff", "malformed: not UTF-8"),
        (b"[" * 100_000, "malformed: nested too deep"),
        ([], "malformed: envelope"),
        (success(ref_id="R2"), "malformed: ref_id"),
        (success(price=50_000.0), "malformed: price"),
        (success(price=50_000.5), "malformed: price"),
        (success(price="50000"), "malformed: price"),
        (success(price=True), "malformed: price"),
        (success(price=-1), "malformed: price"),
        (success(balance=None), "malformed: balance"),
        (success(status="Success"), "malformed: status"),
        (success(status="refunded"), "malformed: status"),
        ({**success(), "code": 500}, "malformed: code"),
        ({**success(), "status": "error"}, "malformed: status"),
        ({**success(), "data": None}, "malformed: data"),
        (error(200, "INSUFFICIENT_BALANCE"), "malformed: status"),
    ],
    ids=lambda value: str(value)[:50],
)
def test_a_200_that_does_not_fit_together_is_unknown(
    upstream: ScriptedUpstream, client: Client, payload: object, reason: str
) -> None:
    upstream.answers(200, payload)
    assert outcome(client) == reason


@pytest.mark.parametrize(
    ("status", "payload", "reason"),
    [
        (500, error(500, "INVALID_REQUEST"), "http_500"),
        (502, b"<html>", "http_502"),
        (503, b"<html>", "http_503"),
        (503, error(503, "INSUFFICIENT_BALANCE"), "http_503"),
        (503, error(503, "NEW_CODE"), "http_503"),
        (504, b"", "http_504"),
        (400, b"<html>", "malformed: not JSON"),
        (404, b"<html>", "malformed: not JSON"),
        (400, error(400, "NEW_CODE"), "unknown_code: NEW_CODE"),
        (400, error(400, "<script>"), "unknown_code: ?"),
        (400, error(400, None), "malformed: error_code"),
        (402, error(409, "INSUFFICIENT_BALANCE"), "malformed: code"),
        (402, success(), "malformed: status"),
        (201, success(), "malformed: http_201"),
    ],
    ids=lambda value: str(value)[:50],
)
def test_an_error_that_is_not_the_documented_envelope_is_unknown(
    upstream: ScriptedUpstream, client: Client, status: int, payload: object, reason: str
) -> None:
    upstream.answers(status, payload)
    assert outcome(client) == reason
