"""A page of bills takes as many queries for many bills as for few."""

import uuid

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from bills.models import BillCheck
from purchases.states import ActionReason, Status
from testing.factories import make_biller, make_check, make_payment
from tests.bills.helpers import expire

pytestmark = pytest.mark.django_db


def make_bills(batch: uuid.UUID, times: int) -> BillCheck:
    """Make checks of every standing that other checks and payments can cause; returns the first one."""
    for _ in range(times):
        biller = make_biller()
        make_check("none", batch=batch)
        make_check("refusal", product=biller, batch=batch, error_code="BILL_ALREADY_PAID")
        make_payment(make_check(batch=batch), Status.NEEDS_ACTION, action_reason=ActionReason.BALANCE_SHORT)
        paid = make_check(product=biller, batch=batch)
        make_payment(paid, Status.SUCCESS)
        make_check(product=biller, batch=batch)
        blocked = make_check(product=make_biller(), batch=batch)
        make_payment(make_check(product=blocked.product), Status.PENDING)
        replaced = make_check(batch=batch)
        make_check(product=replaced.product, batch=batch)
        expire(make_check(batch=batch))
    return BillCheck.objects.earliest("pk")


def count(client, address: str) -> int:
    client.get(address)  # fills the caches
    with CaptureQueriesContext(connection) as queries:
        assert client.get(address).status_code == 200
    return len(queries)


PAGES = [
    "/bills/",
    "/bills/?state=not_payable",
    "/bills/live/?seen={seen}",
    "/bills/{ref_id}/",
    "/bills/{ref_id}/live/?seen=",
    "/counter/batch/{batch}/",
    "/counter/batch/{batch}/live/?seen=",
]


def test_more_bills_take_no_more_queries(cashier):
    batch = uuid.uuid4()
    counts = []
    for times in (1, 3):
        check = make_bills(batch, times)
        seen = ",".join(f"row-{pk}~old" for pk in BillCheck.objects.values_list("pk", flat=True))
        facts = {"ref_id": check.ref_id, "batch": batch, "seen": seen}
        counts.append({page: count(cashier, page.format(**facts)) for page in PAGES})

    assert counts[0] == counts[1]
    assert {page: most for page, most in counts[0].items() if most > (4 if "/live/" in page else 10)} == {}
