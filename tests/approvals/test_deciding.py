"""A second person decides: exactly the requested act happens, once, or nothing."""

import datetime as dt
import json
from functools import partial

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


def test_given_an_owner_asked_then_neither_the_owner_nor_sql_approves_it(discount):
    owner = approver("owner")
    approval = ask_discount(owner)

    with pytest.raises(ApprovalRefused) as refusal:
        approve(approval, owner)

    assert refusal.value.reason == "own"
    assert discount.done == []
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


def test_given_no_right_then_nobody_approves_or_refuses(discount):
    approval, budi = ask_discount(cashier()), approver()
    people = [make_person(role, username=f"other {role}") for role in ("cashier", "auditor")]
    people.append(make_person("admin", username="off", is_active=False))

    steps = [
        (partial(approve, approval, person), partial(refuse, approval, actor=person, reason="No")) for person in people
    ]
    User.objects.filter(pk=budi.pk).update(is_superuser=False)  # `budi` is as the request read him
    for decide in [*(step for both in steps for step in both), partial(approve, approval, budi)]:
        with pytest.raises(ApprovalRefused) as refusal:
            decide()
        assert refusal.value.reason == "no_right", decide
    assert discount.done == []


def test_given_what_cannot_be_done_as_it_was_asked_then_it_is_void(discount):
    sari, budi = cashier(), approver()
    other, closed, lost = (ask_discount(sari, subject=subject) for subject in ("A", "B", "C"))

    discount.content = {"product": "TSEL10", "price": 9_500}
    decided = approve(other, budi)
    assert (decided.state, decided.changes, decided.result) == ("void", {"price": [9_000, 9_500]}, "")
    assert discount.ends == ["void"]
    assert kinds() == ["approval_asked"] * 3 + ["approval_void"]

    discount.refusal = Closed("The shop is closed.")
    decided = approve(closed, budi)
    words = dict.fromkeys(("en", "id"), "The shop is closed.")
    assert (decided.state, decided.changes) == ("void", {"code": "Closed", "words": words})

    discount.content, discount.refusal = {"product": "TSEL10", "price": 9_000}, None
    User.objects.filter(pk=sari.pk).update(is_active=False)
    decided = approve(lost, budi)
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


def test_given_its_time_is_over_then_nobody_approves_it_and_the_task_ends_it(discount, time_machine):
    sari, budi = cashier(), approver()
    tried, again, left = (ask_discount(sari, subject=subject) for subject in ("A", "B", "C"))
    assert expire_overdue() == 0
    time_machine.move_to(left.expires_at + dt.timedelta(seconds=1))

    decided = approve(tried, budi)
    assert (decided.state, decided.decided_by) == ("expired", None)
    assert discount.done == []
    assert kinds() == ["approval_asked"] * 3 + ["expired"]

    assert ask_discount(sari, subject="B", content={"price": 1}).is_open
    again.refresh_from_db()
    assert again.state == "expired"

    assert services.open_approval("discount", "C") is None
    assert [expire_overdue(), expire_overdue()] == [1, 0]
    left.refresh_from_db()
    assert left.state == "expired"
    assert discount.ends == ["expired"] * 3


def test_given_a_refusal_then_it_needs_a_reason_and_another_person_and_a_withdrawal_its_author(discount):
    sari, budi = cashier(), approver()
    approval, own = ask_discount(sari), ask_discount(sari, subject="B")

    for actor, reason, why in ((budi, " ", "no_reason"), (sari, "No", "own_refused")):
        with pytest.raises(ApprovalRefused) as refusal:
            refuse(approval, actor=actor, reason=reason)
        assert refusal.value.reason == why
    decided = refuse(approval, actor=budi, reason="Too cheap")

    assert (decided.state, decided.decided_by, decided.decision_reason) == ("refused", budi, "Too cheap")
    assert discount.done == []
    assert discount.ends == ["refused"]

    with pytest.raises(ApprovalRefused) as refusal:
        withdraw(own, actor=budi)
    assert refusal.value.reason == "not_yours"
    assert withdraw(own, actor=sari).state == "withdrawn"
    assert kinds()[-1] == "approval_withdrawn"


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
