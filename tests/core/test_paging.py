"""Every list leads to its older entries and back, and keeps its filters."""

import datetime as dt
import html
import re

import pytest
from django.utils import timezone

from alerts.models import Alert, Severity
from callbacks.models import Callback
from purchases.states import Status
from reconciliation.models import ReconciliationRun
from testing.factories import make_check, make_order, make_product
from tests.reconciliation.helpers import make_difference

pytestmark = pytest.mark.django_db

MANY = 51


def ago(minutes):
    return timezone.now() - dt.timedelta(minutes=minutes)


def runs():
    ReconciliationRun.objects.bulk_create(
        ReconciliationRun(at=ago(n), trigger="beat", state="waiting") for n in range(MANY)
    )


def alerts():
    Alert.objects.bulk_create(
        Alert(kind="low_balance", severity=Severity.WARNING, opened_at=ago(n + 1), closed_at=ago(n))
        for n in range(MANY)
    )


def differences():
    for n in range(MANY):
        make_difference(1, from_at=ago(n + 1), to_at=ago(n), found_at=ago(n))


def receipts():
    Callback.objects.bulk_create(
        Callback(body=b"{}", headers={}, received_at=ago(n), content_hash=f"{n:064d}", is_signed=True)
        for n in range(MANY)
    )


def orders():
    product = make_product()
    for n in range(MANY):
        make_order(Status.PENDING, product=product, destination=f"08120000{n:04d}")


def checks():
    for n in range(MANY):
        make_check(destination=f"12340000{n:04d}")


@pytest.mark.parametrize(
    ("address", "fill"),
    [
        ("/balance/runs/?state=waiting", runs),
        ("/balance/alerts/", alerts),
        ("/balance/differences/", differences),
        ("/callbacks/?state=received", receipts),
        ("/orders/?status=pending", orders),
        ("/bills/?state=valid", checks),
    ],
)
def test_a_list_of_more_than_a_page_leads_to_the_rest_and_back(admin, address, fill):
    fill()

    first = admin.get(address)
    path, _question, filters = address.partition("?")
    older = re.search(r'href="([^"]*older=[^"]*)"', first.content.decode())
    second = admin.get(path + html.unescape(older.group(1)))
    newer = re.search(r'href="([^"]*newer=[^"]*)"', second.content.decode())

    assert (first.status_code, second.status_code) == (200, 200)
    assert filters in older.group(1)
    assert admin.get(path + html.unescape(newer.group(1))).status_code == 200
