"""Magic destinations: each row of the table, as a merchant on the wire meets it."""

import json
import time
from collections.abc import Callable
from typing import Any

import pytest
import requests

from tests.callback_receiver import CallbackReceiver
from tests.sandbox.calls import balance, buy, check_bill, error_of, final, movements, pay, status
from tests.sandbox_process import SandboxProcess, eventually

Ref = Callable[[], str]
Order = Callable[[SandboxProcess, str, int], requests.Response]
SPEED = 10


def buy_magic(sandbox: SandboxProcess, ref_id: str, number: int) -> requests.Response:
    return buy(sandbox, ref_id, destination=f"0812900000{number:02d}")


def pay_magic(sandbox: SandboxProcess, ref_id: str, number: int) -> requests.Response:
    check_bill(sandbox, ref_id, destination=f"1900000{number:02d}")
    return pay(sandbox, ref_id)


both = pytest.mark.parametrize("order", [buy_magic, pay_magic], ids=["purchase", "bill"])


def charged_once(sandbox: SandboxProcess, ref_id: str) -> bool:
    return [kind for kind, _ in movements(sandbox, ref_id)] == ["debit"]


def not_charged(sandbox: SandboxProcess, ref_id: str) -> bool:
    missing = sandbox.call("/v1/transaction/status", ref_id=ref_id)
    return movements(sandbox, ref_id) == [] and error_of(missing) == (404, "TRANSACTION_NOT_FOUND")


@pytest.mark.parametrize("destination", ["081290000004", "+6281290000004", "6281290000004"])
def test_a_scenario_is_chosen_by_the_last_digits(sandbox: SandboxProcess, ref: Ref, destination: str) -> None:
    ref_id = ref()
    buy(sandbox, ref_id, destination=destination)
    assert final(sandbox, ref_id)["status"] == "failed"


def test_a_scenario_is_chosen_by_digits_with_anything_between(sandbox: SandboxProcess, ref: Ref) -> None:
    ref_id = ref()
    buy(sandbox, ref_id, product_code="ML86", destination="19000 (0004)")
    assert final(sandbox, ref_id)["status"] == "failed"


@pytest.mark.parametrize("destination", ["081290000099", "081290000030", "081230000004"])
def test_other_destinations_play_nothing(sandbox: SandboxProcess, ref: Ref, destination: str) -> None:
    ref_id = ref()
    assert buy(sandbox, ref_id, destination=destination).json()["data"]["status"] == "pending"
    assert final(sandbox, ref_id)["status"] == "success"
    assert sandbox.control("transactions", ref_id=ref_id)["transactions"][0]["scenario"] is None


@both
@pytest.mark.parametrize(("number", "seconds"), [(1, 3.0), (2, 60.0)])
def test_01_02_success_after_its_time(
    sandbox: SandboxProcess, ref: Ref, order: Order, number: int, seconds: float
) -> None:
    ref_id = ref()
    order(sandbox, ref_id, number)
    assert final(sandbox, ref_id, within=20)["status"] == "success"
    row = sandbox.control("transactions", ref_id=ref_id)["transactions"][0]
    assert seconds / SPEED <= elapsed(row) < seconds / SPEED + 2
    assert charged_once(sandbox, ref_id)


def elapsed(row: dict[str, Any]) -> float:
    from datetime import datetime

    return (datetime.fromisoformat(row["settled_at"]) - datetime.fromisoformat(row["created_at"])).total_seconds()


@both
def test_03_pending_until_told(sandbox: SandboxProcess, ref: Ref, order: Order) -> None:
    ref_id = ref()
    order(sandbox, ref_id, 3)
    time.sleep(1)
    assert status(sandbox, ref_id)["status"] == "pending"
    sandbox.control("settle", ref_id=ref_id, status="success", sn="TOLD-1")
    assert status(sandbox, ref_id)["sn"] == "TOLD-1"


@both
def test_04_failed_and_refunded(sandbox: SandboxProcess, ref: Ref, order: Order) -> None:
    ref_id = ref()
    order(sandbox, ref_id, 4)
    assert final(sandbox, ref_id)["status"] == "failed"
    assert [kind for kind, _ in movements(sandbox, ref_id)] == ["debit", "refund"]


@both
def test_05_accepted_but_the_connection_is_cut(
    sandbox: SandboxProcess, merchant: CallbackReceiver, ref: Ref, order: Order
) -> None:
    ref_id = ref()
    with pytest.raises(requests.ConnectionError):
        order(sandbox, ref_id, 5)
    assert final(sandbox, ref_id)["status"] == "success"
    assert charged_once(sandbox, ref_id)
    assert not merchant.of(ref_id)


@both
def test_06_accepted_but_no_answer_for_long(sandbox: SandboxProcess, ref: Ref, order: Order) -> None:
    ref_id = ref()
    started = time.monotonic()
    answer = order(sandbox, ref_id, 6)
    assert 40 / SPEED <= time.monotonic() - started < 40 / SPEED + 2
    assert answer.json()["data"]["status"] == "pending"
    assert final(sandbox, ref_id)["status"] == "success"
    assert charged_once(sandbox, ref_id)


def test_06_a_client_that_hangs_up_is_let_go(sandbox: SandboxProcess, ref: Ref) -> None:
    ref_id = ref()
    body = sandbox.signed("/v1/transaction/create", ref_id=ref_id, product_code="TSEL10", destination="081290000006")
    with pytest.raises(requests.ReadTimeout):
        requests.post(f"{sandbox.url}/v1/transaction/create", json=body, timeout=0.3)
    assert final(sandbox, ref_id)["status"] == "success"


@both
def test_07_accepted_but_http_500(sandbox: SandboxProcess, ref: Ref, order: Order) -> None:
    ref_id = ref()
    answer = order(sandbox, ref_id, 7)
    assert answer.status_code == 500
    with pytest.raises(requests.JSONDecodeError):
        answer.json()
    assert final(sandbox, ref_id)["status"] == "success"
    assert charged_once(sandbox, ref_id)


@both
def test_08_accepted_but_broken_json(sandbox: SandboxProcess, ref: Ref, order: Order) -> None:
    ref_id = ref()
    answer = order(sandbox, ref_id, 8)
    assert answer.status_code == 200
    with pytest.raises(json.JSONDecodeError):
        json.loads(answer.content)
    assert final(sandbox, ref_id)["status"] == "success"
    assert charged_once(sandbox, ref_id)


@both
def test_09_accepted_but_another_ref_id(sandbox: SandboxProcess, ref: Ref, order: Order) -> None:
    ref_id = ref()
    data = order(sandbox, ref_id, 9).json()["data"]
    assert data["ref_id"] != ref_id
    assert data["status"] == "success"
    assert final(sandbox, ref_id)["ref_id"] == ref_id
    assert charged_once(sandbox, ref_id)


@both
def test_10_accepted_but_the_price_is_no_whole_number(sandbox: SandboxProcess, ref: Ref, order: Order) -> None:
    ref_id = ref()
    price = order(sandbox, ref_id, 10).json()["data"]["price"]
    assert isinstance(price, float)
    assert isinstance(final(sandbox, ref_id)["price"], int)
    assert charged_once(sandbox, ref_id)


@pytest.mark.parametrize("number", [7, 8, 9, 10])
def test_a_fault_of_the_answer_is_played_once(sandbox: SandboxProcess, ref: Ref, number: int) -> None:
    ref_id = ref()
    buy_magic(sandbox, ref_id, number)
    again = buy_magic(sandbox, ref_id, number).json()["data"]
    assert (again["ref_id"], again["price"]) == (ref_id, 10_250)
    assert charged_once(sandbox, ref_id)


@both
def test_11_cut_before_anything_happened_and_later_it_goes_through(
    sandbox: SandboxProcess, ref: Ref, order: Order
) -> None:
    ref_id = ref()
    with pytest.raises(requests.ConnectionError):
        order(sandbox, ref_id, 11)
    time.sleep(0.5)
    assert not_charged(sandbox, ref_id)
    assert order(sandbox, ref_id, 11).json()["data"]["status"] == "pending"
    assert final(sandbox, ref_id)["status"] == "success"
    assert charged_once(sandbox, ref_id)


@both
def test_12_it_arrives_after_not_found(
    sandbox: SandboxProcess, merchant: CallbackReceiver, ref: Ref, order: Order
) -> None:
    ref_id = ref()
    with pytest.raises(requests.ConnectionError):
        order(sandbox, ref_id, 12)
    assert not_charged(sandbox, ref_id)
    assert final(sandbox, ref_id)["status"] == "success"
    assert charged_once(sandbox, ref_id)
    assert len(eventually(lambda: merchant.of(ref_id))) == 1


def test_12_a_repeat_before_it_arrives_is_charged_once(sandbox: SandboxProcess, ref: Ref) -> None:
    ref_id = ref()
    with pytest.raises(requests.ConnectionError):
        buy_magic(sandbox, ref_id, 12)
    assert buy_magic(sandbox, ref_id, 12).status_code == 200
    time.sleep(2.5)
    assert charged_once(sandbox, ref_id)


@both
def test_13_the_callback_comes_before_the_answer(
    sandbox: SandboxProcess, merchant: CallbackReceiver, ref: Ref, order: Order
) -> None:
    ref_id = ref()
    answer = order(sandbox, ref_id, 13)
    answered_at = time.monotonic()
    assert answer.json()["data"]["status"] == "pending"
    told = eventually(lambda: merchant.of(ref_id))[0]
    assert told.at < answered_at
    assert told.body["data"]["status"] == "success"


@both
def test_14_the_callback_comes_twice(
    sandbox: SandboxProcess, merchant: CallbackReceiver, ref: Ref, order: Order
) -> None:
    ref_id = ref()
    order(sandbox, ref_id, 14)
    first, second = eventually(lambda: merchant.of(ref_id) if len(merchant.of(ref_id)) == 2 else None) or []
    assert first.body["data"] == second.body["data"]
    assert first.headers["X-Delivery-Id"] != second.headers["X-Delivery-Id"]


@both
def test_15_the_callback_never_comes(
    sandbox: SandboxProcess, merchant: CallbackReceiver, ref: Ref, order: Order
) -> None:
    ref_id = ref()
    order(sandbox, ref_id, 15)
    assert final(sandbox, ref_id)["status"] == "success"
    time.sleep(0.5)
    assert not merchant.of(ref_id)


@both
def test_16_an_older_callback_comes_after_the_true_one(
    sandbox: SandboxProcess, merchant: CallbackReceiver, ref: Ref, order: Order
) -> None:
    ref_id = ref()
    order(sandbox, ref_id, 16)
    first, second = eventually(lambda: merchant.of(ref_id) if len(merchant.of(ref_id)) == 2 else None) or []
    assert [told.body["data"]["status"] for told in (first, second)] == ["success", "pending"]
    assert second.body["timestamp"] < first.body["timestamp"]
    assert status(sandbox, ref_id)["status"] == "success"


@both
def test_17_a_forged_callback_comes_first(
    sandbox: SandboxProcess, merchant: CallbackReceiver, ref: Ref, order: Order
) -> None:
    merchant.refuses = lambda received: received.headers["X-Signature"] != signature(sandbox, received.raw)
    ref_id = ref()
    order(sandbox, ref_id, 17)
    told = eventually(lambda: merchant.of(ref_id) if len(merchant.of(ref_id)) == 2 else None) or []
    assert [received.body["data"]["status"] for received in told] == ["failed", "success"]
    assert [received.headers["X-Signature"] == signature(sandbox, received.raw) for received in told] == [False, True]
    time.sleep(1)
    assert len(merchant.of(ref_id)) == 2, "the forger does not come back after a 403"


def signature(sandbox: SandboxProcess, raw: bytes) -> str:
    import hashlib
    import hmac

    return hmac.new(sandbox.secret_key.encode(), raw, hashlib.sha256).hexdigest()


@both
def test_18_a_signed_callback_contradicts_the_final_state(
    sandbox: SandboxProcess, merchant: CallbackReceiver, ref: Ref, order: Order
) -> None:
    ref_id = ref()
    order(sandbox, ref_id, 18)
    told = eventually(lambda: merchant.of(ref_id) if len(merchant.of(ref_id)) == 2 else None) or []
    assert [received.body["event"] for received in told] == ["transaction.success", "transaction.failed"]
    assert all(received.headers["X-Signature"] == signature(sandbox, received.raw) for received in told)
    assert status(sandbox, ref_id)["status"] == "success"
    assert charged_once(sandbox, ref_id)


def test_19_the_price_has_risen(sandbox: SandboxProcess, ref: Ref) -> None:
    ref_id = ref()
    destination = "081290000019"
    assert error_of(buy(sandbox, ref_id, destination=destination, max_price=10_250)) == (409, "PRICE_CHANGED")
    assert not_charged(sandbox, ref_id)
    listed = sandbox.call("/v1/products").json()["data"]["products"]
    assert [row["price"] for row in listed if row["product_code"] == "TSEL10"] == [10_750]
    assert error_of(buy(sandbox, ref_id, destination=destination, max_price=10_250)) == (409, "PRICE_CHANGED")
    assert buy(sandbox, ref_id, destination=destination, max_price=10_750).json()["data"]["price"] == 10_750
    assert final(sandbox, ref_id)["status"] == "success"
    assert movements(sandbox, ref_id) == [("debit", -10_750)]
    sandbox.control("product", product_code="TSEL10", price=10_250)


@both
def test_20_the_balance_is_short_until_a_top_up(sandbox: SandboxProcess, ref: Ref, order: Order) -> None:
    ref_id = ref()
    for _ in range(2):
        assert error_of(order(sandbox, ref_id, 20)) == (402, "INSUFFICIENT_BALANCE")
    assert not_charged(sandbox, ref_id)
    sandbox.control("topup", amount=1000)
    assert order(sandbox, ref_id, 20).status_code == 200
    assert charged_once(sandbox, ref_id)


@both
@pytest.mark.parametrize(
    ("number", "refusal"), [(21, (503, "CUT_OFF")), (22, (503, "PRODUCT_UNAVAILABLE"))], ids=["21", "22"]
)
def test_21_22_cut_off_and_disturbance_refuse_always(
    sandbox: SandboxProcess, ref: Ref, order: Order, number: int, refusal: tuple[int, str]
) -> None:
    ref_id = ref()
    for _ in range(2):
        assert error_of(order(sandbox, ref_id, number)) == refusal
    assert not_charged(sandbox, ref_id)


def test_23_the_destination_is_invalid(sandbox: SandboxProcess, ref: Ref) -> None:
    bought, checked = ref(), ref()
    assert error_of(buy_magic(sandbox, bought, 23)) == (422, "INVALID_DESTINATION")
    assert error_of(check_bill(sandbox, checked, destination="190000023")) == (422, "INVALID_DESTINATION")
    assert not_charged(sandbox, bought)


@both
def test_24_limited_once(sandbox: SandboxProcess, ref: Ref, order: Order) -> None:
    ref_id = ref()
    refused = order(sandbox, ref_id, 24)
    assert error_of(refused) == (429, "RATE_LIMITED")
    assert int(refused.headers["Retry-After"]) >= 1
    assert not_charged(sandbox, ref_id)
    assert order(sandbox, ref_id, 24).status_code == 200
    assert final(sandbox, ref_id)["status"] == "success"
    assert charged_once(sandbox, ref_id)


@both
def test_25_an_unknown_error_code(sandbox: SandboxProcess, ref: Ref, order: Order) -> None:
    ref_id = ref()
    assert error_of(order(sandbox, ref_id, 25)) == (400, "WEIRD_NEW_CODE")
    assert not_charged(sandbox, ref_id)
    assert order(sandbox, ref_id, 25).status_code == 200


def test_31_the_check_is_pending_then_valid(sandbox: SandboxProcess, ref: Ref) -> None:
    ref_id = ref()
    assert check_bill(sandbox, ref_id, destination="190000031").json()["data"]["status"] == "pending"
    time.sleep(0.5)
    assert error_of(pay(sandbox, ref_id)) == (409, "INQUIRY_PENDING")
    eventually(lambda: pay(sandbox, ref_id).status_code == 200)
    assert final(sandbox, ref_id)["status"] == "success"


def test_32_the_check_is_pending_until_told(sandbox: SandboxProcess, ref: Ref) -> None:
    ref_id = ref()
    check_bill(sandbox, ref_id, destination="190000032")
    time.sleep(1.2)
    assert error_of(pay(sandbox, ref_id)) == (409, "INQUIRY_PENDING")
    sandbox.control("settle", ref_id=ref_id, status="valid")
    assert check_bill(sandbox, ref_id, destination="190000032").json()["data"]["total"] > 0


def test_33_the_check_expires_soon(sandbox: SandboxProcess, ref: Ref) -> None:
    in_time, late = ref(), ref()
    for ref_id in (in_time, late):
        assert check_bill(sandbox, ref_id, destination="190000033").json()["data"]["status"] == "valid"
    assert pay(sandbox, in_time).status_code == 200
    time.sleep(15 / SPEED + 1)
    assert error_of(pay(sandbox, late)) == (410, "INQUIRY_EXPIRED")
    assert movements(sandbox, late) == []
    # what was paid in time stays paid
    assert pay(sandbox, in_time).json()["data"]["status"] == "success"


def test_34_the_total_rises_between_check_and_payment(sandbox: SandboxProcess, ref: Ref) -> None:
    ref_id = ref()
    total = check_bill(sandbox, ref_id, destination="190000034").json()["data"]["total"]
    assert error_of(pay(sandbox, ref_id, amount=total)) == (409, "AMOUNT_MISMATCH")
    assert movements(sandbox, ref_id) == []
    bill = check_bill(sandbox, ref_id, destination="190000034").json()["data"]
    assert bill["total"] == total + 2_500 == bill["amount"] + bill["admin_fee"] + bill["penalty"]
    assert pay(sandbox, ref_id, amount=total + 2_500).json()["data"]["price"] == total + 2_500


@pytest.mark.parametrize(("number", "code"), [(35, "BILL_ALREADY_PAID"), (36, "BILL_NOT_AVAILABLE")])
def test_35_36_there_is_nothing_to_pay(sandbox: SandboxProcess, ref: Ref, number: int, code: str) -> None:
    ref_id = ref()
    assert error_of(check_bill(sandbox, ref_id, destination=f"1900000{number}")) == (422, code)
    assert error_of(pay(sandbox, ref_id)) == (404, "BILL_NOT_FOUND")


@pytest.mark.parametrize(
    ("number", "refusal"), [(37, (422, "BILL_ALREADY_PAID")), (38, (404, "BILL_NOT_FOUND"))], ids=["37", "38"]
)
def test_37_38_the_payment_of_a_good_check_is_refused(
    sandbox: SandboxProcess, ref: Ref, number: int, refusal: tuple[int, str]
) -> None:
    ref_id = ref()
    before = balance(sandbox)
    assert error_of(pay_magic(sandbox, ref_id, number)) == refusal
    assert balance(sandbox) == before


def test_39_the_answer_of_the_check_is_lost(sandbox: SandboxProcess, ref: Ref) -> None:
    ref_id = ref()
    with pytest.raises(requests.ConnectionError):
        check_bill(sandbox, ref_id, destination="190000039")
    assert check_bill(sandbox, ref_id, destination="190000039").json()["data"]["status"] == "valid"
    assert pay(sandbox, ref_id).status_code == 200


def test_scenarios_for_bills_only_leave_purchases_alone(sandbox: SandboxProcess, ref: Ref) -> None:
    ref_id = ref()
    assert buy_magic(sandbox, ref_id, 35).json()["data"]["status"] == "pending"
    assert final(sandbox, ref_id)["status"] == "success"
