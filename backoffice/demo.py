"""The beginning of a new demo, so that it can be tried at once: a drawer, and prices that earn something."""

from __future__ import annotations

from catalogue.models import Category, PriceRule, ProductType
from catalogue.services import Target, Terms, change_rule
from drawers.models import Drawer
from drawers.services import add_drawer
from staff.models import User

# By a category's code: hundredths of a percent where the cost is far from the same, else rupiah, on top of the cost.
_PERCENT = {"paket-data": 500, "voucher-game": 500, "streaming": 500}
_PLUS = {"pulsa": 1_500, "sms-telepon": 1_500, "e-money": 1_500}
_USUAL, _FEE = 2_500, 2_500
_ROUND_TO = 500


def furnish_demo() -> None:
    """Add a drawer and a price rule for each category, where there has never been one, as the demo's owner.

    Nothing without that person: with a real upstream nobody of the demo may be made.
    """
    owner = User.objects.filter(username="owner", is_demo=True, is_active=True).first()
    if owner is None:
        return
    if not Drawer.objects.exists():
        add_drawer("Laci 1", actor=owner)
    if not PriceRule.objects.exists():
        for category in Category.objects.order_by("pk"):
            change_rule(Target(type=category.type, category=category), _terms_of(category), actor=owner)


def _terms_of(category: Category) -> Terms:
    if category.type == ProductType.POSTPAID:
        return Terms("plus", _FEE)
    if percent := _PERCENT.get(category.code):
        return Terms("percent", percent, _ROUND_TO)
    return Terms("plus", _PLUS.get(category.code, _USUAL), _ROUND_TO)
