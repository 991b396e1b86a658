"""Magic destinations: the choice of a scenario, and the scenarios that need more than one request."""

from datetime import UTC, datetime

import pytest
import requests

from testing.sandbox_process import eventually
from tests.sandbox.calls import CREATE, KINDS, PRICE, PRODUCT, REFUSED_ALWAYS, data_of, error_of, magic, new_ref

# scenario → its refusal, and the kind for which it is
REFUSED_ONCE = {24: (429, "RATE_LIMITED"), 25: (400, "WEIRD_NEW_CODE")}
NO_INQUIRY = {23: "INVALID_DESTINATION", 35: "BILL_ALREADY_PAID", 36: "BILL_NOT_AVAILABLE"}
PRICE_CHANGED, EXPIRED = (409, "PRICE_CHANGED"), (410, "INQUIRY_EXPIRED")
each_kind = pytest.mark.parametrize("kind", KINDS)


def test_the_last_digits_of_a_destination_choose_a_scenario(sandbox):
    for product_code, destination, scenario in [
        (PRODUCT, "081290000004", 4),
        (PRODUCT, "+6281290000004", 4),
        (PRODUCT, "6281290000004", 4),
        ("ML86", "19000 (0004)", 4),
        (PRODUCT, "081290000099", None),
        (PRODUCT, "081290000030", None),
        (PRODUCT, "081230000004", None),
        # for bills only
        (PRODUCT, "081290000035", None),
    ]:
        answer = data_of(sandbox.buy(product_code=product_code, destination=destination))

        assert answer["status"] == "pending", destination
        assert sandbox.transaction(answer["ref_id"])["scenario"] == scenario, destination


def test_06_a_client_that_hangs_up_is_charged_once(sandbox):
    ref_id = new_ref()
    body = sandbox.signed(CREATE, ref_id=ref_id, product_code=PRODUCT, destination=magic(6))

    with pytest.raises(requests.ReadTimeout):
        requests.post(f"{sandbox.url}{CREATE}", json=body, timeout=0.3)

    assert sandbox.final(ref_id)["status"] == "success"
    assert sandbox.movements(ref_id) == [("debit", -PRICE)]


def test_12_a_repeat_before_it_arrives_is_charged_once(sandbox):
    first, later = new_ref(), new_ref()
    for ref_id in (first, later):
        with pytest.raises(requests.ConnectionError):
            sandbox.buy(ref_id, 12)

    assert sandbox.buy(first, 12).status_code == 200

    # the later callback has arrived, so the first has, too
    sandbox.final(later)
    assert sandbox.movements(first) == [("debit", -PRICE)]


def test_26_27_succeed_with_an_sn_that_is_none_of_their_own(sandbox):
    same = [sandbox.final(data_of(sandbox.buy(number=26))["ref_id"])["sn"] for _ in range(2)]
    token = {"product_code": "PLN20", "destination": "12390000027"}
    no_token = sandbox.final(data_of(sandbox.buy(**token))["ref_id"])["sn"]

    assert same == ["26002600260026002600"] * 2
    assert len(no_token) == 16


def test_19_the_risen_price_is_listed_until_it_is_accepted(sandbox):
    ref_id = new_ref()
    for _ in range(2):
        assert error_of(sandbox.buy(ref_id, 19, max_price=PRICE)) == PRICE_CHANGED
    assert sandbox.not_charged(ref_id)
    assert sandbox.products()[PRODUCT]["price"] == PRICE + 500

    assert data_of(sandbox.buy(ref_id, 19, max_price=PRICE + 500))["price"] == PRICE + 500

    assert sandbox.final(ref_id)["status"] == "success"
    assert sandbox.movements(ref_id) == [("debit", -PRICE - 500)]
    assert sandbox.products()[PRODUCT]["price"] == PRICE


def test_19_stays_listed_while_the_balance_is_short_until_a_person_sets_a_price(sandbox):
    ref_id = new_ref()
    sandbox.buy(ref_id, 19, max_price=PRICE)
    sandbox.control("account", balance=PRICE)

    assert error_of(sandbox.buy(ref_id, 19, max_price=PRICE + 500)) == (402, "INSUFFICIENT_BALANCE")

    assert sandbox.products()[PRODUCT]["price"] == PRICE + 500
    sandbox.control("product", product_code=PRODUCT, price=PRICE)
    assert sandbox.products()[PRODUCT]["price"] == PRICE


def test_19_the_price_rises_for_each_new_order(sandbox):
    first, second = new_ref(), new_ref()
    for ref_id, known in ((first, PRICE), (second, PRICE + 500)):
        assert error_of(sandbox.buy(ref_id, 19, max_price=known)) == PRICE_CHANGED
    assert sandbox.products()[PRODUCT]["price"] == PRICE + 1000

    for ref_id in (first, second):
        assert sandbox.buy(ref_id, 19, max_price=PRICE + 1000).status_code == 200

    assert sandbox.movements(first) == [("debit", -PRICE - 500)]
    assert sandbox.movements(second) == [("debit", -PRICE - 1000)]
    assert sandbox.products()[PRODUCT]["price"] == PRICE


def test_after_19_other_scenarios_hold_their_row(sandbox):
    cut, limited = new_ref(), new_ref()
    assert error_of(sandbox.buy(number=19, max_price=PRICE)) == PRICE_CHANGED

    with pytest.raises(requests.ConnectionError):
        sandbox.buy(cut, 12, max_price=PRICE)
    assert error_of(sandbox.buy(limited, 24, max_price=PRICE)) == REFUSED_ONCE[24]
    assert sandbox.buy(limited, 24, max_price=PRICE).status_code == 200

    for ref_id in (cut, limited):
        assert sandbox.final(ref_id)["status"] == "success"
        assert sandbox.movements(ref_id) == [("debit", -PRICE)]


def test_a_refused_order_is_refused_again_and_not_charged(sandbox):
    for kind, number, refusal in REFUSED_ALWAYS:
        ref_id = new_ref()

        for _ in range(2):
            assert error_of(sandbox.order(kind, ref_id, number)) == refusal, (kind, number)

        assert sandbox.not_charged(ref_id), (kind, number)


def test_24_25_an_order_refused_once_succeeds_when_sent_again(sandbox):
    orders = [(number, kind, new_ref()) for number in REFUSED_ONCE for kind in KINDS]
    for number, kind, ref_id in orders:
        refused = sandbox.order(kind, ref_id, number)
        assert error_of(refused) == REFUSED_ONCE[number], (number, kind)
        assert ("Retry-After" in refused.headers) is (number == 24)
        assert sandbox.not_charged(ref_id)

        assert sandbox.order(kind, ref_id, number).status_code == 200, (number, kind)

    for number, kind, ref_id in orders:
        assert sandbox.final(ref_id)["status"] == "success", (number, kind)
        assert [name for name, _ in sandbox.movements(ref_id)] == ["debit"], (number, kind)


@each_kind
def test_20_the_balance_is_short_until_a_top_up(sandbox, kind):
    ref_id = new_ref()
    for _ in range(2):
        assert error_of(sandbox.order(kind, ref_id, 20)) == (402, "INSUFFICIENT_BALANCE")
    assert sandbox.not_charged(ref_id)

    sandbox.control("topup", amount=1000)

    assert sandbox.order(kind, ref_id, 20).status_code == 200
    assert [name for name, _ in sandbox.movements(ref_id)] == ["debit"]


def test_23_35_36_a_refused_inquiry_leaves_nothing_to_pay(sandbox):
    for number, refusal in NO_INQUIRY.items():
        ref_id = new_ref()

        assert error_of(sandbox.inquire(ref_id, number)) == (422, refusal)

        assert error_of(sandbox.pay(ref_id)) == (404, "BILL_NOT_FOUND"), number


def test_31_an_inquiry_is_pending_then_valid_by_itself(sandbox):
    ref_id = new_ref()
    assert data_of(sandbox.inquire(ref_id, 31))["status"] == "pending"

    eventually(lambda: data_of(sandbox.inquire(ref_id, 31))["status"] == "valid")

    assert sandbox.pay(ref_id).status_code == 200


def test_32_a_pending_inquiry_is_refused_until_completed(sandbox):
    ref_id, before = new_ref(), sandbox.balance()
    sandbox.inquire(ref_id, 32)
    assert error_of(sandbox.pay(ref_id)) == (409, "INQUIRY_PENDING")
    assert (sandbox.balance(), sandbox.movements(ref_id)) == (before, [])

    sandbox.settle(ref_id, "valid")

    assert data_of(sandbox.inquire(ref_id, 32))["total"] > 0
    assert sandbox.pay(ref_id).status_code == 200


def test_33_an_expired_inquiry_is_refused_unless_paid_before(sandbox):
    def paid_in_time():
        ref_id = new_ref()
        sandbox.inquire(ref_id, 33)
        return ref_id if sandbox.pay(ref_id).status_code == 200 else None

    late, paid = new_ref(), eventually(paid_in_time)
    expires_at = datetime.fromisoformat(data_of(sandbox.inquire(late, 33))["expires_at"])
    before = sandbox.balance()

    # an amount that is never the total, so that this request does not pay
    eventually(lambda: error_of(sandbox.pay(late, amount=1)) == EXPIRED)

    assert datetime.now(UTC) >= expires_at
    assert error_of(sandbox.pay(late)) == EXPIRED
    assert (sandbox.balance(), sandbox.movements(late)) == (before, [])
    assert data_of(sandbox.pay(paid))["status"] == "success"
    # a new inquiry with a new ref_id can be paid
    assert eventually(paid_in_time)


def test_34_the_total_rises_between_inquiry_and_payment(sandbox):
    ref_id = new_ref()
    total = data_of(sandbox.inquire(ref_id, 34))["total"]
    before = sandbox.balance()

    assert error_of(sandbox.pay(ref_id, amount=total)) == (409, "AMOUNT_MISMATCH")

    assert sandbox.balance() == before
    bill = data_of(sandbox.inquire(ref_id, 34))
    assert bill["total"] == total + 2_500 == bill["amount"] + bill["admin_fee"] + bill["penalty"]
    assert data_of(sandbox.pay(ref_id, amount=total + 2_500))["price"] == total + 2_500


def test_39_a_lost_inquiry_is_returned_when_asked_again(sandbox):
    ref_id = new_ref()
    with pytest.raises(requests.ConnectionError):
        sandbox.inquire(ref_id, 39)

    assert data_of(sandbox.inquire(ref_id, 39))["status"] == "valid"

    assert sandbox.pay(ref_id).status_code == 200
