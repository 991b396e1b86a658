"""The SN that a person has seen at the upstream, and proposals about an order that has moved since."""

import pytest
from django.db import DatabaseError, IntegrityError, transaction

from ledger.models import Entry
from purchases.errors import ActionRefused
from purchases.models import Order, Verdict
from purchases.services import Action, allowed_actions, approve_verdict
from purchases.states import Status
from staff.models import User
from testing.orders import CALLBACK, SUBMIT, never_arrived, place, report, sent, sent_before
from testing.people import browser_of
from tests.approvals.helpers import approve_on_page, decline
from tests.core.helpers import has_id
from tests.purchases.helpers import propose

pytestmark = pytest.mark.django_db(transaction=True)

TYPED = "1234-5678-9012-3456-7890"


def pending() -> Order:
    return sent_before(report(sent(), "pending", source=SUBMIT), hours=2)


def succeeded_by_hand(two: tuple[User, User]) -> Order:
    return approve_verdict(propose(never_arrived(place()), "success", two[0], f" {TYPED} "), actor=two[1])


def test_a_typed_sn_is_the_order_s_once_it_is_approved_until_the_upstream_names_its_own(two):
    order = never_arrived(place())
    # only a success takes an SN
    with pytest.raises(ActionRefused):
        propose(order, "failed", two[0], TYPED)
    assert not Verdict.objects.exists()
    facts = {"evidence": "x", "reason": "y", "proposed_by": two[0], "order_status": "needs_action"}
    with pytest.raises(IntegrityError), transaction.atomic():
        Verdict.objects.create(order=order, outcome="failed", sn=TYPED, **facts)

    verdict = propose(order, "success", two[0], TYPED)
    with pytest.raises(DatabaseError), transaction.atomic():
        Verdict.objects.filter(pk=verdict.pk).update(sn="another")
    order.refresh_from_db()
    assert (order.sn, order.sn_by_hand) == ("", False)

    after = approve_verdict(verdict, actor=two[1])
    assert (after.status, after.sn, after.sn_by_hand) == ("success", TYPED, True)

    after = report(order, "success", source=CALLBACK, sn="THEIRS")
    assert (after.status, after.sn, after.sn_by_hand) == ("success", "THEIRS", False)
    assert after.incidents.get().kind == "contradiction"


def test_the_same_sn_from_the_upstream_takes_the_mark_away_and_a_reversal_does_not(two):
    after = report(succeeded_by_hand(two), "success", source=CALLBACK, sn=TYPED)
    assert (after.sn, after.sn_by_hand) == (TYPED, False)
    assert not after.incidents.exists()

    after = approve_verdict(propose(succeeded_by_hand(two), "reversed", two[0]), actor=two[1])
    assert (after.status, after.sn, after.sn_by_hand) == ("reversed", TYPED, True)


def test_a_decided_success_without_an_sn_gets_it_when_it_comes(two):
    order = approve_verdict(propose(pending(), "success", two[0]), actor=two[1])
    assert order.trx_id

    after = report(order, "success", source=CALLBACK, sn="THEIRS")

    assert (after.sn, after.sn_by_hand, after.incidents.count()) == ("THEIRS", False, 0)


def test_page_and_receipt_say_that_it_was_entered_by_hand(two):
    order = never_arrived(place())
    first, second = browser_of("admin", username="third"), browser_of("admin", username="fourth")
    address = f"/orders/{order.ref_id}/"
    assert has_id(first.get(address), "id_sn")
    first.post(f"{address}propose/", {"outcome": "success", "evidence": "mail", "reason": "seen", "sn": TYPED})
    approve_on_page(second, Verdict.objects.get().approval)

    for page in (address, f"{address}receipt/"):
        assert b"data-by-hand" in second.get(page).content
    report(order, "success", source=CALLBACK, sn=TYPED)
    for page in (address, f"{address}receipt/"):
        assert b"data-by-hand" not in second.get(page).content


def test_what_was_proposed_before_the_order_moved_is_refused(two):
    order = pending()
    verdict = propose(order, "reversed", two[0])
    report(order, "success", source=CALLBACK)
    entries = list(Entry.objects.values_list("kind", "amount"))
    order.refresh_from_db()
    assert Action.APPROVE_VERDICT not in allowed_actions(order, two[1])

    with pytest.raises(ActionRefused):
        approve_verdict(verdict, actor=two[1])

    order.refresh_from_db()
    assert (order.status, list(Entry.objects.values_list("kind", "amount"))) == (Status.SUCCESS, entries)
    page = browser_of("admin", username="third").get(f"/orders/{order.ref_id}/")
    assert b"data-is-void" in page.content
    decline(verdict, actor=two[1])
    assert approve_verdict(propose(order, "reversed", two[0]), actor=two[1]).status == "reversed"
