"""Rows of work in tests: how to make them, and what the list and the menu show."""

import datetime as dt
import re

from django.utils import timezone

from batches.models import Batch
from branches.models import FIRST
from callbacks.models import Callback
from complaints.services import open_complaint
from drawers.models import DrawerDay, Payment
from purchases.models import Incident
from purchases.states import ActionReason, Status
from reconciliation.models import ExpectedTopUp
from testing.factories import make_order
from tests.approvals.helpers import ask_purchase, cashier
from tests.dues.helpers import due_bill
from tests.reconciliation.helpers import make_difference


def rows(browser, query: str = "") -> list[str]:
    """The kinds of the rows, in their order."""
    page = browser.get(f"/work/{query}").content.decode()
    return re.findall(r'<tr id="row-(\w+)-\d+"', page)


def counted(browser) -> int:
    """The number in the menu."""
    return int(counted_words(browser))


def counted_words(browser) -> str:
    """The number in the menu, as text."""
    page = browser.get("/orders/").content.decode()
    return page.split('id="count-work"')[1].split(">")[1].split("<")[0]


def owed() -> Payment:
    """The payment of a reversed order, whose customer gets the money."""
    return make_order(Status.REVERSED).payment


def one_of_each() -> None:
    """Make one row of every kind, requested or opened by Sari."""
    sari, now = cashier(own_approval_above=10_000), timezone.now()
    sold = now - dt.timedelta(days=3)
    order = make_order(Status.NEEDS_ACTION, action_reason=ActionReason.BALANCE_SHORT, created_at=sold, sent_at=sold)
    owed()
    incident_of = make_order(Status.SUCCESS)
    Incident.objects.create(order=incident_of, kind="contradiction", source="poll", detail="failed after success")
    make_difference(-1_000, "unexplained_debit")
    ExpectedTopUp.objects.create(amount=500_000, announced_by=sari)
    open_complaint(order, words="nothing came", actor=sari, due_at=now + dt.timedelta(days=2))
    Callback.objects.create(
        content_hash="0" * 64,
        event="transaction.updated",
        body=b"{}",
        headers={},
        is_signed=True,
        tries=2,
        fault="Oops",
    )
    ask_purchase(sari, "081234567890")
    DrawerDay.objects.create(day=timezone.localdate(now) - dt.timedelta(days=2))
    facts = {"state": "paused", "stopped_by": "BalanceShort", "released_at": now}
    Batch.objects.create(branch_id=FIRST, sha256="0" * 64, **facts)
    due_bill("1234567890", fine_on=f"{timezone.localdate(now) + dt.timedelta(days=1)}")
