"""Reads the pages of orders in tests."""

import re
from typing import Any

from django.test import Client

from purchases.models import Incident, Order, Verdict
from purchases.services import propose_verdict
from staff.models import User


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


def propose(order: Order, outcome: str, actor: User, sn: str = "") -> Verdict:
    """The actor's proposal of this end of the order, which another person approves."""
    facts = {"evidence": "their dashboard, row 7", "reason": "asked twice", "sn": sn}
    return propose_verdict(order, outcome=outcome, actor=actor, **facts)
