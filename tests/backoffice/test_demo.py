"""A new demo has a drawer to open and prices that earn something; a real shop gets nothing of it."""

import pytest
from django.core.management import CommandError, call_command

from backoffice.demo import furnish_demo
from catalogue.models import Category, PriceRule, Product
from catalogue.services import Target, change_rule
from drawers.models import Drawer
from drawers.services import change_drawer
from staff.models import User
from staff.roles import create_demo_staff
from testing.people import make_person

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def demo(upstream, settings):
    """The sandbox's catalogue, and the demo's people."""
    settings.SANDBOX = True
    create_demo_staff()


def test_a_new_demo_has_a_drawer_and_a_margin_in_each_category(demo):
    call_command("open_demo")

    assert Drawer.objects.filter(is_active=True).count() == 1
    for category in Category.objects.all():
        products = Product.objects.listed().filter(category=category)
        assert products
        if category.type == "postpaid":
            assert all(product.fee for product in products)
        else:
            assert all(product.sells_for > product.price and not product.sells_for % 500 for product in products)


def test_what_people_changed_in_a_demo_stays(demo):
    furnish_demo()
    owner = User.objects.get(username="owner")
    change_drawer(Drawer.objects.get(), name="Mine", is_active=False, actor=owner)
    for rule in PriceRule.objects.filter(ended_at=None):
        change_rule(Target.of(rule), None, actor=owner)

    call_command("open_demo")

    assert list(Drawer.objects.values_list("name", "is_active")) == [("Mine", False)]
    assert not PriceRule.objects.filter(ended_at=None).exists()


def test_with_a_real_account_nothing_is_made(upstream, settings):
    settings.SANDBOX = False
    make_person("admin", username="owner")

    with pytest.raises(CommandError):
        call_command("open_demo")
    furnish_demo()

    assert not Drawer.objects.exists()
    assert not PriceRule.objects.exists()
