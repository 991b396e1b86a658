"""The sandbox's control API, as far as a demo needs it (docs/sandbox.md)."""

import datetime as dt
from urllib.parse import parse_qs, urlsplit

import requests
from django.conf import settings


class Sandbox:
    """The sandbox that this shop has as its upstream."""

    def __init__(self) -> None:
        self._session = requests.Session()
        token = parse_qs(urlsplit(settings.SANDBOX_DASHBOARD_URL).query).get("token", [""])[0]
        if token:
            self._session.headers["Authorization"] = f"Bearer {token}"

    def live_in(self, moment: dt.datetime | None) -> None:
        """Set its clock to this moment and let it do what is due by then; None: the real time."""
        self._post("time", now=moment.isoformat() if moment else None)

    def top_up(self, amount: int) -> None:
        """Top up the balance by this amount (rupiah)."""
        self._post("topup", amount=amount)

    def set_price(self, product_code: str, price: int) -> None:
        """Set the cost of a product (rupiah)."""
        self._post("product", product_code=product_code, price=price)

    def _post(self, name: str, **facts: str | int | None) -> None:
        answer = self._session.post(f"{settings.UPSTREAM_BASE_URL}/control/{name}", json=facts, timeout=10)
        answer.raise_for_status()
