"""A request is kept unchanged, once, and nothing else happens."""

import pytest
from django.db import IntegrityError, ProgrammingError, connection, transaction

from approvals.errors import AlreadyAsked, ApprovalRefused
from approvals.models import Approval, hash_of
from approvals.services import open_approval
from audit.models import AuditEvent
from testing.people import make_person
from tests.approvals.helpers import approve, approver, ask_discount, cashier

pytestmark = pytest.mark.django_db


def test_given_a_request_then_content_hash_and_asker_are_kept(discount):
    sari = cashier()

    approval = ask_discount(sari)

    assert approval.content == '{"price":9000,"product":"TSEL10"}'
    assert approval.sha256 == hash_of(approval.content)
    assert (approval.state, approval.asked_by, approval.asked_role) == ("asked", sari, "cashier")
    assert discount.done == []
    assert open_approval("discount", "TSEL10") == approval
    assert AuditEvent.objects.get(kind="approval_asked").person == sari


def test_given_the_same_again_then_it_is_the_same_approval(discount):
    sari = cashier()

    assert ask_discount(sari) == ask_discount(sari)
    assert Approval.objects.count() == AuditEvent.objects.filter(kind="approval_asked").count() == 1


def test_given_another_content_or_asker_then_it_is_refused(discount):
    sari, tono = cashier(), cashier("tono")
    first = ask_discount(sari)

    for asker, content in ((sari, {"price": 1}), (tono, first.facts)):
        with pytest.raises(AlreadyAsked) as refusal:
            ask_discount(asker, content=content)
        assert refusal.value.approval == first


def test_given_no_right_to_ask_then_nothing_is_stored(discount):
    with pytest.raises(ApprovalRefused) as refusal:
        ask_discount(make_person("auditor"))

    assert refusal.value.code == "ApprovalRefused:not_asker"
    assert not Approval.objects.exists()


def test_given_it_was_decided_then_the_same_can_be_asked_again(discount):
    sari = cashier()
    approve(ask_discount(sari), approver())

    assert ask_discount(sari).is_open


def test_given_an_update_then_what_was_asked_never_changes(discount):
    approval = ask_discount(cashier())
    for change in (
        {"content": '{"price":1,"product":"TSEL10"}', "sha256": hash_of('{"price":1,"product":"TSEL10"}')},
        {"subject": "X"},
        {"reason": "Another"},
        {"asked_role": "owner"},
        {"asked_by": approver()},
    ):
        with pytest.raises(ProgrammingError), transaction.atomic():
            Approval.objects.filter(pk=approval.pk).update(**change)


def test_given_a_decided_row_then_it_never_changes(discount):
    approval = approve(ask_discount(cashier()), approver())

    with pytest.raises(ProgrammingError), transaction.atomic():
        Approval.objects.filter(pk=approval.pk).update(state="asked", decided_at=None, decided_by=None, result="")


@pytest.mark.parametrize("sql", ["DELETE FROM approvals_approval", "TRUNCATE approvals_approval CASCADE"])
def test_given_sql_that_removes_rows_then_it_is_refused(discount, sql):
    ask_discount(cashier())

    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # else TRUNCATE is refused for constraints that wait
        with pytest.raises(ProgrammingError), transaction.atomic():
            cursor.execute(sql)


def test_given_sql_that_inserts_an_approved_row_then_it_is_refused(discount):
    asked = ask_discount(cashier())
    facts = {name: getattr(asked, name) for name in ("act", "content", "sha256", "asked_by", "asked_at", "expires_at")}
    decided = {"state": "approved", "decided_by": approver(), "decided_at": asked.asked_at}

    with pytest.raises(ProgrammingError), transaction.atomic():
        Approval.objects.create(subject="B", **facts, **decided)
    with pytest.raises(IntegrityError), transaction.atomic():
        Approval.objects.create(subject="C", **facts | {"sha256": "0" * 64})
