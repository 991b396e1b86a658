"""While a proposed outcome waits, a bill's payment is not sent again; a repeat by the background voids the proposal."""

import pytest

from bills import services
from bills.models import BillCheck
from bills.presenting import ShownBill
from purchases.errors import ActionRefused
from purchases.models import Order, Verdict
from purchases.services import propose_verdict, submit
from purchases.services.polling import follow
from purchases.services.sending import claim
from purchases.states import Status
from staff.models import User
from testing.factories import entries_of, make_check, make_payment, moves
from testing.orders import answer, never_arrived, sent_before
from tests.approvals.helpers import approve, approver, decline
from tests.bills.helpers import at_counter, check_bill, leads_to_counter, place, posts_on
from tests.conftest import Upstream
from tests.purchases.magic import ask
from upstream.budget import CallClass

pytestmark = pytest.mark.django_db

PAY, STATUS = "/v1/bill/pay", "/v1/transaction/status"


@pytest.fixture
def proposer() -> User:
    return User.objects.create_superuser("first")


def propose(order: Order, actor: User) -> Verdict:
    return propose_verdict(order, outcome="failed", evidence="their dashboard", reason="not in the list", actor=actor)


def calls(upstream: Upstream, order: Order) -> list[str]:
    """The calls about the payment, without the inquiry before it."""
    return [name for name in upstream.calls(order) if name in {PAY, STATUS}]


@pytest.mark.django_db(transaction=True)
def test_given_a_waiting_proposal_then_a_bill_is_not_paid_again(upstream: Upstream, proposer):
    # given: a payment that seems never to have arrived, and a proposal that it failed
    check = check_bill(1)
    order = never_arrived(place(check))
    verdict = propose(order, proposer)
    before = moves(order)

    # when: a person pays it again
    with pytest.raises(ActionRefused):
        services.pay_again(order, amount=check.total, actor=None, enqueue=False)

    # then: it was polled, and nothing was sent
    order.refresh_from_db()
    assert (order.status, order.attempt, moves(order)) == (Status.NEEDS_ACTION, 1, before)
    assert entries_of(order) == [("hold", check.total)]
    assert calls(upstream, order) == [STATUS]
    assert upstream.ledger(order) == []

    # and when the proposal is withdrawn, it is paid once
    decline(verdict, actor=proposer)
    services.pay_again(order, amount=check.total, actor=None, enqueue=False)
    submit(order.pk, call_class=CallClass.INTERACTIVE)
    order = follow(order, seconds=5)
    assert order.status == Status.SUCCESS
    assert calls(upstream, order).count(PAY) == 1
    assert upstream.ledger(order) == [("debit", -check.total)]
    assert entries_of(order) == [(kind, check.total) for kind in ("hold", "release", "debit")]


@pytest.mark.django_db(transaction=True)
def test_given_a_repeat_by_the_background_then_a_proposal_is_void(upstream: Upstream, proposer):
    # given: a lost payment of unknown outcome, and a proposal that it failed
    check = check_bill(5)
    order = place(check)
    claim(order.pk)
    answer(order, Status.UNKNOWN)
    verdict = propose(sent_before(order, hours=1), proposer)

    # when: the provider does not know it, and the identical repeat is charged but its answer is cut
    assert ask(order, times=1).status == Status.QUEUED
    submit(order.pk, call_class=CallClass.INTERACTIVE)
    order = sent_before(order, hours=1)
    assert (order.status, order.attempt) == (Status.UNKNOWN, 2)
    decided = approve(verdict.approval, approver())

    # then: the proposal is void, and only the provider ends the payment
    order.refresh_from_db()
    assert (decided.state, decided.changes) == ("void", {"attempt": [1, 2]})
    assert (order.status, entries_of(order)) == (Status.UNKNOWN, [("hold", check.total)])
    order = follow(order, seconds=5)
    assert order.status == Status.SUCCESS
    assert (calls(upstream, order)[:2], calls(upstream, order).count(PAY)) == ([STATUS, PAY], 1)
    assert upstream.ledger(order) == [("debit", -check.total)]
    assert entries_of(order) == [(kind, check.total) for kind in ("hold", "release", "debit")]


def test_given_a_waiting_proposal_then_no_page_offers_to_pay(cashier, proposer):
    check = make_check()
    facts = {"action_reason": "never_arrived", "error_code": "TRANSACTION_NOT_FOUND"}
    order = make_payment(check, Status.NEEDS_ACTION, **facts)
    assert posts_on(at_counter(cashier, check)) == {"pay", "again"}
    verdict = propose(order, proposer)

    shown = at_counter(cashier, check)

    assert posts_on(shown) == set()
    assert f'href="/orders/{order.ref_id}/"' in shown.content.decode()
    assert not leads_to_counter(cashier, check)

    # given it was withdrawn, then it can be paid again
    decline(verdict, actor=proposer)
    assert posts_on(at_counter(cashier, check)) == {"pay", "again"}


def test_the_proposals_of_many_bills_are_read_at_once(proposer, django_assert_num_queries):
    facts = {"action_reason": "never_arrived", "error_code": "TRANSACTION_NOT_FOUND"}
    for number in range(3):
        propose(make_payment(make_check(destination=f"123456789{number}"), Status.NEEDS_ACTION, **facts), proposer)

    with django_assert_num_queries(2):
        bills = ShownBill.read(BillCheck.objects.all(), proposer)
        assert [bill.is_proposed for bill in bills] == [True] * 3
