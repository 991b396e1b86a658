"""The person who sells the tables of these tests."""

import pytest

from staff.models import User
from testing.people import Browser, make_person, signed_in


@pytest.fixture
def seller(db: None) -> User:
    return make_person("supervisor")


@pytest.fixture
def browser(seller: User) -> Browser:
    return signed_in(seller)
