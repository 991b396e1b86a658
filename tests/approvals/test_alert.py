"""A request that waits for too long is an alert for people who see the queue."""

import datetime as dt

import pytest

from alerts.presenting import kinds_for
from catalogue.models import Product
from testing.factories import make_product
from testing.people import make_person
from tests.alerts.helpers import open_alerts
from tests.approvals.helpers import approve, approver, ask_discount, ask_order, cashier
from tests.ledger.helpers import open_books

pytestmark = pytest.mark.django_db(transaction=True)


def test_given_one_waits_too_long_then_it_is_one_alert(discount, time_machine, settings):
    settings.POLICIES = {"alert_low_balance": 0}
    open_books(5_000_000)
    sari = cashier()
    assert "approval_waiting" not in kinds_for(sari)
    assert "approval_waiting" in kinds_for(make_person("supervisor"))
    first = ask_discount(sari)
    ask_discount(sari, subject="B")
    assert ("approval_waiting", "") not in open_alerts()

    time_machine.move_to(first.asked_at + dt.timedelta(minutes=16))
    assert ("approval_waiting", "") in open_alerts()

    for approval in (first, type(first).objects.get(subject="B")):
        approve(approval, approver(f"budi-{approval.pk}"))
    assert ("approval_waiting", "") not in open_alerts()


def test_given_a_new_price_made_it_void_then_no_alert_asks_to_approve(time_machine, settings):
    settings.POLICIES = {"alert_low_balance": 0}
    open_books(5_000_000)
    product = make_product(price=12_000)
    asked = ask_order(product, cashier(own_approval_above=10_000))
    time_machine.move_to(asked.asked_at + dt.timedelta(minutes=16))
    assert ("approval_waiting", "") in open_alerts()

    Product.objects.filter(pk=product.pk).update(price=12_500)

    assert ("approval_waiting", "") not in open_alerts()
