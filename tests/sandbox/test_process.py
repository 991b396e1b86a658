"""The process: a restart keeps all, a stop is quick, money holds under simultaneous requests."""

import http.client
import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests

from tests.sandbox.calls import balance, buy, check_bill, error_of, final, movements, pay, status
from tests.sandbox_process import SandboxProcess, eventually

Ref = Callable[[], str]


@pytest.fixture
def own() -> Iterator[SandboxProcess]:
    """A sandbox that a test may end."""
    process = SandboxProcess.fresh("process", SANDBOX_SPEED="10")
    yield process
    process.remove()


@pytest.mark.parametrize("ending", ["stop", "kill"])
def test_a_restart_keeps_everything_and_goes_on(own: SandboxProcess, ref: Ref, ending: str) -> None:
    done, running, checked = ref(), ref(), ref()
    buy(own, done)
    final(own, done)
    bill = check_bill(own, checked).json()["data"]
    own.control("product", product_code="TSEL20", price=1)
    buy(own, running, destination="081290000002")
    with pytest.raises(requests.ConnectionError):
        buy(own, "late", destination="081290000012")
    before = (status(own, done), own.control("ledger")["mutations"])
    if ending == "kill":
        own.kill()
    own.restart()
    # the late one may have arrived meanwhile, as it should; all that was there is still there
    assert (status(own, done), own.control("ledger")["mutations"][: len(before[1])]) == before
    assert check_bill(own, checked).json()["data"] == bill
    assert own.call("/v1/products", brand="telkomsel").json()["data"]["products"][6]["price"] == 1
    assert final(own, running, within=20)["status"] == "success"
    assert final(own, "late")["status"] == "success"
    assert pay(own, checked).status_code == 200


def test_a_stop_takes_less_than_two_seconds_even_while_an_answer_hangs(own: SandboxProcess, ref: Ref) -> None:
    with ThreadPoolExecutor() as pool:
        hanging = pool.submit(buy, own, ref(), destination="081290000006")
        eventually(lambda: own.control("transactions")["transactions"])
        started = time.monotonic()
        assert own.stop() == 0
        assert time.monotonic() - started < 2
        assert isinstance(hanging.exception(), requests.ConnectionError)


def test_a_busy_port_is_a_sentence_and_a_failure(own: SandboxProcess) -> None:
    second = SandboxProcess()
    try:
        # the first one answers on that port, so that the second seems to be up: look at its own end
        second.start(own.database_url, own.port, {})
        assert second.process is not None
        assert second.process.wait(20) != 0
        assert f"cannot listen on 127.0.0.1:{own.port}" in second.log.read_text()
    finally:
        second.kill()
        second.log.unlink()


def test_simultaneous_identical_purchases_are_charged_once(sandbox: SandboxProcess, ref: Ref) -> None:
    ref_id = ref()
    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda _: buy(sandbox, ref_id), range(24)))
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.json()["data"]["trx_id"] for answer in answers}) == 1
    assert movements(sandbox, ref_id) == [("debit", -10_250)]


def test_simultaneous_purchases_never_overdraw(sandbox: SandboxProcess, ref: Ref) -> None:
    sandbox.control("account", balance=5 * 10_250 + 10_249)
    refs = [ref() for _ in range(20)]
    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda ref_id: buy(sandbox, ref_id, destination="081290000003"), refs))
    assert sorted(answer.status_code for answer in answers) == [200] * 5 + [402] * 15
    assert balance(sandbox) == 10_249
    balances = [row["balance_after"] for row in sandbox.control("ledger")["mutations"]]
    amounts = [row["amount"] for row in sandbox.control("ledger")["mutations"]]
    assert balances == [sum(amounts[: index + 1]) for index in range(len(amounts))]


def test_simultaneous_payments_of_one_bill_pay_it_once(sandbox: SandboxProcess, ref: Ref) -> None:
    first, second = ref(), ref()
    check_bill(sandbox, first)
    check_bill(sandbox, second)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda ref_id: pay(sandbox, ref_id), [first, second] * 8))
    assert {answer.status_code for answer in answers} == {200, 422}
    assert len(movements(sandbox, first) + movements(sandbox, second)) == 1


def test_simultaneous_settling_happens_once(sandbox: SandboxProcess, ref: Ref) -> None:
    ref_id = ref()
    buy(sandbox, ref_id, destination="081290000003")

    def settle(status_wanted: str) -> bool:
        answer = requests.post(
            f"{sandbox.url}/control/settle", json={"ref_id": ref_id, "status": status_wanted}, timeout=10
        )
        return answer.ok

    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(settle, ["failed"] * 8))
    assert done.count(True) == 1
    assert movements(sandbox, ref_id) == [("debit", -10_250), ("refund", 10_250)]


def test_a_limit_holds_under_simultaneous_requests(sandbox: SandboxProcess) -> None:
    sandbox.control("account", limits={"account": 7, "window": 60})
    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda _: sandbox.call("/v1/balance"), range(30)))
    assert [answer.status_code for answer in answers].count(200) == 7
    assert {error_of(answer) for answer in answers if answer.status_code != 200} == {(429, "RATE_LIMITED")}


def test_a_connection_is_kept_for_the_next_request(sandbox: SandboxProcess) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", sandbox.port, timeout=5)
    sockets = []
    for _ in range(3):
        connection.request("POST", "/v1/balance", json.dumps(sandbox.signed("/v1/balance")))
        assert json.loads(connection.getresponse().read())["status"] == "success"
        sockets.append(connection.sock)
    connection.close()
    assert sockets[0] is not None
    assert sockets == [sockets[0]] * 3


def test_a_changed_callback_address_of_the_launcher_is_taken_over_but_not_a_persons(own: SandboxProcess) -> None:
    own.restart(SANDBOX_CALLBACK_URL="http://127.0.0.1:8001/callbacks/upstream/")
    assert own.control("account")["callback_url"] == "http://127.0.0.1:8001/callbacks/upstream/"
    own.restart(SANDBOX_CALLBACK_URL="http://127.0.0.1:8002/callbacks/upstream/")
    assert own.control("account")["callback_url"] == "http://127.0.0.1:8002/callbacks/upstream/"
    own.control("account", callback_url="http://127.0.0.1:9000/mine")
    own.restart(SANDBOX_CALLBACK_URL="http://127.0.0.1:8003/callbacks/upstream/")
    assert own.control("account")["callback_url"] == "http://127.0.0.1:9000/mine"
    assert own.control("ledger")["balance"] == 10_000_000
