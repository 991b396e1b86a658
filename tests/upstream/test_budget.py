"""The rate budget in the real Valkey: never over a limit, nothing forgotten.

No test waits for a window: every time of the budget is a score in Redis, and `later` moves all of them back.
"""

import random
import threading
import time

import pytest
import redis

from tests.upstream.budget_steps import FAST, NOBODY, PEOPLE, STATUS, Later, MakeBudget, begin, refusal, take
from upstream import budget as budget_module
from upstream.budget import MARGIN_SECONDS, PERMIT_SECONDS, Budget
from upstream.config import Rate
from upstream.endpoints import Endpoint, Limit
from upstream.errors import Unavailable

LONGEST_LIFE = 5.0 + 30.0 + MARGIN_SECONDS


def most_in_any_window(moments: list[float], window: float) -> int:
    ordered = sorted(moments)
    return max(sum(1 for other in ordered if start <= other < start + window) for start in ordered)


# --- Never over the limit ----------------


def test_processes_together_never_exceed_a_limit_in_any_window(
    make_budget: MakeBudget, monkeypatch: pytest.MonkeyPatch
) -> None:
    # given four processes with three threads each, which all call as often as possible
    monkeypatch.setattr(budget_module, "PERMIT_SECONDS", 2.0)
    monkeypatch.setattr(budget_module, "MARGIN_SECONDS", 1.0)
    rate, life = Rate(20, 0.25), {"connect_timeout": 1.0, "read_timeout": 1.0}
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
            assert permit.start(STATUS)
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

    # then no window of that length, with any beginning, had more than the limit, and several windows were used
    assert most_in_any_window(arrivals, rate.window) <= rate.calls
    assert len(arrivals) > rate.calls


def test_a_call_counts_for_a_window_after_its_completion_or_from_when_it_was_counted_at_the_latest(
    make_budget: MakeBudget, later: Later
) -> None:
    # an upstream that counts a request within 2 s after it was written; seconds since then, and for which it counts
    for since_written, counts_for in ((5.0, 57.03), (30.0, 32.03), (1.9, 60.03)):
        budget = make_budget(Rate(1, 60.0), counts_within=2.0)
        [permit] = begin(budget)

        budget.record_completion(permit, since_written)

        later(budget, counts_for - 1)
        assert 0 < refusal(budget, PEOPLE) <= 1, since_written
        later(budget, 1)
        take(budget)

    budget = make_budget(Rate(1, 60.0))
    [permit] = begin(budget)
    later(budget, 30)
    permit.complete()
    later(budget, 59)
    refusal(budget)
    later(budget, 1)
    take(budget)


def test_an_unanswered_call_counts_for_its_life_and_a_window(make_budget: MakeBudget, later: Later) -> None:
    for counts_within, life in ((0.0, LONGEST_LIFE), (2.0, 5.0 + 2.0 + MARGIN_SECONDS)):
        budget = make_budget(Rate(1, 60.0), counts_within=counts_within)
        begin(budget)  # and the process dies

        later(budget, life + 59)
        refusal(budget)
        later(budget, 1)

        take(budget)


def test_a_call_counts_from_its_moment_even_while_it_is_prepared(make_budget: MakeBudget, later: Later) -> None:
    # given a place that becomes free in a second, and a permit that is booked for that moment
    budget = make_budget(Rate(1, 60.0))
    begin(budget)[0].complete()
    later(budget, 59)
    ahead = budget.book(STATUS, PEOPLE, 2.0)

    # then nobody else gets the place, now or at that moment
    refusal(budget, PEOPLE)
    later(budget, 2)
    refusal(budget, PEOPLE)
    assert ahead.start(STATUS)


def test_no_place_is_promised_that_a_booked_call_may_still_need(make_budget: MakeBudget) -> None:
    # given the only place booked; its call may begin until just before the permit is void, and then still counts
    budget = make_budget(Rate(1, 60.0))
    take(budget)

    assert refusal(budget, PEOPLE, wait=PERMIT_SECONDS + 5) > PERMIT_SECONDS + LONGEST_LIFE


def test_a_permit_is_not_started_before_its_moment(make_budget: MakeBudget) -> None:
    budget = make_budget(Rate(1, 0.3))
    [before] = begin(budget)
    completed = time.monotonic()
    before.complete()

    [permit] = begin(budget)

    assert time.monotonic() - completed >= 0.3
    assert permit.started


def test_an_unused_permit_is_void_and_never_starts(make_budget: MakeBudget, later: Later) -> None:
    budget = make_budget(Rate(1, 60.0))
    [permit] = take(budget)  # and the process freezes

    later(budget, PERMIT_SECONDS - 1)
    refusal(budget)
    later(budget, 1)

    take(budget)
    assert not permit.start(STATUS)


def test_a_permit_handed_over_starts_once_and_given_back_frees_no_place_of_its_call(make_budget: MakeBudget) -> None:
    budget = make_budget(Rate(1, 3600.0), secret_id="two-processes")
    other_process = make_budget(Rate(1, 3600.0), secret_id="two-processes", fresh=False)
    permit_id = budget.book(STATUS, NOBODY, 1.0).hand_over()

    starts = [other_process.take_over(permit_id, STATUS).start(STATUS) for _ in range(2)]

    assert starts == [True, False]
    assert other_process.used() == 1

    # when the message came twice, and another process finds nothing to do
    budget.take_over(permit_id, STATUS).cancel()
    assert budget.used() == 1
    refusal(budget, PEOPLE)


def test_a_cancelled_permit_no_longer_counts_and_its_turn_is_the_next_ones(make_budget: MakeBudget) -> None:
    budget = make_budget(Rate(2, 3600.0))
    _, second = take(budget, 2)
    refusal(budget, PEOPLE)

    second.cancel()
    second.complete()  # too late: a permit is settled only once

    assert budget.used() == 1
    take(budget)

    paced = make_budget(Rate(100, 60.0))
    for _ in range(3):
        take(paced, 1, NOBODY)[0].cancel()


def test_an_endpoint_counts_against_its_own_limits_only(make_budget: MakeBudget) -> None:
    budget = make_budget(FAST, ip_rate=FAST, products_rate=Rate(6, 60.0))
    budget.reserve(Endpoint.PRODUCTS, NOBODY, 1.0)

    refusal(budget, NOBODY, Endpoint.PRODUCTS)  # the endpoint's own limit is paced
    take(budget)  # which does not concern the other endpoints

    narrow_ip = make_budget(FAST, ip_rate=Rate(1, 3600.0))
    take(narrow_ip)
    refusal(narrow_ip, PEOPLE, Endpoint.PRODUCTS)


def test_a_refused_call_uses_up_nothing(make_budget: MakeBudget, valkey: redis.Redis) -> None:
    budget = make_budget(FAST, ip_rate=Rate(1, 3600.0))
    take(budget)
    account_calls, _ = budget._keys(Limit.ACCOUNT)
    counted = valkey.zcard(account_calls)

    refusal(budget)

    assert valkey.zcard(account_calls) == counted


# --- What may go wrong ----------------


def test_an_emptied_redis_waits_a_window(make_budget: MakeBudget, valkey: redis.Redis, later: Later) -> None:
    for how in ("everything", "one set"):
        budget = make_budget(Rate(100, 60.0), ip_rate=Rate(100, 60.0))
        [permit] = begin(budget)
        booked = budget.book(STATUS, PEOPLE, 1.0)
        account_keys, ip_keys = budget._keys(Limit.ACCOUNT), budget._keys(Limit.IP)
        valkey.delete(*([*account_keys, *ip_keys] if how == "everything" else account_keys[:1]))

        permit.complete()  # a call under way counts again, but does not open the budget
        assert not booked.start(STATUS), how
        later(budget, 59)
        assert refusal(budget) > 0, how
        later(budget, 1)

        take(budget)


def test_a_new_account_waits_a_window_unless_declared_fresh_which_forgets_no_calls(
    make_budget: MakeBudget, later: Later
) -> None:
    budget = make_budget(Rate(10, 60.0), fresh=False)
    budget.block(1)
    assert refusal(budget, PEOPLE, wait=1.0) > 50

    budget = make_budget(Rate(10, 60.0), fresh=False)
    assert refusal(budget, PEOPLE, wait=1.0) > 50
    budget.declare_fresh()
    take(budget)
    budget.declare_fresh()
    refusal(budget)
    later(budget, 1)
    budget.reserve(Endpoint.PRODUCTS, PEOPLE)


def test_a_block_holds_for_all_processes_shortens_no_wait_and_ends_after_an_hour(make_budget: MakeBudget) -> None:
    budget = make_budget(FAST, secret_id="blocked")
    other_process = make_budget(FAST, secret_id="blocked", fresh=False)
    [permit] = take(budget)

    budget.block(30)
    budget.block(1)

    assert 25 < refusal(other_process) <= 30
    assert 25 < refusal(other_process, PEOPLE) <= 30
    with pytest.raises(Unavailable) as caught:
        permit.start(STATUS)
    assert 25 < (caught.value.retry_after or 0) <= 30

    budget.block(10**9)
    assert 30 < refusal(budget) <= 3600


def test_without_redis_every_answer_is_no(make_budget: MakeBudget) -> None:
    budget = make_budget(FAST, redis_url="redis://127.0.0.1:9/0", fresh=False)
    for ask in (lambda: budget.reserve(STATUS, PEOPLE, 10), budget.used, budget.declare_fresh):
        with pytest.raises(Unavailable) as caught:
            ask()
        assert caught.value.reason == "budget_unreachable"
    budget.block(5)  # a call that only helps does not fail


def test_a_reservation_whose_answer_was_lost_may_be_repeated(make_budget: MakeBudget) -> None:
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
    assert budget.used() == 1


def test_keys_hold_no_secret_expire_and_share_a_slot(make_budget: MakeBudget, valkey: redis.Redis) -> None:
    budget = make_budget(FAST, secret_id="very-secret-id")
    budget.reserve(Endpoint.PRODUCTS, PEOPLE)

    keys = [key.decode() for key in valkey.scan_iter(f"*{budget._config.account_hash}*")]

    assert len(keys) == 6
    assert all(f"{{{budget._config.account_hash}}}" in key and "secret" not in key for key in keys)
    assert all(valkey.ttl(key) > 0 for key in keys)
