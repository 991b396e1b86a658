"""A cashier who confirms purchases over HTTP, on one connection."""

from __future__ import annotations

import http.client
import re
import uuid
from typing import TYPE_CHECKING
from urllib.parse import urlencode

if TYPE_CHECKING:
    from benchmarks.shop import Shop
    from catalogue.models import Product


class Buyer:
    """A cashier who has opened the review of a product."""

    def __init__(self, shop: Shop, product: Product, *, username: str) -> None:
        from testing.people import browser_of

        self._product = product
        self._connection = http.client.HTTPConnection("127.0.0.1", shop.fleet.port, timeout=60)
        session = f"sessionid={browser_of('cashier', username=username).cookies['sessionid'].value}"
        review = f"/counter/review/?product={product.code}&q=081200000099"
        self._connection.request("GET", review, headers={"Cookie": session})
        answer = self._connection.getresponse()
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', answer.read().decode())
        cookie = re.search(r"csrftoken=(\w+)", answer.headers.get("Set-Cookie", ""))
        assert token
        assert cookie
        self._form_token = token[1]
        self._headers = {
            "Cookie": f"{session}; csrftoken={cookie[1]}",
            "Content-Type": "application/x-www-form-urlencoded",
        }

    def buy(self) -> str:
        """Press the button once; returns the new order's destination."""
        destination = new_destination()
        form = {
            "product": self._product.code,
            "destination": destination,
            "token": str(uuid.uuid4()),
            "price": self._product.price,
        }
        body = urlencode({**form, "csrfmiddlewaretoken": self._form_token})
        self._connection.request("POST", "/counter/send/", body, self._headers)
        answer = self._connection.getresponse()
        answer.read()
        assert answer.status == 302, answer.status
        return destination


def new_destination() -> str:
    """A number that no order has yet."""
    return f"0813{uuid.uuid4().int % 10**8:08d}"
