"""The rate budget in the real Valkey: never over a limit, people first, nothing forgotten.

No test waits for a window: every moment that the budget knows is a score in Redis, and `later` moves them all back.
"""

import random
import threading
import time
from collections.abc import Callable

import pytest
import redis
from django.conf import settings

from tests.upstream.scripted_upstream import Eventually, MakeConfig
from upstream import budget as budget_module
from upstream.budget import MARGIN_SECONDS, PERMIT_SECONDS, Budget, CallClass, Permit
from upstream.config import Rate
from upstream.endpoints import Endpoint, Limit
from upstream.errors import Unavailable

STATUS = Endpoint.TRANSACTION_STATUS
PEOPLE, NOBODY = CallClass.INTERACTIVE, CallClass.BACKGROUND
FAST = Rate(10_000, 1.0)
LONGEST_LIFE = PERMIT_SECONDS + 5.0 + 30.0 + MARGIN_SECONDS
MakeBudget = Callable[..., Budget]
Later = Callable[[Budget, float], None]


@pytest.fixture
def make_budget(make_config: MakeConfig) -> MakeBudget:
    """Make budgets that are open; those with the same `secret_id` share one account, as processes do."""

    def make(account_rate: Rate, *, fresh: bool = True, **options: object) -> Budget:
        config = make_config(**({"account_rate": account_rate, "connect_timeout": 5.0, "read_timeout": 30.0} | options))
        budget = Budget(config)
        if fresh:
            budget.declare_fresh()
        return budget

    return make


@pytest.fixture
def valkey() -> redis.Redis:
    return redis.Redis.from_url(settings.REDIS_URL)


@pytest.fixture
def later(valkey: redis.Redis) -> Later:
    """Let this many seconds pass for everything that the budget has in Redis."""

    def move(budget: Budget, seconds: float) -> None:
        for key in {key for limit in Limit for key in budget._keys(limit)}:
            for member in valkey.zrange(key, 0, -1):
                valkey.zincrby(key, -seconds * 1_000_000, member)

    return move


def take(budget: Budget, how_many: int = 1, call_class: CallClass = PEOPLE) -> list[Permit]:
    return [budget.reserve(STATUS, call_class, wait_seconds=30) for _ in range(how_many)]


def refusal(budget: Budget, call_class: CallClass = NOBODY, endpoint: Endpoint = STATUS, wait: float = 0.0) -> float:
    """Ask, be refused, and return after how many seconds to ask again."""
    with pytest.raises(Unavailable) as caught:
        budget.reserve(endpoint, call_class, wait)
    assert caught.value.reason == "budget"
    assert caught.value.retry_after is not None
    return caught.value.retry_after


def most_in_any_window(moments: list[float], window: float) -> int:
    ordered = sorted(moments)
    return max(sum(1 for other in ordered if start <= other < start + window) for start in ordered)


# --- Never over the limit ----------------


def test_processes_together_never_exceed_a_limit_in_any_window(
    make_budget: MakeBudget, monkeypatch: pytest.MonkeyPatch
) -> None:
    # given four processes with three threads each, which all call as often as they may
    monkeypatch.setattr(budget_module, "PERMIT_SECONDS", 0.1)
    monkeypatch.setattr(budget_module, "MARGIN_SECONDS", 0.1)
    rate, life = Rate(20, 0.25), {"connect_timeout": 0.1, "read_timeout": 0.1}
    budgets = [make_budget(rate, secret_id="shared-by-four", fresh=not index, **life) for index in range(4)]
    stop_at = time.monotonic() + 1.2
    arrivals: list[float] = []

    def saturate(budget: Budget, seed: int) -> None:
        dice = random.Random(seed)
        while time.monotonic() < stop_at:
            try:
                permit = budget.reserve(STATUS, dice.choice([PEOPLE, PEOPLE, NOBODY]), wait_seconds=0.5)
            except Unavailable:
                time.sleep(0.01)
                continue
            # when each request arrives at some moment before its answer is back
            time.sleep(dice.random() * 0.03)
            arrivals.append(time.monotonic())
            time.sleep(dice.random() * 0.03)
            permit.complete()

    threads = [threading.Thread(target=saturate, args=(budgets[n % 4], n)) for n in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    # then no window of that length, wherever it begins, saw more than the limit, and several windows were used
    assert most_in_any_window(arrivals, rate.window) <= rate.calls
    assert len(arrivals) > rate.calls


def test_a_call_counts_for_a_window_after_its_completion(make_budget: MakeBudget, later: Later) -> None:
    budget = make_budget(Rate(2, 60.0))  # one at a time
    [permit] = take(budget)
    later(budget, 50)
    permit.complete()

    later(budget, 59)
    refusal(budget)
    later(budget, 1)

    take(budget)


def test_an_unanswered_call_counts_for_its_life_and_a_window(make_budget: MakeBudget, later: Later) -> None:
    budget = make_budget(Rate(2, 60.0))
    take(budget)  # and its process dies

    later(budget, LONGEST_LIFE + 59)
    refusal(budget)
    later(budget, 1)

    take(budget)


def test_a_cancelled_permit_no_longer_counts(make_budget: MakeBudget) -> None:
    budget = make_budget(Rate(2, 3600.0), products_rate=FAST)
    free = budget.background_allowance(3600.0)
    [permit] = take(budget)
    assert budget.background_allowance(3600.0) == 0

    permit.cancel()
    permit.complete()  # too late: a permit is settled once

    assert budget.background_allowance(36_000.0) == free == 1


def test_calls_are_paced(make_budget: MakeBudget) -> None:
    budget = make_budget(Rate(10, 60.0))
    take(budget)

    assert 5 < refusal(budget) <= 60 / 9.5


def test_an_endpoint_counts_against_its_own_limits_only(make_budget: MakeBudget) -> None:
    budget = make_budget(FAST, ip_rate=FAST, products_rate=Rate(6, 60.0))
    budget.reserve(Endpoint.PRODUCTS, PEOPLE, 1.0)

    refusal(budget, PEOPLE, Endpoint.PRODUCTS)  # its own limit is paced
    take(budget)  # which does not concern the others

    narrow_ip = make_budget(FAST, ip_rate=Rate(2, 3600.0))
    take(narrow_ip)
    refusal(narrow_ip, PEOPLE, Endpoint.PRODUCTS)


def test_a_refused_call_uses_up_nothing(make_budget: MakeBudget, valkey: redis.Redis) -> None:
    budget = make_budget(FAST, ip_rate=Rate(2, 3600.0))
    take(budget)
    account_calls, _ = budget._keys(Limit.ACCOUNT)
    counted = valkey.zcard(account_calls)

    refusal(budget)

    assert valkey.zcard(account_calls) == counted


def test_a_limit_of_one_call_still_lets_that_one_through(make_budget: MakeBudget) -> None:
    take(make_budget(Rate(1, 60.0)))


# --- People before background ----------------


def test_background_leaves_a_sixth_to_people(make_budget: MakeBudget, later: Later) -> None:
    budget = make_budget(Rate(12, 60.0))
    pace = 60 / 11.5

    for _ in range(9):  # 12 - 1 - 2
        take(budget, 1, NOBODY)
        later(budget, pace + 0.1)

    assert refusal(budget) > pace  # no room
    for _ in range(2):
        take(budget)
        later(budget, pace + 0.1)
    assert refusal(budget, PEOPLE) > pace


def test_while_a_person_waits_background_is_refused(
    make_budget: MakeBudget, valkey: redis.Redis, eventually: Eventually
) -> None:
    # given a limit that is paced for a while, and a person's call waiting for it
    budget = make_budget(Rate(4, 1.0))
    take(budget)
    _, waiting = budget._keys(Limit.ACCOUNT)
    served = threading.Event()

    def person() -> None:
        budget.reserve(STATUS, PEOPLE, wait_seconds=10)
        served.set()

    thread = threading.Thread(target=person)
    thread.start()
    eventually(lambda: valkey.zcard(waiting) == 1)
    assert budget.background_allowance(5.0) == 0

    # when background asks as often as it can, also at the moment when the pace allows one more
    overtaken = False
    while not served.is_set() and not overtaken and thread.is_alive():
        try:
            budget.reserve(STATUS, NOBODY)
            overtaken = not served.is_set()
        except Unavailable:
            time.sleep(0.001)

    # then the person is served first, and leaves no trace in the queue
    thread.join(10)
    assert served.is_set()
    assert not overtaken
    assert valkey.zcard(waiting) == 0


def test_a_wait_that_cannot_succeed_is_not_begun(make_budget: MakeBudget, valkey: redis.Redis) -> None:
    budget = make_budget(Rate(2, 3600.0))
    take(budget)
    _, waiting = budget._keys(Limit.ACCOUNT)

    assert refusal(budget, PEOPLE, wait=30.0) > 30

    assert valkey.zcard(waiting) == 0  # and it does not stop background


def test_a_dead_waiter_stops_background_only_until_its_deadline(
    make_budget: MakeBudget, valkey: redis.Redis, later: Later
) -> None:
    budget = make_budget(FAST)
    _, waiting = budget._keys(Limit.ACCOUNT)
    seconds, microseconds = valkey.time()
    valkey.zadd(waiting, {"died": seconds * 1_000_000 + microseconds + 9_000_000})
    refusal(budget)

    later(budget, 9)

    assert budget.background_allowance() > 0
    take(budget, 1, NOBODY)


def test_the_allowance_says_how_many_background_calls_fit(make_budget: MakeBudget) -> None:
    budget = make_budget(Rate(120, 60.0))
    assert budget.background_allowance() == 1
    assert budget.background_allowance(5.0) == 10  # two a second
    assert budget.background_allowance(3600.0) == 99  # 120 - 1 - 20

    take(budget, 1, NOBODY)

    assert budget.background_allowance() == 0
    assert budget.background_allowance(3600.0) == 98


# --- What may go wrong ----------------


@pytest.mark.parametrize("how", ["everything", "one set"])
def test_an_emptied_redis_waits_a_window(make_budget: MakeBudget, valkey: redis.Redis, later: Later, how: str) -> None:
    budget = make_budget(Rate(100, 60.0), ip_rate=Rate(100, 60.0))
    [permit] = take(budget)
    account_calls, _ = budget._keys(Limit.ACCOUNT)
    ip_calls, _ = budget._keys(Limit.IP)
    valkey.delete(account_calls, *([ip_calls] if how == "everything" else []))

    permit.complete()  # a call under way counts again, but does not open the budget
    assert budget.background_allowance() == 0
    later(budget, 59)
    assert refusal(budget) > 0
    later(budget, 1)

    take(budget)


def test_a_new_account_waits_a_window_unless_declared_fresh(make_budget: MakeBudget, later: Later) -> None:
    budget = make_budget(Rate(100, 60.0), fresh=False)
    assert refusal(budget, PEOPLE, wait=1.0) > 50

    budget.declare_fresh()

    take(budget)
    later(budget, 1)
    budget.reserve(Endpoint.PRODUCTS, PEOPLE)


def test_declaring_fresh_does_not_forget_calls(make_budget: MakeBudget) -> None:
    budget = make_budget(Rate(10, 60.0))
    take(budget)

    budget.declare_fresh()

    refusal(budget)


def test_a_block_holds_for_all_processes_and_shortens_no_wait(make_budget: MakeBudget) -> None:
    budget = make_budget(FAST, secret_id="blocked")
    other_process = make_budget(FAST, secret_id="blocked", fresh=False)

    budget.block(30)
    budget.block(1)

    assert 25 < refusal(other_process) <= 30
    assert other_process.background_allowance() == 0


def test_a_block_of_an_emptied_redis_still_waits_a_window(make_budget: MakeBudget) -> None:
    budget = make_budget(Rate(100, 60.0), fresh=False)

    budget.block(1)

    assert refusal(budget) > 50


def test_an_absurd_block_ends_after_an_hour(make_budget: MakeBudget) -> None:
    budget = make_budget(FAST)
    budget.block(10**9)
    assert refusal(budget) <= 3600


def test_a_permit_kept_too_long_cannot_be_used(make_budget: MakeBudget, monkeypatch: pytest.MonkeyPatch) -> None:
    budget = make_budget(FAST)
    young, old = take(budget, 2)
    assert young.start(STATUS)

    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now + PERMIT_SECONDS)

    assert not old.start(STATUS)


def test_without_redis_every_answer_is_no(make_budget: MakeBudget) -> None:
    budget = make_budget(FAST, redis_url="redis://127.0.0.1:9/0", fresh=False)
    for ask in (lambda: budget.reserve(STATUS, PEOPLE, 10), budget.background_allowance, budget.declare_fresh):
        with pytest.raises(Unavailable) as caught:
            ask()
        assert caught.value.reason == "budget_unreachable"
    budget.block(5)  # and what only helps is no reason to fail


def test_a_reservation_whose_answer_was_lost_may_be_repeated(make_budget: MakeBudget, valkey: redis.Redis) -> None:
    # given a script that ran, and whose answer did not arrive: the library runs it again with the same permit
    budget = make_budget(Rate(10, 60.0))
    script = budget._scripts["reserve"]
    answers = []

    def twice(**arguments: object) -> object:
        answers.append(script(**arguments))
        answers.append(script(**arguments))
        return answers[-1]

    budget._scripts["reserve"] = twice
    budget.reserve(STATUS, PEOPLE)

    assert answers == [[1, 0], [1, 0]]
    account_calls, _ = budget._keys(Limit.ACCOUNT)
    assert valkey.zcard(account_calls) == 2  # the one call, and the moment of the next


def test_keys_hold_no_secret_expire_and_share_a_slot(make_budget: MakeBudget, valkey: redis.Redis) -> None:
    budget = make_budget(FAST, secret_id="very-secret-id")
    budget.reserve(Endpoint.PRODUCTS, PEOPLE)

    keys = [key.decode() for key in valkey.scan_iter(f"*{budget._config.account_hash}*")]

    assert len(keys) == 3
    assert all(f"{{{budget._config.account_hash}}}" in key and "secret" not in key for key in keys)
    assert all(valkey.ttl(key) > 0 for key in keys)
