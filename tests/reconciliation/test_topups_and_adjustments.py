"""Top-ups and adjustments against the sandbox over HTTP: announced, acknowledged, proposed, approved."""

from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from ledger.models import Entry
from reconciliation import services as reconciliation
from reconciliation.errors import DecisionRefused
from reconciliation.models import Adjustment, Difference, ExpectedTopUp
from tests.conftest import Upstream
from tests.reconciliation.helpers import agree, make_difference, reconcile, spend_in_dashboard


def test_an_announced_top_up_is_acknowledged_by_itself_and_another_amount_waits(shop: Upstream, people: Any):
    expected = reconciliation.announce_top_up(amount=250_000, actor=people[0], note="transfer of Friday")
    shop.control("topup", amount=250_000)

    run = reconcile()

    assert (run.state, run.difference) == ("balanced", 0)
    expected.refresh_from_db()
    entry = Entry.objects.get(kind="topup")
    assert expected.difference == Difference.objects.get()
    assert (entry.amount, entry.actor, entry.reason) == (250_000, people[0], "transfer of Friday")
    agree(shop)
    with pytest.raises(DecisionRefused):
        reconciliation.cancel_expected_top_up(expected, actor=people[1])
    assert ExpectedTopUp.objects.get().cancelled_at is None

    another = reconciliation.announce_top_up(amount=250_000, actor=people[0])
    shop.control("topup", amount=250_001)
    assert reconcile().state == "topup_unacknowledged"
    found = Difference.objects.open().get()
    difference = reconciliation.acknowledge_top_up(found, actor=people[1], note="bank fee")

    assert (difference.state, difference.acknowledged_by, difference.note) == ("acknowledged", people[1], "bank fee")
    assert reconcile().state == "balanced"
    agree(shop)
    reconciliation.cancel_expected_top_up(another, actor=people[1])
    with pytest.raises(DecisionRefused):
        reconciliation.cancel_expected_top_up(another, actor=people[1])
    assert not ExpectedTopUp.objects.filter(cancelled_at=None, difference=None).exists()


def test_a_negative_difference_needs_a_reason_and_two_people(shop: Upstream, people: Any):
    first, second = people
    spend_in_dashboard(shop, -5_000)
    reconcile()
    difference = Difference.objects.get()

    with pytest.raises(DecisionRefused):
        reconciliation.acknowledge_top_up(difference, actor=first)
    with pytest.raises(DecisionRefused):
        reconciliation.propose_adjustment(difference, actor=first, reason=" ")
    proposed = reconciliation.propose_adjustment(difference, actor=first, reason="bought by hand")
    with pytest.raises(DecisionRefused):
        reconciliation.propose_adjustment(difference, actor=second, reason="again")
    with pytest.raises(DecisionRefused):
        reconciliation.approve_adjustment(proposed, actor=first)
    assert not Entry.objects.filter(kind="adjustment").exists()

    reconciliation.approve_adjustment(proposed, actor=second)

    entry = Entry.objects.get(kind="adjustment")
    assert (entry.balance_change, entry.actor, entry.reason) == (-5_000, second, "bought by hand")
    assert reconcile().state == "balanced"
    agree(shop)


def test_the_database_itself_refuses_one_person_as_both(people: Any):
    difference = make_difference(-1)

    with pytest.raises(IntegrityError), transaction.atomic():
        Adjustment.objects.create(
            difference=difference, reason="x", proposed_by=people[0], approved_by=people[0], decided_at=timezone.now()
        )
