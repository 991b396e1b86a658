"""The people around the statements of the bank."""

import pytest

from staff.models import User
from testing.people import make_person
from tests.bank.helpers import paid
from tests.drawers.helpers import begin
from tests.ledger.helpers import open_books


@pytest.fixture
def owner(db: None) -> User:
    """An owner with opened books."""
    open_books(5_000_000)
    return make_person("admin", username="owner")


@pytest.fixture
def seller(owner: User) -> User:
    """A cashier with an open shift."""
    cashier = make_person("cashier")
    begin(cashier)
    return cashier


@pytest.fixture
def sold(db: None) -> str:
    """The ref_id of a sale of a cashier by transfer, of Rp50.000."""
    open_books(5_000_000)
    seller = make_person("cashier")
    begin(seller)
    return paid(seller, 50_000, "transfer")
