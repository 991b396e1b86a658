"""An order's status changes in one place, once, and never against a final status."""

import pytest
from django.db import DatabaseError, transaction
from hypothesis import HealthCheck, given, settings, strategies as st

from purchases.models import Incident, Order, OrderEvent
from purchases.models.orders import may_be_charged
from purchases.services import Decision, apply_verdict
from purchases.services.sending import claim
from purchases.states import FINAL, ActionReason, Status, may_move
from testing.factories import make_order, make_product, moves
from testing.orders import CALLBACK, POLL, SUBMIT, answer, report

pytestmark = pytest.mark.django_db


def test_a_success_fills_the_facts_and_the_timeline_once():
    order = make_order(Status.PENDING)

    order = report(order, source=CALLBACK, sn="0812-SN", callback_id=7)

    assert (order.status, order.sn, order.price, order.trx_id) == ("success", "0812-SN", 10_500, f"T-{order.ref_id}")
    assert order.final_at is not None
    assert order.next_poll_at is None
    assert moves(order) == [("pending", "success", "callback")]
    assert order.events.get().callback_id == 7

    report(order, source=POLL, sn="0812-SN")
    assert moves(order) == [("pending", "success", "callback")]
    assert not Incident.objects.exists()


def test_a_pending_answer_after_a_success_callback_is_old_news():
    order = make_order(Status.SENDING)
    report(order, source=CALLBACK)

    after = report(order, "pending", source=SUBMIT)

    assert after.status == Status.SUCCESS
    assert moves(order) == [("sending", "success", "callback")]
    assert not Incident.objects.exists()


_SAME = {("success", "success"), ("failed", "failed"), ("reversed", "failed")}


def test_a_contradicted_final_status_is_an_incident_and_stays():
    told = [(final, said) for final in sorted(FINAL) for said in ("success", "failed") if (final, said) not in _SAME]
    told += [(Status.CANCELLED, "pending"), (Status.CLOSED, "pending")]  # which the upstream never had
    for final, said in told:
        had = {} if said == "pending" else {"trx_id": f"T-{final}-{said}", "price": 10_500}
        order = make_order(Status(final), **had)

        for source in (CALLBACK, POLL):
            report(order, said, source=source, trx_id=order.trx_id or f"T-{order.ref_id}")

        order.refresh_from_db()
        assert order.status == final, said
        assert order.incidents.get().kind == Incident.Kind.CONTRADICTION, (final, said)
        assert moves(order) == [], (final, said)

    order = make_order(Status.REVERSED, trx_id="T-2", price=10_500)
    report(order, "failed", source=CALLBACK, trx_id="T-2")
    assert (list(order.incidents.all()), moves(order)) == ([], [])


def test_another_sn_after_success_is_an_incident_and_first_stays():
    order = make_order(Status.PENDING)
    report(order, source=POLL, sn="FIRST")

    after = report(order, source=CALLBACK, sn="SECOND")

    assert after.sn == "FIRST"
    incident = Incident.objects.get()
    assert incident.kind == Incident.Kind.CONTRADICTION
    assert "SECOND" in incident.detail


def test_a_charge_above_the_confirmed_is_recorded_as_incident():
    order = make_order(Status.SENDING, max_price=10_500)

    after = report(order, "pending", source=SUBMIT, price=10_501)

    assert (after.status, after.price) == ("pending", 10_501)
    assert Incident.objects.get().kind == Incident.Kind.PRICE_ABOVE_MAX


def test_another_purchases_report_is_an_incident_and_no_move_and_another_notation_is_the_same():
    for facts in ({"destination": "081234567891"}, {"product_code": "ANOTHER"}):
        order = make_order(Status.UNKNOWN, destination="081234567890")

        after = report(order, "success", source=POLL, **facts)

        assert after.status == Status.UNKNOWN, facts
        assert order.incidents.get().kind == Incident.Kind.MISMATCH, facts

    order = make_order(Status.UNKNOWN, destination="081234567890")
    after = report(order, "success", source=POLL, destination="+62 812-3456-7890")
    assert (after.status, order.incidents.count()) == (Status.SUCCESS, 0)


def test_a_second_trx_id_for_one_ref_id_is_an_incident():
    order = make_order(Status.PENDING, trx_id="T-1")

    report(order, "success", source=POLL, trx_id="T-2")

    incident = Incident.objects.get()
    assert incident.kind == Incident.Kind.CONTRADICTION
    assert "T-2" in incident.detail


def test_a_definite_no_to_an_older_attempt_is_void():
    order = make_order(Status.SENDING, attempt=2)
    no = Decision(status=Status.REJECTED, source=SUBMIT, error_code="INVALID_REQUEST", uncharged_no=order.sent_no)

    after = apply_verdict(order.pk, no, attempt=1)

    assert (after.status, after.sent_no) == (Status.SENDING, order.sent_no)
    assert moves(order) == []


def test_a_definite_no_after_a_report_is_an_incident():
    order = make_order(Status.SENDING)
    report(order, "pending", source=CALLBACK)

    after = answer(order, Status.NEEDS_ACTION, action_reason=ActionReason.BALANCE_SHORT, error_code="X")

    assert after.status == Status.PENDING
    assert Incident.objects.get().kind == Incident.Kind.CONTRADICTION


def test_the_numbers_say_when_the_upstream_had_and_ended_it():
    order = make_order(Status.QUEUED)
    number = claim(order.pk).number
    assert not Order.objects.exclude(may_be_charged()).exists()

    pending = report(order, "pending", asked_no=number)
    assert (pending.sent_no, pending.pending_no, pending.may_be_charged) == (number, number, False)
    assert pending.accepted_no > number
    again = report(order, "pending", asked_no=number + 5)
    assert (again.accepted_no, again.pending_no) == (pending.accepted_no, number + 5)
    assert report(order, "pending", asked_no=number + 2).pending_no == number + 5

    ended = report(order, "success")
    assert (ended.accepted_no, ended.pending_no) == (pending.accepted_no, number + 5)
    assert ended.ended_no > ended.accepted_no


def test_a_sending_certainly_not_charged_leaves_no_doubt():
    for status in (Status.QUEUED, Status.REJECTED, Status.NEEDS_ACTION):
        order = make_order(Status.QUEUED)
        claim(order.pk)

        after = answer(order, status, action_reason=ActionReason.CUT_OFF if status == "needs_action" else "")

        assert (after.status, after.sent_no, after.may_be_charged) == (status, None, False)


def test_an_earlier_doubt_outlives_a_later_uncharged_sending():
    order = make_order(Status.UNKNOWN, sent_no=1)
    apply_verdict(order.pk, Decision(status=Status.QUEUED, source=POLL))
    later = claim(order.pk)
    assert (later.order.sent_no, later.is_first_doubt) == (1, False)

    after = answer(order, Status.QUEUED, uncharged_no=later.number)

    assert (after.sent_no, after.may_be_charged) == (1, True)


def test_an_upstream_report_is_believed_from_every_open_status():
    for doubtful in (Status.NEEDS_ACTION, Status.QUEUED, Status.UNKNOWN):
        after = report(make_order(doubtful), source=CALLBACK)
        assert (after.status, after.action_reason) == (Status.SUCCESS, ""), doubtful


def test_the_database_refuses_an_unknown_move_and_an_open_order_nobody_would_look_at():
    order = make_order(Status.PENDING)

    for changes, fault in (
        ({"status": Status.QUEUED}, r"[Ii]nvalid transition"),
        ({"next_poll_at": None}, "order_never_forgotten"),
    ):
        with pytest.raises(DatabaseError, match=fault), transaction.atomic():
            Order.objects.filter(pk=order.pk).update(**changes)


def test_the_database_itself_keeps_identity_and_timeline():
    order = make_order(Status.SENDING)
    report(order, source=POLL)
    event = order.events.get()

    for attempt in (
        lambda: Order.objects.filter(pk=order.pk).update(ref_id="another"),
        lambda: Order.objects.filter(pk=order.pk).delete(),
        lambda: OrderEvent.objects.filter(pk=event.pk).update(note="never was"),
        lambda: OrderEvent.objects.filter(pk=event.pk).delete(),
    ):
        with pytest.raises(DatabaseError), transaction.atomic():
            attempt()


_reports = st.tuples(st.sampled_from(["pending", "success", "failed"]), st.sampled_from([SUBMIT, POLL, CALLBACK]))
_answers = st.tuples(st.sampled_from(["unknown", "rejected", "needs_action", "queued"]), st.just(SUBMIT))


@pytest.fixture
def product():
    return make_product()


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(messages=st.lists(st.one_of(_reports, _answers), max_size=8))
def test_given_any_reports_the_first_end_stays_on_a_valid_path(product, messages):
    with transaction.atomic():
        order = make_order(Status.SENDING, product=product)
        first_final = ""
        for status, source in messages:
            if status in {"pending", "success", "failed"}:
                after = report(order, status, source=source)
            else:
                reason = ActionReason.CUT_OFF if status == "needs_action" else ""
                after = answer(order, Status(status), action_reason=reason, error_code="X")
            if after.status in FINAL and not first_final:
                first_final = after.status
            if first_final:
                assert after.status == first_final
        steps = moves(order)
        assert all(may_move(Status(before), Status(to)) for before, to, _ in steps)
        assert [to for _, to, _ in steps[:-1]] == [before for before, _, _ in steps[1:]]
        opposite = {"success": "failed", "failed": "success"}.get(first_final)
        later = [status for status, _ in messages]
        if opposite and opposite in later[later.index(first_final) :]:
            assert Incident.objects.filter(order=order, kind=Incident.Kind.CONTRADICTION).exists()
        transaction.set_rollback(True)
