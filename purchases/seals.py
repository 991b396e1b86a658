"""A seal of the cost that a page was made with: it comes back with the form and does not reveal the amount."""

from django.utils.crypto import constant_time_compare, salted_hmac

from catalogue.models import Product
from catalogue.rights import sees_cost
from purchases.models import Order
from staff.models import User


def seal_of(product: Product) -> str:
    """The seal of what the product costs now."""
    return salted_hmac("purchases.cost", f"{product.code} {product.price}", algorithm="sha256").hexdigest()


def seal_for(order: Order, person: User) -> str:
    """The seal with which this person confirms a risen cost of the order; "" if they confirm the amount itself."""
    return "" if order.follows_cost or sees_cost(person) else seal_of(order.product)


def cost_seen(product: Product, *, seal: str, selling_price: int) -> int:
    """The product's cost (rupiah), if the page with this seal and selling price showed that cost; 0 if not.

    A product at cost needs no seal: the person has seen the cost itself.
    """
    if product.selling_price is None:
        return selling_price
    return product.price if constant_time_compare(seal, seal_of(product)) else 0
