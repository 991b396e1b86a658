"""The web process over real connections, for browsers, the upstream, a proxy and strangers."""

import contextlib
import http.client
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests
from django.db import connection, transaction

from backoffice import web
from backoffice.connections import MOST_ANSWERS
from callbacks.models import Callback
from purchases.states import Status
from testing.callbacks import body_for, sign
from testing.factories import make_order
from testing.fleet import Fleet
from testing.sandbox_process import PROJECT, eventually, free_port

HALF_OF_A_CALLBACK = (
    b"POST /callbacks/upstream/ HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Content-Length: 100\r\n\r\n{"
)
ALLOWED = {"UPSTREAM_CALLBACK_ALLOWED_IPS": "203.0.113.0/24"}


@contextlib.contextmanager
def serving(**env: str) -> Iterator[Fleet]:
    """The web process, and its environment with `env`."""
    fleet = Fleet(**env)
    try:
        fleet.start("web")
        yield fleet
    finally:
        fleet.kill_all()


def send_half(port: int, *, sender: str = "") -> socket.socket:
    """A connection with half a request that never goes on; `sender`: the address that a proxy names."""
    half = socket.create_connection(("127.0.0.1", port))
    half.sendall(HALF_OF_A_CALLBACK.replace(b"Host:", f"X-Forwarded-For: {sender}\r\nHost:".encode()))
    return half


def post(fleet: Fleet, body: bytes, **headers: str) -> requests.Response:
    """A callback as the upstream sends it."""
    sent = {"Content-Type": "application/json", "X-Signature": sign(body), "X-Delivery-Id": "d-1", **headers}
    return requests.post(f"{fleet.url}/callbacks/upstream/", data=body, headers=sent, timeout=20)


@pytest.fixture(scope="module")
def usual(django_db_setup: None) -> Iterator[Fleet]:
    """A web process with the usual environment, for the tests that do not end it."""
    with serving() as fleet:
        yield fleet


@pytest.fixture(scope="module")
def proxied(django_db_setup: None) -> Iterator[Fleet]:
    """A web process behind a proxy that speaks TLS."""
    with serving(**ALLOWED, TRUSTED_PROXY_COUNT="1", BEHIND_TLS_PROXY="1", HTTPS="1") as fleet:
        yield fleet


def test_twenty_half_sent_requests_hold_up_nobody(usual, transactional_db):
    with contextlib.ExitStack() as stack:
        for _ in range(20):
            stack.enter_context(send_half(usual.port))

        assert requests.get(f"{usual.url}/healthz", timeout=5).status_code == 200
        assert requests.get(f"{usual.url}/accounts/login/", timeout=10).status_code == 200
        assert post(usual, body_for(make_order(Status.PENDING))).status_code == 200


def test_one_address_cannot_take_all_connections(usual, transactional_db):
    # given: more half-sent requests than there are places for connections, and as many silent connections
    with contextlib.ExitStack() as stack:
        for number in range(web.MOST_CONNECTIONS + 20):
            if number % 2:
                stack.enter_context(socket.create_connection(("127.0.0.1", usual.port)))
            else:
                with contextlib.suppress(OSError):  # closed already
                    stack.enter_context(send_half(usual.port))

        statuses = [requests.get(f"{usual.url}/healthz", timeout=10).status_code for _ in range(14)]
        stored = post(usual, body_for(make_order(Status.PENDING)))

    assert statuses == [200] * 14
    assert stored.status_code == 200


def test_behind_a_proxy_each_sender_has_limits_of_its_own(proxied, transactional_db):
    body = body_for(make_order(Status.PENDING))
    with contextlib.ExitStack() as stack:
        halves = [stack.enter_context(send_half(proxied.port, sender="203.0.113.9")) for _ in range(60)]
        patient = stack.enter_context(send_half(proxied.port, sender="203.0.113.10"))
        eventually(lambda: is_closed(halves[0]), within=20)
        stored = post(proxied, body, **{"X-Forwarded-For": "203.0.113.11", "X-Forwarded-Proto": "https"})

        assert not is_closed(patient)
        assert not is_closed(halves[-1])
    assert stored.status_code == 200


def is_closed(half: socket.socket) -> bool:
    """Whether the other side has closed the connection."""
    half.settimeout(0.05)
    try:
        return half.recv(1) == b""
    except TimeoutError:
        return False
    except ConnectionError:
        return True


def test_a_request_that_drips_is_closed_at_its_deadline():
    port = free_port()
    strict = "import sys; from backoffice import connections, web; connections.WHOLE_SECONDS = 1; sys.exit(web.main())"
    with subprocess.Popen([sys.executable, "-c", strict, "--port", str(port)], cwd=PROJECT) as process:
        try:
            with eventually(lambda: connected(port), within=60) as dripping:
                for letter in b"GET /healthz HTTP/1.1":
                    with contextlib.suppress(OSError):
                        dripping.send(bytes([letter]))
                    if is_closed(dripping):
                        break
                    time.sleep(0.2)
                assert is_closed(dripping)
        finally:
            process.kill()


def test_a_connection_ends_after_some_answers_so_that_another_process_may_take_it(usual, transactional_db):
    browser = http.client.HTTPConnection("127.0.0.1", usual.port)
    endings = []
    for _ in range(MOST_ANSWERS):
        browser.request("GET", "/accounts/login/")
        answer = browser.getresponse()
        assert b"</html>" in answer.read()
        endings.append((answer.status, answer.headers["Connection"]))

    assert endings == [(200, None)] * (MOST_ANSWERS - 1) + [(200, "close")]
    assert browser.sock is None  # closed: the next request opens another one


def test_no_answer_says_what_the_server_is(usual):
    answers = [requests.get(f"{usual.url}{path}", timeout=10) for path in ("/healthz", "/static/app.css", "/%ff")]

    assert not [answer.headers for answer in answers if {"Server", "Via", "X-Powered-By"} & set(answer.headers)]


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


def test_at_sigterm_it_finishes_its_requests_and_takes_no_more(transactional_db):
    body = body_for(make_order(Status.PENDING))
    with serving() as fleet, ThreadPoolExecutor() as pool:
        process = fleet.processes["web"]
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"LOCK TABLE {Callback._meta.db_table} IN EXCLUSIVE MODE")
            answer = pool.submit(post, fleet, body)
            eventually(lambda: somebody_waits_for_us(cursor))

            process.send_signal(signal.SIGTERM)
            eventually(lambda: connected(fleet.port) is None)
        stored = answer.result()
        ended = process.wait(20)

    assert stored.status_code == 200
    assert ended == 0
    assert bytes(Callback.objects.get().body) == body


def somebody_waits_for_us(cursor) -> bool:
    """Whether another session of this database waits for a lock."""
    cursor.execute(
        "SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = database "
        "WHERE datname = current_database() AND NOT granted"
    )
    return cursor.fetchone()[0] > 0


def test_it_ends_in_time_although_a_request_does_not(transactional_db):
    with serving() as fleet, ThreadPoolExecutor() as pool:
        process = fleet.processes["web"]
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"LOCK TABLE {Callback._meta.db_table} IN EXCLUSIVE MODE")
            answer = pool.submit(post, fleet, body_for(make_order(Status.PENDING)))
            eventually(lambda: somebody_waits_for_us(cursor))

            process.send_signal(signal.SIGTERM)
            ended = process.wait(20)

    assert ended == 0
    with pytest.raises(requests.ConnectionError):
        answer.result()


def test_address_and_scheme_come_from_a_trusted_proxy_only(proxied, transactional_db):
    headers = {"X-Forwarded-For": "198.51.100.1, 203.0.113.7", "X-Forwarded-Proto": "https"}
    order = make_order(Status.PENDING)
    body = body_for(order)

    taken = post(proxied, body, **headers)
    direct = requests.get(f"{proxied.url}/accounts/login/", allow_redirects=False, timeout=20)
    over_tls = requests.get(f"{proxied.url}/accounts/login/", headers=headers, allow_redirects=False, timeout=20)
    with serving(**ALLOWED, HTTPS="0") as fleet:
        believed = post(fleet, body, **headers)

    assert taken.status_code == 200
    assert Callback.objects.get(ref_id=order.ref_id).source_address == "203.0.113.7"
    assert (direct.status_code, over_tls.status_code) == (400, 200)
    assert believed.status_code == 403, "a header that anybody can send opens nothing"


@contextlib.contextmanager
def sharing(listener: socket.socket) -> Iterator["subprocess.Popen[bytes]"]:
    """A web process on a socket that the test holds."""
    command = [sys.executable, "-m", "backoffice.web", "--fd", str(listener.fileno())]
    with subprocess.Popen(command, cwd=PROJECT, env=Fleet().env, pass_fds=[listener.fileno()]) as process:
        try:
            yield process
        finally:
            process.kill()


def test_processes_end_in_turn_and_every_request_is_answered(transactional_db):
    answers: list[object] = []

    def ask(address: str) -> None:
        while not is_over.wait(0.02):  # without the pause they would take the processor from the starting processes
            try:
                answers.append(requests.get(f"{address}/healthz", timeout=60).status_code)
            except requests.RequestException as error:
                answers.append(error)

    is_over = threading.Event()
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listener, ThreadPoolExecutor() as pool:
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        try:
            with sharing(listener) as first:
                people = [pool.submit(ask, address) for _ in range(4)]
                eventually(lambda: answers, within=60)
                # when: it ends before another process starts, so that everybody waits in the queue for a moment
                first.send_signal(signal.SIGTERM)
                assert first.wait(20) == 0
            with sharing(listener):
                answered = len(answers)
                eventually(lambda: len(answers) > answered + 20, within=60)
                is_over.set()
                for person in people:
                    person.result()
        finally:
            is_over.set()

    assert set(answers) == {200}


def test_a_taken_port_is_one_sentence_and_exit_code_1(capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

        assert web.main(["--port", str(port)]) == 1

    assert capsys.readouterr().err == f"cannot listen on 127.0.0.1:{port}: Address already in use\n"
