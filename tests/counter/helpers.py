"""The counter in tests: the field's offers, the review, and how to send it."""

import html
import re
from typing import Any
from urllib.parse import urlencode

from catalogue.models import Product
from testing.factories import make_product
from tests.core.helpers import hidden

NUMBER = "081234567890"
AMOUNTS = (1_000, 5_000, 10_000, 15_000, 20_000, 25_000, 50_000, 75_000, 100_000, 1_000_000)
_HTMX = {"HX-Request": "true"}


def shelf_of_telkomsel() -> dict[int, Product]:
    """Telkomsel's credit by denomination: T10000 costs Rp10.250 and sells for Rp12.000."""
    return {
        amount: make_product(
            code=f"T{amount}",
            name=f"Telkomsel {amount:,}".replace(",", "."),
            price=amount + 250,
            selling_price=amount + 2_000,
        )
        for amount in AMOUNTS
    }


def offers(browser: Any, text: str) -> Any:
    """The field's offers for the typed text."""
    address = f"/counter/?{urlencode({'q': text})}"
    return browser.get(address, headers={**_HTMX, "HX-Target": "counter-work"})


def tiles(page: Any, *, picked: bool = False) -> list[str]:
    """The words of the tiles, or only of the picked tile."""
    tiles_of_page = re.findall(
        r'aria-selected="(true|false)".*?class="denom-label">(?:<svg.*?</svg> )?(.*?)<',
        page.content.decode(),
        re.DOTALL,
    )
    return [html.unescape(label) for state, label in tiles_of_page if not picked or state == "true"]


def review(browser: Any, text: str, **more: str) -> Any:
    """The review that Enter opens."""
    return browser.get(f"/counter/review/?{urlencode({'q': text, **more})}", headers=_HTMX)


def send(browser: Any, shown: Any, **more: str) -> Any:
    """Press the review's button."""
    fields = {name: value for name, value in hidden(shown).items() if name}
    return browser.post("/counter/send/", {**fields, "confirm": "1", **more}, headers=_HTMX)
