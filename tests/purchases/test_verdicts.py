"""Two people end an order that the upstream leaves open, or reverse its success: states, entries, calls."""

import pytest

from catalogue.models import Product
from core.errors import Refused
from drawers.models import Payment
from ledger import services as ledger
from purchases.errors import ActionRefused
from purchases.models import Incident, Order, Verdict
from purchases.services import (
    Action,
    Decision,
    allowed_actions,
    apply_verdict,
    approve_verdict,
    close_incident,
    close_never_arrived,
    note_given_back,
    propose_verdict,
    send_again,
    submit,
)
from purchases.services.actions import not_possible, proposal_waits, require
from purchases.services.polling import follow
from purchases.states import Status
from staff.models import User
from testing.factories import entries_of, make_order, moves
from testing.orders import CALLBACK, POLL, SUBMIT, answer, never_arrived, place, report, sent, sent_before
from testing.people import browser_of, make_person, signed_in
from tests.approvals.helpers import approve, approve_on_page, approver, decline
from tests.conftest import Upstream
from tests.core.helpers import has_id, words
from tests.purchases.helpers import propose
from upstream.budget import CallClass

pytestmark = pytest.mark.django_db(transaction=True)

PRICE = 10_500
RELEASED = [("hold", PRICE), ("release", PRICE)]
DEBITED = [*RELEASED, ("debit", PRICE)]


def decide(order: Order, outcome: str, two: tuple[User, User]) -> Order:
    return approve_verdict(propose(order, outcome, two[0]), actor=two[1])


def unknown() -> Order:
    return answer(sent(), Status.UNKNOWN)


def pending() -> Order:
    return report(sent(), "pending", source=SUBMIT)


def success() -> Order:
    return report(sent(), "success", source=SUBMIT)


BEGINNINGS = {
    "unknown": lambda: sent_before(unknown(), hours=1),
    "pending": lambda: sent_before(pending(), hours=1),
    "never arrived": lambda: never_arrived(place()),
}


def test_an_open_order_ends_as_two_people_decide(two):
    for before, outcome, expected in (
        ("unknown", "success", DEBITED),
        ("unknown", "failed", RELEASED),
        ("unknown", "reversed", [*DEBITED, ("reversal", PRICE)]),
        ("never arrived", "success", DEBITED),
        ("never arrived", "failed", RELEASED),
        ("never arrived", "reversed", [*DEBITED, ("reversal", PRICE)]),
        ("pending", "success", DEBITED),
        ("pending", "failed", [*DEBITED, ("refund", PRICE)]),
        ("pending", "reversed", [*DEBITED, ("reversal", PRICE)]),
    ):
        order = BEGINNINGS[before]()

        after = decide(order, outcome, two)

        assert (after.status, after.next_poll_at, after.may_be_charged) == (outcome, None, False), before
        assert after.final_at
        assert after.ended_no
        assert entries_of(order) == expected, (before, outcome)
        assert ledger.books().reserved == 0, (before, outcome)
        event = order.events.last()
        assert (event.to_status, event.source, event.actor) == (outcome, "staff", two[1])
        assert event.facts == {"code": "verdict", "verdict": Verdict.objects.get(order=order).pk}


def test_a_success_that_the_upstream_took_back_is_reversed(two):
    order = success()
    report(order, "failed", source=CALLBACK)
    assert Incident.objects.get().kind == Incident.Kind.CONTRADICTION

    after = decide(order, "reversed", two)

    incident = Incident.objects.get()
    assert (incident.closed_by, incident.closing_note) == (two[1], "asked twice")
    assert incident.closed_at
    assert after.status == Status.REVERSED
    assert entries_of(order) == [*DEBITED, ("reversal", PRICE)]
    assert ledger.books().balance == 0
    report(order, "failed", source=POLL)
    assert (Incident.objects.count(), entries_of(order)) == (1, [*DEBITED, ("reversal", PRICE)])


def test_a_reversal_answers_only_its_own_contradiction(two):
    order, other = success(), success()
    report(order, "failed", source=CALLBACK, price=PRICE - 500)
    report(other, "failed", source=CALLBACK)
    answered = order.incidents.get(kind=Incident.Kind.CONTRADICTION)
    report(order, "success", source=CALLBACK, trx_id="another")

    verdict = propose(order, "reversed", two[0])
    assert not Incident.objects.exclude(closed_at=None).exists()
    approve_verdict(verdict, actor=two[1])

    assert list(Incident.objects.exclude(closed_at=None)) == [answered]
    left = order.incidents.filter(closed_at=None).values_list("kind", flat=True)
    assert sorted(left) == ["contradiction", "other_price"]
    assert other.incidents.get().closed_at is None


def test_a_reversal_keeps_what_a_person_closed_before(two):
    order = success()
    report(order, "failed", source=CALLBACK)
    close_incident(Incident.objects.get(), actor=two[0], note="seen")

    decide(order, "reversed", two)

    incident = Incident.objects.get()
    assert (incident.closed_by, incident.closing_note) == (two[0], "seen")


def test_the_upstream_itself_is_asked_for_nothing_by_a_verdict(upstream: Upstream, two):
    order = place(Product.objects.get(name="Telkomsel 10.000"), destination="081290000003")
    submit(order.pk, call_class=CallClass.INTERACTIVE)
    order = sent_before(follow(order, seconds=0), hours=1)
    before = upstream.calls(order)

    decide(order, "failed", two)

    assert upstream.calls(order) == before


def test_what_the_upstream_may_still_settle_is_not_decided(two):
    for status in set(Status) - {Status.SUCCESS, Status.NEEDS_ACTION}:
        order = make_order(status)

        assert Action.PROPOSE_VERDICT not in allowed_actions(order, two[0]), status
        for outcome in ("success", "failed", "reversed"):
            with pytest.raises(ActionRefused):
                propose(order, outcome, two[0])


def test_a_success_is_only_reversed_by_people_with_the_permission_for_a_reason_and_once(two):
    order, cashier = success(), make_person("cashier")
    for outcome in ("success", "failed", "needs_action", ""):
        with pytest.raises(ActionRefused):
            propose(order, outcome, two[0])
    for evidence, reason in ((" ", "why"), ("where", " ")):
        with pytest.raises(ActionRefused):
            propose_verdict(order, outcome="reversed", evidence=evidence, reason=reason, actor=two[0])
    with pytest.raises(ActionRefused):
        propose(order, "reversed", cashier)
    assert not Verdict.objects.exists()

    verdict = propose(order, "reversed", two[0])

    for decision in (approve_verdict, decline):
        with pytest.raises(Refused):
            decision(verdict, actor=cashier)
    with pytest.raises(ActionRefused):
        propose(order, "reversed", two[1])
    order.refresh_from_db()
    assert (order.status, entries_of(order)) == (Status.SUCCESS, DEBITED)


def test_who_proposed_cannot_approve_but_can_withdraw(two):
    order = success()
    verdict = propose(order, "reversed", two[0])

    with pytest.raises(ActionRefused):
        approve_verdict(verdict, actor=two[0])
    decline(verdict, actor=two[0])

    order.refresh_from_db()
    assert (order.status, entries_of(order)) == (Status.SUCCESS, DEBITED)
    with pytest.raises(ActionRefused):
        approve_verdict(verdict, actor=two[1])


def test_a_waiting_proposal_is_not_contradicted_by_another_act(two, upstream: Upstream):
    order = never_arrived(place())
    verdict, before = propose(order, "success", two[0]), (moves(order), entries_of(order))

    # then: nobody closes it or sends it again, for the same or a risen price
    for person in two:
        assert not allowed_actions(order, person) & {Action.CLOSE, Action.SEND_AGAIN}
        assert Action.POLL in allowed_actions(order, person)
        for act in (close_never_arrived, send_again):
            with pytest.raises(ActionRefused, match=f"^{proposal_waits()}$"):
                act(order, actor=person)
    page = signed_in(two[0]).get(f"/orders/{order.ref_id}/")
    assert [has_id(page, name) for name in ("act-close", "act-send_again", "buttons-ask")] == [False] * 3
    Product.objects.filter(pk=order.product_id).update(price=PRICE + 500)
    risen = Order.objects.get(pk=order.pk)
    assert Action.CONFIRM_PRICE not in allowed_actions(risen, two[1])
    with pytest.raises(ActionRefused, match=f"^{proposal_waits()}$"):
        send_again(risen, actor=two[1], max_price=PRICE + 500)
    assert (moves(order), entries_of(order)) == before
    assert upstream.calls(order) == ["/v1/transaction/status"] * 5

    decline(verdict, actor=two[0])

    assert {Action.CLOSE, Action.CONFIRM_PRICE} <= allowed_actions(Order.objects.get(pk=order.pk), two[1])
    Product.objects.filter(pk=order.product_id).update(price=PRICE)
    assert {Action.CLOSE, Action.SEND_AGAIN} <= allowed_actions(Order.objects.get(pk=order.pk), two[0])


def test_a_refusal_names_a_proposal_only_if_that_stops_the_act(two, django_assert_num_queries):
    order = success()
    propose(order, "reversed", two[0])
    order = Order.objects.select_related("payment", "product").get(pk=order.pk)

    for action in (Action.POLL, Action.CLOSE, Action.SEND_AGAIN):
        with django_assert_num_queries(0), pytest.raises(ActionRefused) as refused:
            require(action, order, two[0])
        assert str(refused.value) == str(not_possible(order)) != str(proposal_waits())


def test_a_proposal_from_before_another_sending_is_void(two):
    # given: a proposal, and the order is sent again and seems never to have arrived again
    order = never_arrived(place())
    verdict = propose(order, "failed", two[0])
    apply_verdict(order.pk, Decision(status=Status.QUEUED, source=POLL))
    order = never_arrived(Order.objects.get(pk=order.pk))

    # then: nobody can approve it, and it stops nothing
    assert Action.APPROVE_VERDICT not in allowed_actions(order, two[1])
    assert Action.SEND_AGAIN in allowed_actions(order, two[1])
    with pytest.raises(ActionRefused):
        approve_verdict(verdict, actor=two[1])
    assert approve(verdict.approval, approver()).changes == {"attempt": [1, 2]}
    order = Order.objects.get(pk=order.pk)
    assert (order.status, entries_of(order)) == (Status.NEEDS_ACTION, [("hold", PRICE)])
    assert Action.PROPOSE_VERDICT in allowed_actions(order, two[0])


def test_an_upstream_report_after_a_verdict_fills_or_contradicts(two):
    order = sent_before(unknown(), hours=1)
    decide(order, "success", two)

    after = report(order, "success", sn="SN-9")
    assert (after.sn, after.trx_id) == ("SN-9", f"T-{order.ref_id}")
    assert not Incident.objects.exists()

    report(order, "failed", source=CALLBACK)
    assert Incident.objects.get().kind == Incident.Kind.CONTRADICTION
    assert entries_of(order) == DEBITED


def test_another_price_than_two_people_decided_is_an_incident_once(two):
    for price, incident in (
        (PRICE, []),
        (PRICE - 500, ["other_price"]),
        (PRICE + 500, ["price_above_max"]),
        (0, ["other_price"]),
    ):
        order = sent_before(unknown(), hours=1)
        decide(order, "success", two)

        for source in (POLL, CALLBACK):
            report(order, "success", source=source, price=price)

        assert list(order.incidents.values_list("kind", flat=True)) == incident, price
        order.refresh_from_db()
        assert (order.status, order.shown_price, entries_of(order)) == (Status.SUCCESS, PRICE, DEBITED), price


# --- the customer ---------------------------------------------------------------------------------------------


def test_a_reversed_order_waits_until_the_money_is_given_back_and_no_other_one(two):
    order = success()
    with pytest.raises(ActionRefused):
        note_given_back(order, actor=two[0], note="in cash")
    order = decide(order, "reversed", two)
    cashier = browser_of("cashier")
    assert list(Order.objects.need_attention()) == [order]

    page = cashier.get(f"/orders/{order.ref_id}/")
    assert has_id(page, "give-back")
    assert "Rp10.500" in words(page)
    cashier.post(f"/orders/{order.ref_id}/given-back/", {"note": " "})
    assert Payment.objects.get().outcome == "owed"
    cashier.post(f"/orders/{order.ref_id}/given-back/", {"note": "in cash, signed"})

    payment = Payment.objects.get()
    assert (payment.given_by.username, payment.given_note) == ("cashier", "in cash, signed")
    assert not Order.objects.need_attention().exists()
    assert has_id(cashier.get(f"/orders/{order.ref_id}/"), "given-back")
    with pytest.raises(ActionRefused):
        note_given_back(order, actor=two[0], note="twice")


def test_a_reversed_orders_receipt_is_void_and_not_printed_again(two):
    order, cashier = success(), browser_of("cashier")
    cashier.post(f"/orders/{order.ref_id}/receipt/", {"paper": "58"})
    decide(order, "reversed", two)

    assert "data-void" in cashier.get(f"/orders/{order.ref_id}/receipt/1/").content.decode()
    page = cashier.get(f"/orders/{order.ref_id}/receipt/")
    assert has_id(page, "receipt-void")
    assert "data-void" in page.content.decode()
    cashier.post(f"/orders/{order.ref_id}/receipt/", {"paper": "58"})
    assert order.receipt_prints.count() == 1


# --- the pages ------------------------------------------------------------------------------------------------


def test_one_proposes_on_the_page_and_another_approves():
    order, first, second = success(), browser_of("admin"), browser_of("admin", username="owner")
    report(order, "failed", source=CALLBACK)
    address = f"/orders/{order.ref_id}/"
    # with the page's own address, because the panel beside a list shows this part, too
    assert f'href="{address}#verdict"' in first.get(address).content.decode()

    first.post(f"{address}propose/", {"outcome": "reversed", "evidence": "their mail of today", "reason": "taken back"})
    verdict = Verdict.objects.get()
    assert list(Order.objects.need_attention()) == [order]
    assert not has_id(first.get(address), "act-approve_verdict")
    approve_on_page(first, verdict.approval)
    order.refresh_from_db()
    assert order.status == Status.SUCCESS

    assert has_id(second.get(address), "act-approve_verdict")
    approve_on_page(second, verdict.approval)
    order.refresh_from_db()
    verdict = Verdict.objects.get()
    assert (order.status, verdict.approved_by.username) == (Status.REVERSED, "owner")
    assert verdict.approval.result == order.ref_id
    assert "their mail of today" in words(second.get(address))
