"""An act of a room that does not exist, which registers itself as real acts do; and people."""

from typing import Any

import pytest

from approvals import acts
from approvals.acts import Act
from core.errors import Refused
from staff.models import User
from tests.approvals.helpers import approver, cashier


class Closed(Refused):
    """The act cannot be done any more."""


class Short(Refused):
    """The act cannot be done at the moment."""


class GiveDiscount(Act):
    """Sells something for less than it costs."""

    name, label = "discount", "A discount"
    may_ask, may_approve = "purchases.buy", "purchases.resolve_order"

    def __init__(self) -> None:
        self.content: dict[str, Any] = {"product": "TSEL10", "price": 9_000}
        self.refusal: Refused | None = None
        self.fails: Refused | None = None
        self.done: list[tuple[str, str]] = []
        self.ends: list[str] = []

    def content_now(self, approval):
        if self.refusal:
            raise self.refusal
        return self.content

    def execute(self, approval, *, approver):
        if self.fails:
            raise self.fails
        self.done.append((approval.subject, approver.username))
        return "D-1"

    def amount(self, content):
        return content["price"]

    def ended(self, approval):
        self.ends.append(approval.state)


@pytest.fixture
def discount(monkeypatch) -> GiveDiscount:
    """The act, registered for one test."""
    acts.all_acts()
    act = GiveDiscount()
    monkeypatch.setitem(acts._ACTS, act.name, act)
    return act


@pytest.fixture
def sari(db: None) -> User:
    """A cashier who needs an approval above Rp10.000."""
    return cashier(own_approval_above=10_000)


@pytest.fixture
def owners(db: None) -> tuple[User, User]:
    return approver("first"), approver("second")
