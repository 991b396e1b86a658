"""Refunds that come late, announcements that lapse, orders of unknown outcome: what the balance's pages say of them."""

import datetime as dt

import pytest
import time_machine
from django.utils import timezone

from balance import services
from balance.models import Adjustment, Difference, ExpectedTopUp
from tests.pages.books import kinds, open_books, upstream_tells
from tests.pages.conftest import browser_of
from tests.pages.test_balance_page import words

pytestmark = pytest.mark.django_db


def missing_refund() -> Difference:
    """A refund of Rp10.500 that has not come, with a proposal of one "owner" to adjust the books."""
    open_books(1_000_000)
    now = timezone.now()
    found = Difference.objects.create(amount=-10_500, from_at=now, to_at=now, label="missing_refund")
    owner = browser_of("admin", username="owner")
    owner.post(f"/balance/differences/{found.pk}/adjust/", {"reason": "it did not come"})
    return found


def test_a_late_refund_whose_adjustment_waits_leads_to_turning_that_down(admin):
    missing = missing_refund()
    late = upstream_tells(1_010_500)

    page = words(admin.get(f"/balance/differences/{late.pk}/"))

    assert "Late refund" in page
    assert "Turn that down, and both differences close by themselves" in page
    assert "Acknowledge Rp10.500" not in page
    assert "It has come meanwhile" in words(admin.get(f"/balance/differences/{missing.pk}/"))
    refused = admin.post(f"/balance/differences/{late.pk}/acknowledge/", {"note": "it came"}, follow=True)
    assert "has to be decided first" in words(refused)

    said = admin.post(f"/balance/adjustments/{Adjustment.objects.get().pk}/decline/", follow=True)

    assert "its refund has come, and both differences are closed" in words(said)
    assert not Difference.objects.open().exists()
    assert kinds() == ["opening"]


def test_a_late_refund_that_was_adjusted_for_is_acknowledged_as_the_opposite(admin):
    missing_refund()
    admin.post(f"/balance/adjustments/{Adjustment.objects.get().pk}/approve/")
    late = upstream_tells(1_010_500)

    assert "acknowledge it, and the opposite is posted" in words(admin.get("/balance/"))
    said = admin.post(f"/balance/differences/{late.pk}/acknowledge/", {"note": "it has come"}, follow=True)

    assert "Acknowledged by admin" in words(said)
    assert kinds() == ["opening", "adjustment", "adjustment"]
    assert services.books().balance == 1_000_000


def test_an_announcement_that_has_lapsed_says_so_and_can_be_withdrawn(admin):
    with time_machine.travel(timezone.now() - dt.timedelta(days=8)):
        admin.post("/balance/topups/", {"amount": "500.000", "note": "BCA"})
    expected = ExpectedTopUp.objects.get()
    admin = browser_of("admin", username="another")

    page = words(admin.get("/balance/"))

    assert "Lapsed" in page
    assert "It has not come within a week" in page
    admin.post(f"/balance/topups/{expected.pk}/cancel/")
    expected.refresh_from_db()
    assert expected.cancelled_by.username == "another"
    assert "None announced." in words(admin.get("/balance/"))


def test_an_order_of_unknown_outcome_is_named_with_why(auditor):
    now = timezone.now()
    named = [{"ref_id": "B-1", "why": "outcome_unknown"}]
    found = Difference.objects.create(
        amount=-10_000, from_at=now, to_at=now, label="unexplained_debit", candidates=named
    )

    page = words(auditor.get(f"/balance/differences/{found.pk}/"))

    assert "Orders that may be behind it:" in page
    assert "Its outcome is not known; the upstream may have charged it." in page
