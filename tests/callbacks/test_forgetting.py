"""A callback's body is kept for its days, and longer if an order needs it; the audit verifies in both cases."""

import datetime as dt

import pytest
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from audit.services.rules import rule_flaws
from callbacks import services
from callbacks.errors import BodyGone
from callbacks.models import Callback
from callbacks.services import forget_old_bodies, process_again
from policies.models import Policies
from policies.services import forget
from purchases.states import Status
from testing.factories import make_order
from testing.people import browser_of, make_person
from tests.core.helpers import has_id

pytestmark = pytest.mark.django_db(transaction=True)
LONG_AGO = timezone.now() - dt.timedelta(days=100)


def processed(ref_id: str = "", *, at: dt.datetime = LONG_AGO, state: str = "applied") -> Callback:
    """A callback that arrived then, as `receive` keeps it."""
    body = f'{{"ref_id": "{ref_id}", "at": "{at}"}}'.encode()
    pk = services.receive(body=body, headers={}, source_address=None, is_signed=True, ref_id=ref_id, event="x")
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")  # a test cannot wait for its days
        for table, key in (("callbacks_callback", "id"), ("callbacks_callbackhistory", "pgh_obj_id")):
            change = f"UPDATE {table} SET received_at = %s, state = %s, processed_at = %s WHERE {key} = %s"  # noqa: S608
            cursor.execute(change, [at, state, None if state == "received" else at, pk])
    return Callback.objects.get(pk=pk)


def gone() -> set[str]:
    return set(Callback.objects.filter(body=b"", body_gone_at__isnull=False).values_list("ref_id", flat=True))


def test_old_bodies_go_and_the_audit_still_verifies(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(services, "FORGOTTEN_AT_ONCE", 2)
    open_order = make_order(Status.PENDING)
    lately = make_order(Status.SUCCESS, destination="081200000001")
    ended = make_order(Status.SUCCESS, destination="081200000002", created_at=LONG_AGO, final_at=LONG_AGO)
    for ref_id in ("NO-ORDER", open_order.ref_id, lately.ref_id, ended.ref_id):
        processed(ref_id)
    processed("WAITS", state="received")
    processed("YOUNG", at=timezone.now() - dt.timedelta(days=89))
    Policies.objects.create(callbacks_kept_days=None)
    forget()
    assert (forget_old_bodies(), gone()) == (0, set()), "without days nothing goes"
    Policies.objects.update(callbacks_kept_days=90)
    forget()

    assert forget_old_bodies() == 2
    assert gone() == {"NO-ORDER", ended.ref_id}
    assert forget_old_bodies() == 0

    assert rule_flaws() == []
    page = browser_of("auditor").get("/callbacks/")
    assert has_id(page, "some-gone")
    callback = Callback.objects.get(ref_id="NO-ORDER")
    page = browser_of("admin").get(f"/callbacks/{callback.pk}/")
    assert has_id(page, "body-gone")
    assert not has_id(page, "process-again")
    with pytest.raises(BodyGone):
        process_again(callback, actor=make_person("admin", username="boss"))


def test_the_database_lets_no_other_body_in_and_no_young_one_go():
    now, gone_at = timezone.now(), {"body": b"", "body_gone_at": timezone.now()}
    old, young = (processed(f"R{days}", at=now - dt.timedelta(days=days)) for days in (100, 89))
    for callback, change in [
        (old, {"body": b"{}"}),
        (old, {"body": b""}),
        (old, {"body": b"{}", "body_gone_at": now}),
        (old, {"body": b"", "body_gone_at": now + dt.timedelta(days=1)}),
        (young, gone_at),
    ]:
        with pytest.raises(DatabaseError, match="Cannot update"), transaction.atomic():
            Callback.objects.filter(pk=callback.pk).update(**change)


@pytest.mark.parametrize("says_so", [False, True])
def test_a_young_body_that_is_emptied_past_the_triggers_is_named(says_so: bool):
    callback = processed("R1", at=timezone.now() - dt.timedelta(days=10))

    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("ALTER TABLE callbacks_callback DISABLE TRIGGER ALL")
        if says_so:
            cursor.execute("ALTER TABLE callbacks_callback ENABLE TRIGGER pgtrigger_history_update_ae842")
        gone_at = "now()" if says_so else "NULL"
        cursor.execute(f"UPDATE callbacks_callback SET body = '', body_gone_at = {gone_at}")  # noqa: S608
        cursor.execute("ALTER TABLE callbacks_callback ENABLE TRIGGER ALL")

    assert [(flaw.reason, flaw.id) for flaw in rule_flaws()] == [("rule_broken", callback.pk)]
