"""A brand that three categories list, and the form of its prices."""

from catalogue.models import Brand, Category, Product
from catalogue.services import in_several_categories
from catalogue.services.targets import Target
from testing.factories import make_product

URL = "/products/prices/rule/"


def products_of_a_brand() -> list[Product]:
    """A product of Telkomsel in each of three categories, and a product of XL."""
    for code, name in (("pulsa", "Pulsa"), ("data", "Data"), ("sms", "SMS")):
        Category.objects.create(code=code, name=name, type="prepaid")
    three = [
        make_product(category=category, price=price, code=category.upper())
        for category, price in (("pulsa", 10_000), ("data", 50_000), ("sms", 3_000))
    ]
    other = make_product(category="data", brand="xl", price=10_000, code="XL")
    Brand.objects.filter(code="xl").update(name="XL")
    return [*three, other]


def everywhere() -> Target:
    """The brand in all its categories."""
    (target,) = in_several_categories()
    return target


def filled_in(**terms: str) -> dict[str, str]:
    """The form of the brand's prices: cost + 3%, unless `terms` say otherwise."""
    return {"target": everywhere().key, "kind": "percent", "value": "3", "round_to": "1", **terms}
