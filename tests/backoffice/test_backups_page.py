"""The page "Backups": after a restore a person opens the shop, once the provider was asked about what was open."""

import datetime as dt

import pytest
from django.urls import reverse
from django.utils import timezone

from gateway.models import UpstreamAccount
from gateway.services import hold_restored, upstream_account
from purchases.states import Status
from testing.factories import make_order
from testing.people import browser_of

pytestmark = pytest.mark.django_db


def test_the_shop_opens_once_every_open_order_was_asked_about():
    order = make_order(Status.UNKNOWN)
    hold_restored(to=timezone.now() - dt.timedelta(minutes=1))
    UpstreamAccount.objects.update(restored_at=timezone.now())  # not the beginning of the test's transaction
    browser = browser_of("administrator")
    page = browser.get(reverse("backups")).content.decode()
    assert order.ref_id in page
    assert 'id="waits-for"' in page

    browser.post(reverse("open_shop"))

    assert upstream_account().is_held


def test_without_a_restore_there_is_nothing_to_open():
    page = browser_of("administrator").get(reverse("backups")).content.decode()

    assert 'id="restored"' not in page
    assert not upstream_account().is_held
