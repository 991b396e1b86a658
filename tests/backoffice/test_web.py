"""The web process as browsers, the upstream, a proxy and whoever else meet it: over real connections."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests
from django.db import connection, transaction

from callbacks.models import Receipt
from purchases.order_life import Status
from tests.callbacks.test_endpoint import body_for, sign
from tests.factories import make_order
from tests.fleet import Fleet
from tests.sandbox_process import PROJECT, eventually, free_port

HALF_OF_A_CALLBACK = (
    b"POST /callbacks/upstream/ HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Content-Length: 100\r\n\r\n{"
)


@contextlib.contextmanager
def serving(**env: str) -> Iterator[Fleet]:
    """The web process, and its environment with `env`."""
    fleet = Fleet(**env)
    try:
        fleet.start("web")
        yield fleet
    finally:
        fleet.kill_all()


def send_half(port: int) -> socket.socket:
    """A connection on which a request began that does not go on."""
    half = socket.create_connection(("127.0.0.1", port))
    half.sendall(HALF_OF_A_CALLBACK)
    return half


def post(fleet: Fleet, body: bytes, **headers: str) -> requests.Response:
    """A callback as the upstream sends it."""
    sent = {"Content-Type": "application/json", "X-Signature": sign(body), "X-Delivery-Id": "d-1", **headers}
    return requests.post(f"{fleet.url}/callbacks/upstream/", data=body, headers=sent, timeout=20)


def test_twenty_half_sent_requests_keep_nobody_waiting(transactional_db):
    with serving() as fleet, contextlib.ExitStack() as stack:
        for _ in range(20):
            stack.enter_context(send_half(fleet.port))
        time.sleep(0.5)

        assert requests.get(f"{fleet.url}/healthz", timeout=5).status_code == 200
        assert requests.get(f"{fleet.url}/accounts/login/", timeout=10).status_code == 200
        assert post(fleet, body_for(make_order(Status.PENDING))).status_code == 200


def test_a_body_that_never_comes_is_given_up():
    port = free_port()
    impatient = (
        "import sys; from backoffice import web; web.SILENCE_SECONDS = web.LOOK_SECONDS = 1; sys.exit(web.main())"
    )
    with subprocess.Popen([sys.executable, "-c", impatient, "--port", str(port)], cwd=PROJECT) as process:
        try:
            with eventually(lambda: connected(port), within=60):
                pass
            with send_half(port) as half:
                half.settimeout(20)

                assert half.recv(100) == b"", "the connection is closed without an answer"
        finally:
            process.kill()


def connected(port: int) -> socket.socket | None:
    """A connection to this port, or None while nobody listens."""
    with contextlib.suppress(OSError):
        return socket.create_connection(("127.0.0.1", port))
    return None


def test_told_to_stop_it_finishes_the_request_in_hand_and_takes_no_other(transactional_db):
    body = body_for(make_order(Status.PENDING))
    with serving() as fleet, ThreadPoolExecutor() as pool:
        web = fleet.processes["web"]
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"LOCK TABLE {Receipt._meta.db_table} IN EXCLUSIVE MODE")
            answer = pool.submit(post, fleet, body)
            eventually(lambda: somebody_waits_for_us(cursor))

            web.send_signal(signal.SIGTERM)
            eventually(lambda: connected(fleet.port) is None)
        stored = answer.result()
        ended = web.wait(10)

    assert stored.status_code == 200
    assert ended == 0
    assert bytes(Receipt.objects.get().body) == body


def somebody_waits_for_us(cursor) -> bool:
    """Whether another session of this database waits for a lock."""
    cursor.execute(
        "SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = database "
        "WHERE datname = current_database() AND NOT granted"
    )
    return cursor.fetchone()[0] > 0


def test_it_ends_in_time_although_a_request_does_not(transactional_db):
    with serving() as fleet, ThreadPoolExecutor() as pool:
        web = fleet.processes["web"]
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"LOCK TABLE {Receipt._meta.db_table} IN EXCLUSIVE MODE")
            answer = pool.submit(post, fleet, body_for(make_order(Status.PENDING)))
            eventually(lambda: somebody_waits_for_us(cursor))

            web.send_signal(signal.SIGTERM)
            ended = web.wait(10)

    assert ended == 0
    with pytest.raises(requests.ConnectionError):
        answer.result()


def test_behind_a_proxy_the_address_and_the_scheme_are_those_that_it_tells(transactional_db):
    allowed = {"UPSTREAM_CALLBACK_ALLOWED_IPS": "203.0.113.0/24"}
    told = {"X-Forwarded-For": "198.51.100.1, 203.0.113.7", "X-Forwarded-Proto": "https"}
    body = body_for(make_order(Status.PENDING))

    with serving(**allowed, TRUSTED_PROXY_COUNT="1", BEHIND_TLS_PROXY="1", HTTPS="1") as fleet:
        taken = post(fleet, body, **told)
        plain = requests.get(f"{fleet.url}/accounts/login/", allow_redirects=False, timeout=20)
        over_tls = requests.get(f"{fleet.url}/accounts/login/", headers=told, allow_redirects=False, timeout=20)
    with serving(**allowed, HTTPS="0") as fleet:
        believed = post(fleet, body, **told)

    assert taken.status_code == 200
    assert Receipt.objects.get().source_address == "203.0.113.7"
    assert (plain.status_code, over_tls.status_code) == (301, 200)
    assert believed.status_code == 403, "a header that anybody can send opens nothing"


def test_it_does_not_say_what_it_is(transactional_db):
    with serving() as fleet:
        answers = [requests.get(f"{fleet.url}{path}", timeout=10) for path in ("/healthz", "/static/app.css", "/%ff")]

    assert not [answer.headers for answer in answers if {"Server", "Via", "X-Powered-By"} & set(answer.headers)]


def test_a_port_that_is_taken_is_one_sentence():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        result = subprocess.run(
            [sys.executable, "-m", "backoffice.web", "--port", port],
            cwd=PROJECT,
            env=dict(os.environ),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    assert result.returncode == 1
    assert result.stderr == f"cannot listen on 127.0.0.1:{port}: Address already in use\n"
