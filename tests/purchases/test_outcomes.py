"""An order's status changes in one place, once, and never against a final status."""

import pytest
from django.db import DatabaseError, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from purchases.models import Incident, Order, OrderEvent
from purchases.order_life import FINAL, HoldReason, Status, may_move
from purchases.services import Outcome, apply_outcome
from tests.factories import make_order, moves, reported

pytestmark = pytest.mark.django_db

SUBMIT, POLL, CALLBACK = OrderEvent.Source.SUBMIT, OrderEvent.Source.POLL, OrderEvent.Source.CALLBACK


def _report(order: Order, status: str = "success", **facts: object) -> Outcome:
    return Outcome.reported(reported(order, status, **facts), raw={"status": status})


def test_a_success_fills_the_facts_and_the_timeline():
    order = make_order(Status.PENDING)

    order = apply_outcome(order.pk, _report(order, sn="0812-SN"), source=CALLBACK, receipt_id=7)

    assert (order.status, order.sn, order.price, order.trx_id) == ("success", "0812-SN", 10_500, f"T-{order.ref_id}")
    assert order.final_at is not None
    assert order.next_check_at is None
    assert moves(order) == [("pending", "success", "callback")]
    assert order.events.get().receipt_id == 7


def test_the_same_outcome_again_changes_nothing():
    order = make_order(Status.PENDING)
    apply_outcome(order.pk, _report(order), source=CALLBACK)

    apply_outcome(order.pk, _report(order), source=POLL)

    assert moves(order) == [("pending", "success", "callback")]
    assert not Incident.objects.exists()


def test_a_pending_answer_after_the_callback_said_success_is_old_news():
    order = make_order(Status.SENDING)
    apply_outcome(order.pk, _report(order), source=CALLBACK)

    after = apply_outcome(order.pk, _report(order, "pending"), source=SUBMIT, attempt=1)

    assert after.status == Status.SUCCESS
    assert moves(order) == [("sending", "success", "callback")]
    assert not Incident.objects.exists()


@pytest.mark.parametrize(
    ("final", "said"),
    [(final, said) for final in sorted(FINAL) for said in ("success", "failed") if final != said],
)
def test_a_contradiction_of_a_final_status_is_an_incident_and_the_row_stays(final, said):
    order = make_order(Status(final), trx_id="T-1", price=10_500)

    apply_outcome(order.pk, _report(order, said, trx_id="T-1"), source=CALLBACK)
    apply_outcome(order.pk, _report(order, said, trx_id="T-1"), source=POLL)

    order.refresh_from_db()
    assert order.status == final
    assert Incident.objects.get().kind == Incident.Kind.CONTRADICTION
    assert moves(order) == []


def test_a_transaction_reported_for_a_cancelled_order_is_an_incident():
    order = make_order(Status.CANCELLED)

    apply_outcome(order.pk, _report(order, "pending"), source=CALLBACK)

    assert Incident.objects.get().kind == Incident.Kind.CONTRADICTION


def test_another_sn_for_a_successful_order_is_an_incident_and_the_first_stays():
    order = make_order(Status.PENDING)
    apply_outcome(order.pk, _report(order, sn="FIRST"), source=POLL)

    after = apply_outcome(order.pk, _report(order, sn="SECOND"), source=CALLBACK)

    assert after.sn == "FIRST"
    assert "SECOND" in Incident.objects.get().detail


def test_a_price_above_the_confirmed_one_is_an_incident_and_the_charge_is_recorded():
    order = make_order(Status.SENDING, max_price=10_500)

    after = apply_outcome(order.pk, _report(order, "pending", price=10_501), source=SUBMIT, attempt=1)

    assert (after.status, after.price) == ("pending", 10_501)
    assert Incident.objects.get().kind == Incident.Kind.PRICE_ABOVE_MAX


@pytest.mark.parametrize("facts", [{"destination": "081234567891"}, {"product_code": "ANOTHER"}])
def test_a_report_about_another_purchase_is_an_incident_and_moves_nothing(facts):
    order = make_order(Status.UNKNOWN, destination="081234567890")

    after = apply_outcome(order.pk, _report(order, "success", **facts), source=POLL)

    assert after.status == Status.UNKNOWN
    assert Incident.objects.get().kind == Incident.Kind.MISMATCH


def test_another_notation_of_the_same_number_is_the_same_destination():
    order = make_order(Status.UNKNOWN, destination="081234567890")

    after = apply_outcome(order.pk, _report(order, "success", destination="+62 812-3456-7890"), source=POLL)

    assert after.status == Status.SUCCESS
    assert not Incident.objects.exists()


def test_a_second_trx_id_for_one_ref_id_is_an_incident():
    order = make_order(Status.PENDING, trx_id="T-1")

    apply_outcome(order.pk, _report(order, "success", trx_id="T-2"), source=POLL)

    incident = Incident.objects.get()
    assert incident.kind == Incident.Kind.CONTRADICTION
    assert "T-2" in incident.detail


def test_pending_after_staff_closed_the_order_as_never_arrived_is_an_incident():
    order = make_order(Status.FAILED, trx_id="")

    apply_outcome(order.pk, _report(order, "pending"), source=CALLBACK)

    assert Incident.objects.get().kind == Incident.Kind.CONTRADICTION


def test_a_refusal_after_a_doubtful_sending_speaks_only_for_itself():
    order = make_order(Status.SENDING, attempt=2)
    OrderEvent.objects.create(order=order, from_status="sending", to_status="unknown", source=SUBMIT)
    no = Outcome(status=Status.HELD, hold_reason=HoldReason.BALANCE_SHORT, error_code="INSUFFICIENT_BALANCE")

    after = apply_outcome(order.pk, no, source=SUBMIT, attempt=2)

    assert (after.status, after.error_code) == ("unknown", "INSUFFICIENT_BALANCE")
    assert after.next_check_at is not None


def test_a_definite_no_to_an_older_attempt_is_void():
    order = make_order(Status.SENDING, attempt=2)

    after = apply_outcome(
        order.pk, Outcome(status=Status.REJECTED, error_code="INVALID_REQUEST"), source=SUBMIT, attempt=1
    )

    assert after.status == Status.SENDING
    assert moves(order) == []


def test_a_definite_no_after_the_upstream_reported_the_transaction_is_an_incident():
    order = make_order(Status.SENDING)
    apply_outcome(order.pk, _report(order, "pending"), source=CALLBACK)

    no = Outcome(status=Status.HELD, hold_reason=HoldReason.BALANCE_SHORT, error_code="INSUFFICIENT_BALANCE")
    after = apply_outcome(order.pk, no, source=SUBMIT, attempt=1)

    assert after.status == Status.PENDING
    assert Incident.objects.get().kind == Incident.Kind.CONTRADICTION


@pytest.mark.parametrize("doubtful", [Status.HELD, Status.QUEUED, Status.UNKNOWN])
def test_what_the_upstream_reports_is_believed_from_every_open_status(doubtful):
    order = make_order(doubtful)

    after = apply_outcome(order.pk, _report(order), source=CALLBACK)

    assert after.status == Status.SUCCESS
    assert after.hold_reason == ""


def test_the_database_itself_refuses_a_move_that_the_life_does_not_know():
    order = make_order(Status.PENDING)

    with pytest.raises(DatabaseError, match=r"[Ii]nvalid transition"), transaction.atomic():
        Order.objects.filter(pk=order.pk).update(status=Status.QUEUED)


def test_the_database_itself_keeps_identity_and_timeline():
    order = make_order(Status.SENDING)
    apply_outcome(order.pk, _report(order), source=POLL)
    event = order.events.get()

    for attempt in (
        lambda: Order.objects.filter(pk=order.pk).update(ref_id="another"),
        lambda: Order.objects.filter(pk=order.pk).delete(),
        lambda: OrderEvent.objects.filter(pk=event.pk).update(note="never was"),
        lambda: OrderEvent.objects.filter(pk=event.pk).delete(),
    ):
        with pytest.raises(DatabaseError), transaction.atomic():
            attempt()


def test_the_database_itself_refuses_an_open_order_that_nobody_would_look_at():
    order = make_order(Status.PENDING)

    with pytest.raises(DatabaseError, match="order_never_forgotten"), transaction.atomic():
        Order.objects.filter(pk=order.pk).update(next_check_at=None)


_reports = st.tuples(st.sampled_from(["pending", "success", "failed"]), st.sampled_from([SUBMIT, POLL, CALLBACK]))
_answers = st.tuples(st.sampled_from(["unknown", "rejected", "held", "queued"]), st.just(SUBMIT))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(messages=st.lists(st.one_of(_reports, _answers), max_size=8))
def test_whatever_is_said_in_whatever_order_the_timeline_is_a_path_and_the_first_final_word_stays(messages):
    with transaction.atomic():
        order = make_order(Status.SENDING)
        first_final = ""
        for status, source in messages:
            if status in {"pending", "success", "failed"}:
                outcome = _report(order, status)
            else:
                reason = HoldReason.CUT_OFF if status == "held" else ""
                outcome = Outcome(status=Status(status), hold_reason=reason, error_code="X")
            after = apply_outcome(order.pk, outcome, source=source, attempt=1)
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
