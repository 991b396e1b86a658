"""A person decides about a row: the entries that it may be, and decisions that no automatic match changes."""

import pytest
from django.utils import timezone

from audit.models import AuditEvent
from bank.errors import BankRefused
from bank.models import BankRow, State
from bank.services import items_near, match_by_hand, match_rows, set_aside, take_match_away
from reconciliation.models import ExpectedTopUp
from testing.database import past_triggers
from tests.bank.helpers import ONE_DAY, TODAY, matches, paid, read, still_open
from tests.drawers.helpers import end, sell

pytestmark = pytest.mark.django_db


def test_given_a_row_then_the_nearest_amounts_and_of_each_the_nearest_days_are_what_it_may_be(owner, seller):
    far, near, taken = (paid(seller, 50_000, "transfer", days_ago=days) for days in (9, 2, 0))
    less, more = paid(seller, 49_000, "transfer", days_ago=6), paid(seller, 53_000, "transfer", days_ago=6)
    paid(seller, 50_000, "transfer", days_ago=20)
    end(sell(seller, 50_000), "success")
    for amount in (30_000, 25_000):
        paid(seller, amount, "qris", days_ago=3)
    ExpectedTopUp.objects.create(amount=50_000, announced_by=owner, announced_at=timezone.now())
    assert read(owner, (TODAY(), "TRSF", "50.000")) == (1, 1)
    assert set(matches()) == {f"sale:{taken}"}
    day = f"qris:{TODAY() - 3 * ONE_DAY}"

    def near_to(amount: int, most: int) -> list[str]:
        return [item.key for item in items_near(amount, TODAY(), 14 * ONE_DAY, most=most)]

    expected = [f"sale:{near}", f"sale:{far}", f"sale:{less}", f"sale:{more}", day]
    assert near_to(50_000, 30) == expected
    assert near_to(50_000, 2) == expected[:2]
    assert near_to(55_000, 1) == [day]
    (out,) = items_near(-50_000, TODAY(), 14 * ONE_DAY, most=30)
    assert (out.key.partition(":")[0], out.amount) == ("topup", -50_000)


def test_given_money_given_back_then_a_row_that_leaves_the_bank_may_be_it(owner, seller):
    refunds = [paid(seller, amount, "transfer") for amount in (50_000, 60_000)]
    with past_triggers() as cursor:
        cursor.execute(
            "UPDATE drawers_payment SET outcome = 'given', given_at = at, given_by_id = seller_id,"
            " given_method = 'transfer', cost = NULL WHERE ref_id = ANY(%s)",
            [refunds],
        )

    near = items_near(-59_000, TODAY(), 14 * ONE_DAY, most=30)

    assert [(item.key, item.amount) for item in near] == [
        (f"given:{refunds[1]}", -60_000),
        (f"given:{refunds[0]}", -50_000),
    ]


def test_given_a_person_decides_then_it_is_noted_and_nothing_matches_it_by_itself(owner, seller):
    transfer = paid(seller, 50_000, "transfer")
    read(owner, (TODAY(), "TRSF BUDI", "50.000"), (TODAY(), "TRSF OTHER", "49.000"))
    right, wrong = BankRow.objects.order_by("pk")

    take_match_away(right.pk, reason="another Budi", actor=owner)
    assert match_rows(TODAY(), TODAY()) == 0
    (item,) = still_open(TODAY())
    match_by_hand(wrong.pk, item, reason="less the bank's fee", actor=owner)
    set_aside(right.pk, reason="private", actor=owner)

    assert matches() == {f"sale:{transfer}": 49_000}
    assert [row.state for row in BankRow.objects.order_by("pk")] == [State.ASIDE, State.MATCHED]
    with pytest.raises(BankRefused, check=lambda refusal: refusal.reason == "moved"):
        match_by_hand(right.pk, item, reason="again", actor=owner)
    take_match_away(right.pk, reason="not private", actor=owner)
    with pytest.raises(BankRefused, check=lambda refusal: refusal.reason == "taken"):
        match_by_hand(right.pk, item, reason="again", actor=owner)
    kinds = [
        *AuditEvent.objects.filter(subject=str(wrong.pk), kind__startswith="bank_row").values_list("kind", "facts")
    ]
    assert kinds == [
        (
            "bank_row_matched",
            {
                "matched_with": f"sale:{transfer}",
                "day": f"{TODAY()}",
                "reason": "less the bank's fee",
                "amount": 49_000,
            },
        )
    ]
