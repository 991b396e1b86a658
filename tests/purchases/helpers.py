"""Reads the pages of orders in tests."""

import re
from typing import Any

from django.test import Client

from purchases.models import Incident, Order


def listed(answer: Any) -> list[str]:
    """The ref_ids of the rows, in order."""
    return re.findall(r'class="row-link" href="/orders/([^/]+)/"', answer.content.decode())


def detail(client: Client, order: Order, **query: str) -> Any:
    """The page of this order."""
    return client.get(f"/orders/{order.ref_id}/", query)


def offered(answer: Any) -> set[str]:
    """The actions that the page offers, as `purchases.services.Action` names them."""
    return set(re.findall(r'id="act-([a-z_]+)"', answer.content.decode()))


def incidents() -> list[tuple[str, str]]:
    """All incidents, oldest first: the order's ref_id, and the kind."""
    return list(Incident.objects.order_by("pk").values_list("order__ref_id", "kind"))
