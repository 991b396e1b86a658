"""A person's page shows the same figures for everybody, so that it is seen who stands out."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.utils import timezone

from audit.services import record
from earnings.services import sum_days
from earnings.services.people import people_beside
from purchases.events import FULL_NUMBER_SEEN
from purchases.models import ReceiptPrint
from purchases.states import Status
from testing.people import browser_of, make_person
from tests.earnings.helpers import ago, sold

pytestmark = pytest.mark.django_db(transaction=True)


def test_each_persons_work_is_counted_and_beside_the_others():
    sari, budi = make_person("cashier", username="sari"), make_person("cashier", username="budi")
    order = sold(ago(2), placed_by=sari)
    sold(ago(2), placed_by=budi, selling_price=50_000)
    sold(ago(2), Status.CANCELLED, placed_by=sari)
    for _ in range(2):
        sold(ago(1), Status.PENDING, placed_by=sari)
    sold(ago(40), placed_by=sari)
    for number in (1, 2, 3):
        ReceiptPrint.objects.create(order=order, number=number, paper="58", printed_by=sari)
    record(FULL_NUMBER_SEEN, actor=budi, subject=order.ref_id)
    sum_days()

    rows = {
        row.person.username: (row.figures.sales, row.figures.cancelled, row.reprints, row.numbers_seen)
        for row in people_beside(timezone.now())
    }

    assert rows == {"budi": (50_000, 0, 0, 1), "sari": (12_000, 1, 2, 0)}
    owner: Any = browser_of("admin")
    assert f'hx-get="/earnings/beside/{sari.pk}/"' in owner.get(f"/staff/{sari.pk}/").content.decode()
    page = owner.get(f"/earnings/beside/{sari.pk}/").content.decode()
    assert re.findall(r'data-person="(\w+)"( class="is-own")?', page) == [("budi", ""), ("sari", ' class="is-own"')]
    assert re.findall(r"data-(cancelled|open)>(\d+)<", page.split('data-person="sari"')[1]) == [
        ("cancelled", "1"),
        ("open", "2"),
    ]


def test_a_persons_page_leads_to_the_sales_and_says_when_there_are_none():
    sari, owner = make_person("cashier", username="sari"), browser_of("admin")

    person = owner.get(f"/staff/{sari.pk}/").content.decode()
    page = owner.get(f"/earnings/beside/{sari.pk}/").content.decode()

    assert 'href="/orders/?cashier=sari"' in person
    assert 'id="sold-nothing"' in page
