"""Audit events: one row in the caller's transaction, which never changes afterwards."""

import threading
from functools import partial

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import DatabaseError, connection, transaction
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory
from structlog.contextvars import bound_contextvars

from audit.events import RESTORED
from audit.models import AuditEvent
from audit.services import record
from core.tracing import RequestLogMiddleware
from staff.events import ROLE_CHANGED, SIGN_IN, SIGN_OUT
from testing.database import statements
from testing.orders import at_once
from testing.people import make_person

pytestmark = pytest.mark.django_db


def test_event_names_person_role_address_and_request():
    cashier = make_person("cashier")
    with bound_contextvars(request_id="r-1", ip="203.0.113.7"):
        record(ROLE_CHANGED, actor=cashier, subject="ann", before={"role": "cashier"})
    event = AuditEvent.objects.get()
    assert (event.kind, event.person, event.role) == ("role_changed", cashier, "cashier")
    assert (event.address, event.request_id, event.subject) == ("203.0.113.7", "r-1", "ann")
    assert (event.before, event.after) == ({"role": "cashier"}, None)


def test_event_of_a_command_has_no_person_and_goes_with_its_act():
    with transaction.atomic():
        record(SIGN_IN)
        transaction.set_rollback(True)
    record(RESTORED)
    event = AuditEvent.objects.get()
    assert (event.kind, event.person, event.role, event.address) == (RESTORED.key, None, "", "")


@pytest.mark.django_db(transaction=True)
def test_two_requests_at_once_then_each_event_has_its_own_address_and_later_work_none():
    both_under_way = threading.Barrier(2)

    def serve(address: str) -> None:
        def view(_request: HttpRequest) -> HttpResponse:
            both_under_way.wait(10)
            record(SIGN_IN, subject=address)
            return HttpResponse()

        request = RequestFactory().get("/", REMOTE_ADDR=address)
        request.user = AnonymousUser()
        RequestLogMiddleware(view)(request)
        record(SIGN_OUT, subject=address)

    at_once(partial(serve, "203.0.113.7"), partial(serve, "203.0.113.8"))

    events = AuditEvent.objects.order_by("kind", "subject")
    assert list(events.values_list("kind", "subject", "address")) == [
        ("sign_in", "203.0.113.7", "203.0.113.7"),
        ("sign_in", "203.0.113.8", "203.0.113.8"),
        ("sign_out", "203.0.113.7", ""),
        ("sign_out", "203.0.113.8", ""),
    ]
    assert events.exclude(request_id="").values("request_id").distinct().count() == 2


def test_event_costs_one_statement():
    owner, cashier = make_person("admin"), make_person("cashier")
    with statements() as sent:
        record(SIGN_IN, actor=owner)
        record(SIGN_IN, actor=cashier)
    assert len(sent) == 2
    assert set(AuditEvent.objects.values_list("role", flat=True)) == {"owner", "cashier"}


def test_recorded_event_is_never_changed():
    record(SIGN_IN)
    for change in ("UPDATE {0} SET kind = ''", "DELETE FROM {0}", "TRUNCATE {0}"):
        with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(change.format("audit_auditevent"))
