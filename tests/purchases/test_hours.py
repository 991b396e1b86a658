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


@pytest.fixture
def closed() -> None:
    close()


def close() -> None:
    """Close the shop: it opens in an hour, for an hour."""
    now = timezone.localtime()
    hours = {"opens_at": now + dt.timedelta(hours=1), "closes_at": now + dt.timedelta(hours=2)}
    values = {name: f"{at:%H:%M}" for name, at in hours.items()}
    change_policies(values, actor=make_person("admin", username="boss"))


@pytest.mark.parametrize(
    ("begin", "end", "at", "is_in"),
    [
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
    ],
)
def test_hours_may_pass_midnight(begin, end, at, is_in):
    assert is_between(*map(dt.time.fromisoformat, (begin, end, at))) is is_in


@pytest.mark.usefixtures("closed")
def test_a_cashier_is_refused_outside_the_hours_and_nothing_is_stored():
    read_balance(1_000_000)
    entries = Entry.objects.count()

    with pytest.raises(OutsideHours):
        place(make_product(), placed_by=make_person("cashier"))

    assert (Order.objects.count(), Entry.objects.count()) == (0, entries)


@pytest.mark.usefixtures("closed")
def test_the_review_says_it_and_sends_nothing():
    browser, product = signed_in(make_person("cashier")), make_product()

    page = review(browser, product, NUMBER)

    assert has_id(page, "outside-hours")
    assert "disabled" in page.content.decode().split('name="confirm"')[1].split(">")[0]


@pytest.mark.parametrize("role", ["supervisor", "administrator"])
@pytest.mark.usefixtures("closed")
def test_people_who_may_approve_orders_sell_at_any_hour(role):
    assert place(make_product(), placed_by=make_person(role)).pk


@pytest.mark.usefixtures("closed")
def test_a_command_sells_at_any_hour():
    assert place(make_product(), placed_by=None).pk


@pytest.mark.usefixtures("closed")
def test_what_a_second_person_approves_is_sold():
    read_balance(1_000_000)
    approval = ask_order(make_product(price=60_000), cashier(own_approval_above=50_000))

    assert approve(approval, approver()).state == "approved"
    assert Order.objects.get().placed_by == approval.asked_by


def test_the_same_form_again_after_closing_gives_the_same_order():
    seller, product = make_person("cashier"), make_product()
    facts = {"product": product, "destination": NUMBER, "max_price": product.price, "idempotency_key": "once"}
    order = place_order(**facts, placed_by=seller)
    close()

    assert place_order(**facts, placed_by=seller) == order
    assert Order.objects.count() == 1
