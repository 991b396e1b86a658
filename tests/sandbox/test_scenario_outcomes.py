"""Magic destinations that end without another request. All are ordered first, so that their delays overlap."""

import hashlib
import hmac
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime

import pytest
import requests

from testing.sandbox_process import SandboxProcess, eventually
from tests.callback_receiver import CallbackReceiver
from tests.sandbox.calls import KINDS, OUTCOMES, data_of, new_ref

SPEED = 20
ENDING = [number for number in OUTCOMES if number not in (3, 11)]
each_kind = pytest.mark.parametrize("kind", KINDS)


@dataclass
class Played:
    """One order: its first answer (None: the connection was cut), and when it came (time.monotonic())."""

    ref_id: str
    answer: requests.Response | None
    started_at: float
    answered_at: float


@dataclass
class World:
    """The sandbox, the merchant who gets its callbacks, and each order by scenario and kind."""

    sandbox: SandboxProcess
    merchant: CallbackReceiver
    orders: dict[tuple[int, str], Played]

    def order(self, number, kind):
        """Send the order of a scenario; a second time, the same request again."""
        ref_id, started_at = self.orders[number, kind].ref_id, time.monotonic()
        try:
            answer = self.sandbox.order(kind, ref_id, number)
        except requests.ConnectionError:
            answer = None
        return Played(ref_id, answer, started_at, time.monotonic())


@pytest.fixture(scope="module")
def world(sandbox_process):
    """Every scenario of OUTCOMES, ordered at the same time."""
    merchant = CallbackReceiver()
    merchant.refuses = lambda received: not is_signed(sandbox_process, received)
    sandbox_process.control("reset")
    sandbox_process.control("account", callback_url=merchant.url)
    keys = [(number, kind) for number in OUTCOMES for kind in KINDS]
    played = World(sandbox_process, merchant, {key: Played(new_ref(), None, 0, 0) for key in keys})
    with ThreadPoolExecutor(8) as pool:
        answered = list(pool.map(lambda key: played.order(*key), keys))
    played.orders = dict(zip(keys, answered, strict=True))
    yield played
    merchant.close()


def is_signed(sandbox, received):
    expected = hmac.new(sandbox.secret_key.encode(), received.raw, hashlib.sha256).hexdigest()
    return received.headers["X-Signature"] == expected


def kind_of_answer(order):
    if order.answer is None:
        return "cut"
    if order.answer.status_code == 500:
        return "HTTP 500"
    try:
        data = order.answer.json()["data"]
    except requests.JSONDecodeError:
        return "broken JSON"
    if data["ref_id"] != order.ref_id:
        return f"another ref_id, {data['status']}"
    return data["status"] if isinstance(data["price"], int) else "price not whole"


def test_each_scenario_answers_as_its_row_says(world):
    answers = {key: kind_of_answer(order) for key, order in world.orders.items()}

    assert answers == {(number, kind): row[0] for number, row in OUTCOMES.items() for kind in KINDS}


@each_kind
def test_each_scenario_ends_charged_once_and_repeats_plainly(world, kind):
    for number in ENDING:
        ref_id = world.orders[number, kind].ref_id

        data = world.sandbox.final(ref_id)
        repeated = data_of(world.order(number, kind).answer)

        assert repeated == data, number
        assert (data["ref_id"], type(data["price"])) == (ref_id, int), number
        status, price = ("failed" if number == 4 else "success"), data["price"]
        moved = [("debit", -price), *([("refund", price)] if number == 4 else [])]
        assert (data["status"], world.sandbox.movements(ref_id)) == (status, moved), number


@each_kind
def test_each_scenario_sends_the_callbacks_of_its_row(world, kind):
    for number in ENDING:
        ref_id, contents = world.orders[number, kind].ref_id, OUTCOMES[number][1]
        ending = world.sandbox.final(ref_id)["status"]

        rows = eventually(lambda: all_ended(world.sandbox.deliveries(ref_id)))[0]  # noqa: B023

        says = {"true": ending, "stale": "pending", "forged": "failed", "contradiction": "failed"}
        arrived = world.merchant.of(ref_id)
        assert [row["content"] for row in rows] == contents, number
        assert [received.body["data"]["status"] for received in arrived] == [says[content] for content in contents]
        assert [is_signed(world.sandbox, received) for received in arrived] == [name != "forged" for name in contents]
        assert len({received.headers["X-Delivery-Id"] for received in arrived}) == len(contents), number
        # a forged callback is refused and not sent again
        assert [len(row["attempts"]) for row in rows] == [1] * len(contents), number
        assert world.sandbox.status(ref_id)["status"] == ending, number


def all_ended(rows):
    return (rows,) if all(row["state"] != "waiting" for row in rows) else None


def test_01_02_settle_no_earlier_than_their_seconds(world):
    for number, seconds in [(1, 3), (2, 60)]:
        for kind in KINDS:
            ref_id = world.orders[number, kind].ref_id
            world.sandbox.final(ref_id)

            row = world.sandbox.transaction(ref_id)

            assert seconds_between(row["created_at"], row["settled_at"]) >= seconds / SPEED, (number, kind)


def seconds_between(earlier, later):
    return (datetime.fromisoformat(later) - datetime.fromisoformat(earlier)).total_seconds()


@each_kind
def test_03_stays_pending_until_a_person_settles_it(world, kind):
    ref_id = world.orders[3, kind].ref_id
    world.sandbox.final(world.orders[2, kind].ref_id)
    assert world.sandbox.status(ref_id)["status"] == "pending"

    world.sandbox.settle(ref_id, "success", sn="SN-1")

    assert world.sandbox.status(ref_id)["sn"] == "SN-1"


def test_06_answers_no_earlier_than_its_seconds(world):
    for order in (world.orders[6, kind] for kind in KINDS):
        assert order.answered_at - order.started_at >= 40 / SPEED


def test_12_takes_effect_only_seconds_after_the_cut(world):
    for ref_id in (world.orders[12, kind].ref_id for kind in KINDS):
        world.sandbox.final(ref_id)

        requests_of = world.sandbox.control("requests", ref_id=ref_id)["requests"]

        cut = next(row for row in requests_of if not row["http_status"])
        assert seconds_between(cut["at"], world.sandbox.transaction(ref_id)["created_at"]) >= 20 / SPEED


def test_13_sends_its_callback_before_its_answer(world):
    for order in (world.orders[13, kind] for kind in KINDS):
        assert world.merchant.of(order.ref_id)[0].at < order.answered_at


def test_16_sends_a_second_callback_with_an_older_timestamp(world):
    for ref_id in (world.orders[16, kind].ref_id for kind in KINDS):
        newer, older = eventually(lambda: world.merchant.of(ref_id)[1:] and world.merchant.of(ref_id))  # noqa: B023

        assert older.body["timestamp"] < newer.body["timestamp"]


@each_kind
def test_11_stays_not_found_and_succeeds_when_sent_again(world, kind):
    ref_id = world.orders[11, kind].ref_id
    world.sandbox.final(world.orders[2, kind].ref_id)
    assert world.sandbox.not_charged(ref_id)

    assert kind_of_answer(world.order(11, kind)) == "pending"

    assert world.sandbox.final(ref_id)["status"] == "success"
    assert [name for name, _ in world.sandbox.movements(ref_id)] == ["debit"]
