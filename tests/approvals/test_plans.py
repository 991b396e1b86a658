"""With many approvals, each query reads only the rows that it needs, by an index."""

import datetime as dt

import pytest
from django.db import connection
from django.db.models import F
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from approvals.models import Approval, ApprovalState, canonical, hash_of
from approvals.services import expire_overdue
from tests.approvals.helpers import approver, cashier
from tests.plans import asked, plan_of, scans

pytestmark = pytest.mark.django_db

MANY, OPEN = 3_000, 20
MOST_ROWS = 600  # for a page of the person's own approvals, which are one in ten


@pytest.fixture
def many(db):
    """Years of approvals by ten cashiers, few of them open; returns the approver and one asker."""
    people, budi, now = [cashier(f"cashier-{n}") for n in range(10)], approver(), timezone.now()
    text = canonical({"price": 1})
    facts = {"act": "order", "content": text, "sha256": hash_of(text), "expires_at": now + dt.timedelta(days=1)}
    Approval.objects.bulk_create(
        Approval(subject=str(n), asked_by=people[n % 10], asked_at=now - dt.timedelta(minutes=n), **facts)
        for n in range(MANY)
    )
    old = Approval.objects.filter(asked_at__lt=now - dt.timedelta(minutes=OPEN))
    decided = {"decided_by": budi, "decided_at": F("asked_at"), "decision_reason": "No"}
    old.update(state=ApprovalState.REFUSED, **decided)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE approvals_approval")
    return budi, people[0]


def read_by(work) -> list[str]:
    """The reads of the table with more than a page's rows, or without an index."""
    with CaptureQueriesContext(connection) as queries:
        work()
    reads = []
    for question in asked(queries.captured_queries):
        for table, kind, rows in scans(plan_of(question)):
            if table == "approvals_approval" and (kind == "Seq Scan" or rows > MOST_ROWS):
                reads.append(f"{kind} of {rows}: {question[:300]}")
    return reads


def test_given_many_then_no_page_reads_them_all_and_the_task_the_overdue_ones(many):
    browser = Client()
    for person in many:
        browser.force_login(person)
        for query in ("", "?state=refused", "?state=approved", "live/?seen=", "?since=2026-01-01"):
            assert read_by(lambda: browser.get(f"/approvals/{query}")) == [], query  # noqa: B023

    assert read_by(expire_overdue) == []
