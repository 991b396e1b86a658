"""Orders that wait for a person for days: nobody waits for them, and they neither hide nor make up a change."""

from dataclasses import replace

import pytest

from balance import engine
from balance.engine import Spending, State
from tests.balance.test_engine import amounts, charged, failed, moment, opened, order, reading

# Seems never to have arrived, and was charged all the same: 10 000, seen in the reading at 5.
PARKED = order(1, is_parked=True)
CHARGED_ALL_THE_SAME = replace(
    PARKED,
    charged=True,
    known_at=moment(80),
    refunded=False,
    refund_known_at=moment(80),
    is_final=True,
    is_parked=False,
)


def succeeded(ref_id: str, amount: int, sent: float, known: float) -> Spending:
    done = charged(sent, known, refunded=False, refund_known_at=moment(known), is_final=True)
    return replace(done, ref_id=ref_id, amount=amount)


BURST = [succeeded(f"M{number}", 2**number, 10, 20) for number in range(9)]
SPENT = sum(spending.amount for spending in BURST)


def test_a_change_after_a_burst_of_orders_is_found_while_one_is_parked():
    readings = [reading(90_000, 5), reading(90_000, 15), reading(90_000 - SPENT, 30)]

    assert amounts(*readings, reading(89_000 - SPENT, 60), of=[PARKED, *BURST]) == [-1_000]


def test_a_change_within_a_burst_does_not_make_a_parked_order_uncharged():
    during = engine.advance(
        opened(), [reading(90_000, 5), reading(89_999 - SPENT, 15), reading(89_999 - SPENT, 30)], [PARKED, *BURST]
    )

    assert [found.amount for found in during.differences] == [-1]
    assert amounts(reading(89_999 - SPENT, 90), of=[CHARGED_ALL_THE_SAME], state=during.state) == []


@pytest.mark.parametrize("others", [0, 3])
def test_more_explanations_than_can_be_kept_are_no_alarm(others: int):
    """Twelve alike, six of them charged by 15: 924 ways to tell it."""
    alike = [succeeded(f"E{number:02}", 5_000, 10, 20 if number >= 6 else 27) for number in range(12)]
    later = [succeeded(f"X{number}", 7 * 3**number, 20.5, 40) for number in range(others)]
    end = 30_000 - sum(spending.amount for spending in later)
    readings = [reading(90_000, 5), reading(60_000, 15), reading(60_000, 22), reading(30_000, 30), reading(end, 50)]

    progress = engine.advance(opened(), readings, [PARKED, *alike, *later])

    assert (progress.differences, progress.state.changed_at) == ([], None)
    assert progress.state.compared_upto == moment(50.2)


def test_while_there_are_too_many_explanations_nothing_counts_as_compared():
    alike = [succeeded(f"E{number:02}", 5_000, 10, 20) for number in range(12)]

    state = engine.advance(opened(), [reading(90_000, 5), reading(60_000, 15)], [PARKED, *alike]).state

    assert (state.is_lost, state.compared_upto, state.changed_at) == (True, moment(5.2), None)


def test_many_parked_orders_do_not_stop_comparing():
    parked = [replace(PARKED, ref_id=f"P{number}", amount=10_000 + number) for number in range(8)]

    assert amounts(reading(50_000, 30), reading(50_000, 60), of=parked) == [-50_000]


@pytest.mark.parametrize("amount", [-1_000, 1_000_000])
def test_a_parked_order_charged_while_another_of_its_price_is_refunded_does_not_spoil_a_later_amount(amount: int):
    parked = replace(PARKED, sent_at=moment(4))
    other = failed(known=20, ref_id="Q", sent_at=moment(0.5))
    readings = [reading(90_000, 3), reading(90_000, 10), reading(90_000 + amount, 30)]

    while_parked = engine.advance(opened(), readings, [parked, other])

    assert while_parked.state.undecided_by == ["A"]
    later = replace(CHARGED_ALL_THE_SAME, sent_at=moment(4))
    assert amounts(reading(90_000 + amount, 90), of=[later], state=while_parked.state) == [amount]


def test_a_state_of_an_earlier_version_does_not_call_a_parked_orders_debit_a_change():
    stored = opened().to_json()
    for name in ("stories", "is_partial", "is_lost", "compared_upto"):
        del stored[name]

    assert amounts(reading(90_000, 30), of=[PARKED], state=State.from_json(stored)) == []
