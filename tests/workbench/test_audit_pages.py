"""What people did, searched by person, action, subject and time, and taken away as a file, which is noted in turn."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from audit.kinds import Kind
from audit.models import AuditEvent
from audit.services import record
from exports.models import Export
from purchases.states import Status
from tests.database import statements
from tests.factories import make_order
from tests.people import browser_of, make_person
from workbench.tasks import write_audit


@pytest.fixture
def auditor(db: None) -> Client:
    browser = browser_of("auditor")
    sari, budi = make_person("cashier", username="Sari"), make_person("cashier", username="budi")
    record(Kind.SIGN_IN, person=sari)
    record(Kind.PRINTED, person=sari, subject="R1", facts={"number": 1})
    record(Kind.LIMIT_CHANGED, person=budi, subject="sari", before={"per_day": 5}, after={"per_day": 9})
    old = timezone.now() - dt.timedelta(days=40)
    AuditEvent.objects.create(kind=Kind.SIGN_OUT, person=budi, at=old)
    return browser


def found(browser: Client, **query: Any) -> list[str]:
    """The kinds that the list shows, newest first."""
    return [event.kind for event in browser.get("/audit/", query).context["table"].rows]


def test_events_are_found_by_person_action_order_and_time(auditor: Client):
    month_ago = (timezone.localdate() - dt.timedelta(days=30)).isoformat()

    assert found(auditor, person="sari") == ["printed", "sign_in"]
    assert found(auditor, kind="limit_changed") == ["limit_changed"]
    assert found(auditor, q=" r1 ") == ["printed"]
    assert found(auditor, until=month_ago) == ["sign_out"]
    assert found(auditor, since=month_ago, person="budi") == ["limit_changed"]
    assert found(auditor, person="nobody") == []


def test_a_change_shows_before_and_after(auditor: Client):
    page = auditor.get("/audit/?kind=limit_changed").content.decode()
    assert "per_day: 5 → 9" in page


def test_a_csv_streams_the_filtered_events_and_is_noted(auditor: Client):
    answer = auditor.get("/audit/csv/?person=sari")

    lines = b"".join(answer.streaming_content).decode().splitlines()
    assert [line.split(",")[2] for line in lines[1:]] == ["sign_in", "printed"]
    noted = AuditEvent.objects.get(kind=Kind.EXPORT_MADE)
    assert (noted.subject, noted.person.username) == ("audit", "auditor")
    assert noted.facts == {"format": "csv", "query": "person=sari"}


def test_a_workbook_is_written_by_the_worker_and_noted(auditor: Client):
    assert auditor.post("/audit/xlsx/?kind=printed").status_code == 302
    export = Export.objects.get()
    write_audit(export.pk)

    export.refresh_from_db()
    assert (export.state, export.rows_done) == ("ready", 1)
    assert AuditEvent.objects.get(kind=Kind.EXPORT_MADE).facts["format"] == "xlsx"


def test_a_receipt_that_is_printed_is_noted(auditor: Client):
    order = make_order(Status.SUCCESS, sn="1")
    browser_of("cashier").post(f"/orders/{order.ref_id}/receipt/", {"paper": "58"}, REMOTE_ADDR="203.0.113.5")

    noted = AuditEvent.objects.get(kind=Kind.PRINTED, subject=order.ref_id)
    assert (noted.person.username, noted.address) == ("cashier", "203.0.113.5")
    assert noted.facts == {"number": 1, "paper": "58"}


def test_a_statement_that_is_exported_is_noted(auditor: Client):
    b"".join(auditor.get("/balance/statement/csv/?kind=debit").streaming_content)

    assert AuditEvent.objects.get(kind=Kind.EXPORT_MADE).facts == {"format": "csv", "query": "kind=debit"}


def test_the_list_takes_few_queries(auditor: Client):
    auditor.get("/audit/")
    with statements() as asked:
        auditor.get("/audit/")
    assert len(asked) <= 10


@pytest.mark.parametrize("role", ["viewer", "cashier", "supervisor"])
def test_who_lacks_the_right_sees_no_events(role: str, db: None):
    browser = browser_of(role)
    for address in ("/audit/", "/audit/csv/", "/audit/xlsx/"):
        assert browser.get(address).status_code == 403
