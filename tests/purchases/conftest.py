"""The people who decide about an order."""

import pytest

from staff.models import User


@pytest.fixture
def two(db: None) -> tuple[User, User]:
    """The proposer, and the approver."""
    return User.objects.create_superuser("first"), User.objects.create_superuser("second")
