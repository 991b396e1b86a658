"""The world with which several files of this room begin."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from staff.models import User
from testing.people import browser_of
from tests.drawers.helpers import begin

if TYPE_CHECKING:
    from drawers.models import Shift
    from testing.people import Browser


@pytest.fixture
def counter(transactional_db: None) -> tuple[Browser, Shift]:
    """A cashier's browser and open shift with Rp100.000."""
    browser = browser_of("cashier")
    return browser, begin(User.objects.get(username="cashier"), cash=100_000)
