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


def test_given_a_request_then_it_is_kept_once_until_it_is_decided(discount):
    sari, tono = cashier(), cashier("tono")
    with pytest.raises(ApprovalRefused) as refused:
        ask_discount(make_person("auditor"))
    assert refused.value.code == "ApprovalRefused:not_asker"
    assert not Approval.objects.exists()

    approval = ask_discount(sari)

    assert approval.content == '{"price":9000,"product":"TSEL10"}'
    assert approval.sha256 == hash_of(approval.content)
    assert (approval.state, approval.asked_by, approval.asked_role) == ("asked", sari, "cashier")
    assert discount.done == []
    assert open_approval("discount", "TSEL10") == approval
    assert AuditEvent.objects.get(kind="approval_asked").person == sari

    assert ask_discount(sari) == approval
    for asker, content in ((sari, {"price": 1}), (tono, approval.facts)):
        with pytest.raises(AlreadyAsked) as refusal:
            ask_discount(asker, content=content)
        assert refusal.value.approval == approval
    assert Approval.objects.count() == AuditEvent.objects.filter(kind="approval_asked").count() == 1

    approve(approval, approver())
    assert ask_discount(sari).is_open


def test_given_sql_then_no_request_is_changed_removed_or_made_approved(discount):
    approval, budi = ask_discount(cashier()), approver()
    for change in (
        {"content": '{"price":1,"product":"TSEL10"}', "sha256": hash_of('{"price":1,"product":"TSEL10"}')},
        {"subject": "X"},
        {"reason": "Another"},
        {"asked_role": "owner"},
        {"asked_by": budi},
    ):
        with pytest.raises(ProgrammingError), transaction.atomic():
            Approval.objects.filter(pk=approval.pk).update(**change)

    names = ("act", "content", "sha256", "asked_by", "asked_at", "expires_at")
    facts = {name: getattr(approval, name) for name in names}
    decided = {"state": "approved", "decided_by": budi, "decided_at": approval.asked_at}
    with pytest.raises(ProgrammingError), transaction.atomic():
        Approval.objects.create(subject="B", **facts, **decided)
    with pytest.raises(IntegrityError), transaction.atomic():
        Approval.objects.create(subject="C", **facts | {"sha256": "0" * 64})

    approve(approval, budi)
    with pytest.raises(ProgrammingError), transaction.atomic():
        Approval.objects.filter(pk=approval.pk).update(state="asked", decided_at=None, decided_by=None, result="")
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # else TRUNCATE is refused for constraints that wait
        for sql in ("DELETE FROM approvals_approval", "TRUNCATE approvals_approval CASCADE"):
            with pytest.raises(ProgrammingError), transaction.atomic():
                cursor.execute(sql)
