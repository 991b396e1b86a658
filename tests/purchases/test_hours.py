"""Outside of opening hours a cashier cannot sell alone; running orders and approved ones go on."""

import datetime as dt

import pytest
from django.utils import timezone

from ledger.models import Entry
from policies.services import change_policies, is_between
from purchases.errors import OutsideHours
from purchases.models import Order
from purchases.services import place_order
from testing.factories import make_product
from testing.orders import NUMBER, place, review
from testing.people import make_person, signed_in
from tests.approvals.helpers import approve, approver, ask_order, cashier
from tests.core.helpers import has_id
from tests.gateway.helpers import read_balance

pytestmark = pytest.mark.django_db(transaction=True)


def close() -> None:
    """The shop opens in an hour, for an hour."""
    now = timezone.localtime()
    hours = {"opens_at": now + dt.timedelta(hours=1), "closes_at": now + dt.timedelta(hours=2)}
    values = {name: f"{at:%H:%M}" for name, at in hours.items()}
    change_policies(values, actor=make_person("admin", username="boss"))


def test_hours_may_pass_midnight():
    for begin, end, at, is_in in (
        ("08:00", "21:00", "07:59", False),
        ("08:00", "21:00", "08:00", True),
        ("08:00", "21:00", "20:59", True),
        ("08:00", "21:00", "21:00", False),
        ("08:00", "00:00", "23:59", True),
        ("08:00", "00:00", "00:00", False),
        ("18:00", "02:00", "23:59", True),
        ("18:00", "02:00", "00:00", True),
        ("18:00", "02:00", "01:59", True),
        ("18:00", "02:00", "02:00", False),
        ("18:00", "02:00", "17:59", False),
    ):
        assert is_between(*map(dt.time.fromisoformat, (begin, end, at))) is is_in, (begin, end, at)


def test_a_cashier_is_refused_outside_the_hours_and_nothing_is_stored():
    close()
    read_balance(1_000_000)
    entries = Entry.objects.count()
    person, product = make_person("cashier"), make_product()

    page = review(signed_in(person), product, NUMBER)
    with pytest.raises(OutsideHours):
        place(product, placed_by=person)

    assert has_id(page, "outside-hours")
    assert "disabled" in page.content.decode().split('name="confirm"')[1].split(">")[0]
    assert (Order.objects.count(), Entry.objects.count()) == (0, entries)


def test_who_may_approve_orders_and_a_command_sell_at_any_hour_and_what_is_approved_is_sold():
    close()
    read_balance(1_000_000)
    for person in (make_person("supervisor"), make_person("administrator"), None):
        assert place(make_product(), placed_by=person).pk

    approval = ask_order(make_product(price=60_000), cashier(own_approval_above=50_000))

    assert approve(approval, approver()).state == "approved"
    assert Order.objects.latest("pk").placed_by == approval.asked_by


def test_the_same_form_again_after_closing_gives_the_same_order():
    seller, product = make_person("cashier"), make_product()
    facts = {"product": product, "destination": NUMBER, "max_price": product.price, "idempotency_key": "once"}
    order = place_order(**facts, placed_by=seller)
    close()

    assert place_order(**facts, placed_by=seller) == order
    assert Order.objects.count() == 1
