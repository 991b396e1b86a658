"""A second person decides: exactly the requested act happens, once, or nothing."""

import datetime as dt
import json

import pytest
from django.db import IntegrityError, transaction

from approvals import services
from approvals.errors import ApprovalRefused
from approvals.models import Approval
from approvals.services import expire_overdue, note_executed, refuse, withdraw
from audit.models import AuditEvent
from core import clock
from staff.errors import FactorRefused
from staff.models import User
from testing.orders import at_once
from testing.people import make_person
from tests.approvals.conftest import Closed, Short
from tests.approvals.helpers import approve, approver, ask_discount, cashier, factor_of

pytestmark = pytest.mark.django_db


def kinds() -> list[str]:
    return list(
        AuditEvent.objects.filter(subject__startswith="approval:").order_by("pk").values_list("kind", flat=True)
    )


def test_given_an_approval_then_it_is_done_once(discount):
    approval, budi = ask_discount(cashier()), approver()

    decided = approve(approval, budi)

    assert (decided.state, decided.result, decided.decided_by) == ("approved", "D-1", budi)
    assert discount.done == [("TSEL10", "budi")]
    assert discount.ends == []
    assert kinds() == ["approval_asked", "approved"]
    event = AuditEvent.objects.get(kind="approved")
    assert (event.facts["sha256"], event.facts["content"]) == (approval.sha256, json.loads(approval.content))
    with pytest.raises(ApprovalRefused) as refusal:
        approve(approval, budi)
    assert refusal.value.reason == "decided"
    assert len(discount.done) == 1


def test_what_was_executed_before_the_restore_is_tidied_up(discount):
    approval = ask_discount(cashier(), content={"ref_id": "R-1", "price": 9_000})

    note_executed("R-1", sha256=approval.sha256, by=0, at=clock.now())

    approval.refresh_from_db()
    assert (approval.state, discount.ends) == ("void", ["void"])


def test_given_an_owner_asked_then_the_owner_cannot_approve(discount):
    owner = approver("owner")
    approval = ask_discount(owner)

    with pytest.raises(ApprovalRefused) as refusal:
        approve(approval, owner)

    assert refusal.value.reason == "own"
    assert discount.done == []


def test_given_an_own_approval_in_sql_then_the_database_refuses(discount):
    owner = approver("owner")
    approval = ask_discount(owner)
    decided = {"state": "approved", "decided_at": clock.now(), "result": "D-1"}

    for by in (owner, None):
        with pytest.raises(IntegrityError), transaction.atomic():
            Approval.objects.filter(pk=approval.pk).update(**decided, decided_by=by)


def test_given_a_code_was_used_then_it_approves_nothing_more(discount):
    budi = approver()
    first, second = ask_discount(cashier()), ask_discount(cashier("tono"), subject="B")
    factor = factor_of(budi)
    services.approve(first, actor=budi, factor=factor)

    with pytest.raises(FactorRefused):
        services.approve(second, actor=budi, factor=factor)

    assert len(discount.done) == 1


@pytest.mark.parametrize("facts", [{"is_active": False}, {"role": "cashier"}, {"role": "auditor"}])
def test_given_no_right_then_nobody_approves_or_refuses(discount, facts):
    approval = ask_discount(cashier())
    person = make_person(facts.pop("role", "admin"), username="other", **facts)

    for decide in (lambda: approve(approval, person), lambda: refuse(approval, actor=person, reason="No")):
        with pytest.raises(ApprovalRefused) as refusal:
            decide()
        assert refusal.value.reason == "no_right"
    assert discount.done == []


def test_given_the_right_was_lost_meanwhile_then_it_is_refused(discount):
    approval, budi = ask_discount(cashier()), approver()
    User.objects.filter(pk=budi.pk).update(is_superuser=False)  # `budi` is as the request read him

    with pytest.raises(ApprovalRefused):
        approve(approval, budi)

    assert discount.done == []


def test_given_another_content_now_then_it_is_void(discount):
    approval, budi = ask_discount(cashier()), approver()
    discount.content = {"product": "TSEL10", "price": 9_500}

    decided = approve(approval, budi)

    assert (decided.state, decided.changes, decided.result) == ("void", {"price": [9_000, 9_500]}, "")
    assert discount.done == []
    assert discount.ends == ["void"]
    assert kinds() == ["approval_asked", "approval_void"]


def test_given_it_cannot_be_done_any_more_then_it_is_void(discount):
    approval = ask_discount(cashier())
    discount.refusal = Closed("The shop is closed.")

    decided = approve(approval, approver())

    assert (decided.state, decided.changes) == (
        "void",
        {
            "code": "Closed",
            "words": dict.fromkeys(("en", "id"), "The shop is closed."),
        },
    )


def test_given_the_asker_lost_the_right_then_it_is_void(discount):
    sari = cashier()
    approval = ask_discount(sari)
    User.objects.filter(pk=sari.pk).update(is_active=False)

    decided = approve(approval, approver())

    assert (decided.state, decided.changes["code"]) == ("void", "ApprovalRefused:not_asker")
    assert discount.done == []


def test_given_it_fails_at_the_moment_then_it_stays_open(discount):
    approval, budi = ask_discount(cashier()), approver()
    discount.fails = Short("The balance is short.")

    with pytest.raises(Short):
        approve(approval, budi)

    approval.refresh_from_db()
    assert approval.is_open
    assert kinds() == ["approval_asked"]
    discount.fails = None
    assert approve(approval, budi).state == "approved"


def test_given_its_time_is_over_then_nobody_approves_it(discount, time_machine):
    approval, budi = ask_discount(cashier()), approver()
    time_machine.move_to(approval.expires_at + dt.timedelta(seconds=1))

    decided = approve(approval, budi)

    assert (decided.state, decided.decided_by) == ("expired", None)
    assert discount.done == []
    assert kinds() == ["approval_asked", "expired"]


def test_given_its_time_is_over_then_the_task_ends_it(discount, time_machine):
    approval = ask_discount(cashier())
    assert expire_overdue() == 0
    time_machine.move_to(approval.expires_at + dt.timedelta(seconds=1))

    assert services.open_approval("discount", "TSEL10") is None
    assert expire_overdue() == 1
    assert expire_overdue() == 0
    approval.refresh_from_db()
    assert approval.state == "expired"
    assert discount.ends == ["expired"]


def test_given_an_overdue_one_then_the_same_can_be_asked_again(discount, time_machine):
    sari = cashier()
    before = ask_discount(sari)
    time_machine.move_to(before.expires_at + dt.timedelta(seconds=1))

    assert ask_discount(sari, content={"price": 1}).is_open
    before.refresh_from_db()
    assert before.state == "expired"


def test_given_a_refusal_then_it_needs_a_reason_and_another_person(discount):
    sari, budi = cashier(), approver()
    approval = ask_discount(sari)

    for actor, reason, why in ((budi, " ", "no_reason"), (sari, "No", "own_refused")):
        with pytest.raises(ApprovalRefused) as refusal:
            refuse(approval, actor=actor, reason=reason)
        assert refusal.value.reason == why
    decided = refuse(approval, actor=budi, reason="Too cheap")

    assert (decided.state, decided.decided_by, decided.decision_reason) == ("refused", budi, "Too cheap")
    assert discount.done == []
    assert discount.ends == ["refused"]


def test_given_a_withdrawal_then_only_its_author_may(discount):
    sari = cashier()
    approval = ask_discount(sari)

    with pytest.raises(ApprovalRefused) as refusal:
        withdraw(approval, actor=approver())
    assert refusal.value.reason == "not_yours"
    assert withdraw(approval, actor=sari).state == "withdrawn"
    assert kinds() == ["approval_asked", "approval_withdrawn"]


def test_given_an_unknown_act_then_only_an_owner_refuses_it(discount, monkeypatch):
    approval, budi = ask_discount(cashier()), approver()
    monkeypatch.setattr("approvals.services.deciding.act_named", lambda _name: None)

    with pytest.raises(ApprovalRefused) as refusal:
        approve(approval, budi)
    assert refusal.value.reason == "unknown_act"
    assert refuse(approval, actor=budi, reason="Of an older version").state == "refused"


@pytest.mark.django_db(transaction=True)
def test_given_many_approvers_at_once_then_it_is_done_once(discount):
    approval = ask_discount(cashier())
    people = [approver(f"approver-{n}") for n in range(6)]

    results = at_once(*(lambda person=person: approve(approval, person) for person in people))

    assert len(discount.done) == 1
    assert sorted(type(result).__name__ for result in results) == ["Approval"] + ["ApprovalRefused"] * 5
    assert kinds() == ["approval_asked", "approved"]


@pytest.mark.django_db(transaction=True)
def test_given_approve_refuse_and_withdraw_at_once_then_one_wins(discount):
    sari, budi, ani = cashier(), approver(), approver("ani")
    for n in range(4):
        approval = ask_discount(sari, subject=str(n))

        at_once(
            lambda a=approval: approve(a, budi),
            lambda a=approval: refuse(a, actor=ani, reason="No"),
            lambda a=approval: withdraw(a, actor=sari),
        )

        approval.refresh_from_db()
        done = [subject for subject, _by in discount.done if subject == approval.subject]
        assert len(done) == (approval.state == "approved")
        assert AuditEvent.objects.filter(subject=f"approval:{approval.pk}").count() == 2


@pytest.mark.django_db(transaction=True)
def test_given_the_same_asked_many_times_at_once_then_one_is_kept(discount):
    sari = cashier()

    approvals = at_once(*[lambda: ask_discount(sari)] * 5)

    assert len({approval.pk for approval in approvals}) == 1
