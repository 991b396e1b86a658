"""Products, by the words of the trade."""

from collections.abc import Iterator
from urllib.parse import urlencode

from django.urls import reverse

from catalogue.services import knows_words, read_products, search_products
from core.money import rupiah
from core.rights import Right
from find.kinds.asked import Asked
from find.kinds.kind import Result


def products(asked: Asked) -> Iterator[Result]:
    """The listed products in the text; none for a text that is or begins a number, names an order, or names days.

    Digits that may end a number find only products with exactly these digits.
    """
    if not asked.text or asked.number or asked.orders or asked.names_days or asked.text.startswith(("0", "+")):
        return
    is_far = not knows_words(asked.text)
    found = search_products(asked.text)
    if asked.may_be_end and (is_far or found.lacking):
        return
    sells = asked.person.has_perm(Right.BUY)
    for product in read_products(found.keys[: asked.most]):
        query = urlencode({"product": product.code} if sells else {"q": product.name})
        price = "" if product.type == "postpaid" else rupiah(product.sells_for)
        yield Result(
            url=f"{reverse('counter' if sells else 'catalogue')}?{query}",
            words=product.name,
            more=" · ".join(filter(None, [product.category.name, price])),
            icon="tag",
            is_far=is_far,
        )
