"""The process: a restart keeps everything, a stop is quick, money holds under simultaneous requests."""

import http.client
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
import requests

from testing.sandbox_process import SandboxProcess, eventually
from tests.sandbox.calls import OPENING, PRICE, callbacks, data_of, error_of, new_ref


@pytest.mark.parametrize("ending", ["stop", "kill"])
def test_a_restart_keeps_everything_and_goes_on(sandbox, ending):
    done, waiting, running, late, inquired = [new_ref() for _ in range(5)]
    sandbox.buy(done)
    sandbox.final(done)
    bill = data_of(sandbox.inquire(inquired))
    sandbox.control("product", product_code="TSEL20", price=1)
    sandbox.buy(waiting, 3)
    with pytest.raises(requests.ConnectionError):
        sandbox.buy(late, 12)
    sandbox.buy(running)
    before = (sandbox.status(done), sandbox.control("ledger")["mutations"])

    getattr(sandbox, ending)()
    sandbox.restart()

    # the late request may have arrived already
    assert (sandbox.status(done), sandbox.control("ledger")["mutations"][: len(before[1])]) == before
    assert data_of(sandbox.inquire(inquired)) == bill
    assert sandbox.products()["TSEL20"]["price"] == 1
    assert [sandbox.final(ref_id)["status"] for ref_id in (running, late)] == ["success"] * 2
    assert sandbox.status(waiting)["status"] == "pending"
    assert sandbox.pay(inquired).status_code == 200


def test_a_restart_of_the_database_costs_no_request_its_answer(sandbox):
    with ThreadPoolExecutor(12) as pool:
        list(pool.map(lambda _: sandbox.balance(), range(60)))

    with psycopg.connect(sandbox.database_url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )

    assert [sandbox.balance() for _ in range(12)] == [OPENING] * 12


def test_it_does_not_start_with_a_speed_of_nothing():
    asked = [sys.executable, "-c", "import sandbox.settings"]
    ended = subprocess.run(asked, env={**os.environ, "SANDBOX_SPEED": "0"}, capture_output=True, text=True, check=False)

    assert (ended.returncode, ended.stderr.count("\n")) == (1, 1)
    assert ended.stderr.startswith("SANDBOX_SPEED must be")


def test_a_stop_does_not_wait_for_an_answer_that_hangs(sandbox):
    with ThreadPoolExecutor() as pool:
        hanging = pool.submit(sandbox.buy, number=6)
        eventually(lambda: sandbox.control("transactions")["transactions"])

        assert sandbox.stop(within=30) == 0

        assert isinstance(hanging.exception(), requests.ConnectionError)


def test_a_busy_port_ends_the_start_with_a_sentence(sandbox):
    second = SandboxProcess()
    try:
        # the first process answers on that port, so that the second seems to be up: check its end
        second.start(sandbox.database_url, sandbox.port, {})
        assert second.process.wait(20) != 0
        assert f"127.0.0.1:{sandbox.port}" in second.log.read_text()
    finally:
        second.kill()
        second.log.unlink()


def test_simultaneous_identical_purchases_are_charged_once(sandbox):
    ref_id = new_ref()

    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda _: data_of(sandbox.buy(ref_id)), range(24)))

    assert len({answer["trx_id"] for answer in answers}) == 1
    assert sandbox.movements(ref_id) == [("debit", -PRICE)]


def test_simultaneous_purchases_never_overdraw(sandbox):
    sandbox.control("account", balance=6 * PRICE - 1)

    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda _: sandbox.buy(number=3).status_code, range(20)))

    assert sorted(answers) == [200] * 5 + [402] * 15
    assert sandbox.balance() == PRICE - 1
    rows = sandbox.control("ledger")["mutations"]
    amounts = [row["amount"] for row in rows]
    assert [row["balance_after"] for row in rows] == [sum(amounts[: index + 1]) for index in range(len(amounts))]


def test_simultaneous_payments_of_one_bill_pay_it_once(sandbox):
    refs = [new_ref(), new_ref()]
    for ref_id in refs:
        sandbox.inquire(ref_id)

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda ref_id: sandbox.pay(ref_id).status_code, refs * 8))

    assert set(answers) == {200, 422}
    assert len(sandbox.movements(refs[0]) + sandbox.movements(refs[1])) == 1


def test_simultaneous_settling_refunds_once(sandbox):
    ref_id = new_ref()
    sandbox.buy(ref_id, 3)

    def settle(status):
        return requests.post(f"{sandbox.url}/control/settle", json={"ref_id": ref_id, "status": status}, timeout=10).ok

    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(settle, ["failed"] * 8))

    assert done.count(True) == 1
    assert sandbox.movements(ref_id) == [("debit", -PRICE), ("refund", PRICE)]
    assert sandbox.balance() == OPENING


def test_a_limit_holds_under_simultaneous_requests(sandbox):
    sandbox.control("account", limits={"account": 7, "window": 60})

    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda _: sandbox.call("/v1/balance"), range(30)))

    refused = [answer for answer in answers if answer.status_code != 200]
    assert len(refused) == 23
    assert {error_of(answer) for answer in refused} == {(429, "RATE_LIMITED")}


def test_a_connection_is_kept_for_the_next_request(sandbox):
    connection = http.client.HTTPConnection("127.0.0.1", sandbox.port, timeout=5)
    sockets = []
    for _ in range(3):
        connection.request("POST", "/v1/balance", json.dumps(sandbox.signed("/v1/balance")))
        assert json.loads(connection.getresponse().read())["status"] == "success"
        sockets.append(connection.sock)
    connection.close()

    assert sockets[0] is not None
    assert sockets == [sockets[0]] * 3


def test_in_a_moved_time_all_is_dated_so_settled_by_then_and_not_called_back(sandbox, merchant):
    ref_id, later = new_ref(), new_ref()
    try:
        sandbox.control("time", now="2026-03-01T08:00:00+07:00")
        sandbox.buy(ref_id)
        sandbox.control("time", now="2026-03-01T08:00:10+07:00")

        (row,) = sandbox.control("transactions", ref_id=ref_id)["transactions"]
        assert row["status"] == "success"
        assert row["created_at"].startswith("2026-03-01T01:00:0")
        assert {entry["at"][:10] for entry in sandbox.control("ledger", ref_id=ref_id)["mutations"]} == {"2026-03-01"}
        for wrong in ("tomorrow", "2026-03-01T08:00:10"):
            with pytest.raises(AssertionError, match="zone"):
                sandbox.control("time", now=wrong)
    finally:
        sandbox.control("time", now=None)

    sandbox.buy(later)
    callbacks(merchant, later)
    assert not sandbox.deliveries(ref_id)
