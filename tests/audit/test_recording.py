"""Audit events: one row in the caller's transaction, which nothing changes afterwards."""

import pytest
from django.db import DatabaseError, connection, transaction
from django.test import RequestFactory
from structlog.contextvars import bound_contextvars

from audit.kinds import Kind
from audit.models import AuditEvent
from audit.services import record
from testing.database import statements
from testing.people import make_person

pytestmark = pytest.mark.django_db


def request_of(person):
    request = RequestFactory().get("/", REMOTE_ADDR="203.0.113.7")
    request.user = person
    return request


def test_event_names_person_role_address_and_request():
    cashier = make_person("cashier")
    with bound_contextvars(request_id="r-1"):
        record(Kind.ROLE_CHANGED, request=request_of(cashier), subject="ann", before={"role": "cashier"})
    event = AuditEvent.objects.get()
    assert (event.kind, event.person, event.role) == ("role_changed", cashier, "cashier")
    assert (event.address, event.request_id, event.subject) == ("203.0.113.7", "r-1", "ann")
    assert (event.before, event.after) == ({"role": "cashier"}, None)


def test_event_of_a_command_has_no_person():
    record(Kind.RESTORED)
    event = AuditEvent.objects.get()
    assert (event.person, event.role, event.address) == (None, "", "")


def test_event_costs_one_statement():
    owner, cashier = make_person("admin"), make_person("cashier")
    with statements() as sent:
        record(Kind.SIGN_IN, person=owner)
        record(Kind.SIGN_IN, person=cashier)
    assert len(sent) == 2
    assert set(AuditEvent.objects.values_list("role", flat=True)) == {"owner", "cashier"}


def test_event_goes_with_its_act_when_it_is_rolled_back():
    with transaction.atomic():
        record(Kind.SIGN_IN)
        transaction.set_rollback(True)
    assert not AuditEvent.objects.exists()


@pytest.mark.parametrize(
    "change", ["UPDATE audit_auditevent SET kind = ''", "DELETE FROM audit_auditevent", "TRUNCATE audit_auditevent"]
)
def test_recorded_event_is_never_changed(change):
    record(Kind.SIGN_IN)
    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(change)
