"""The person who manages the others."""

import pytest
from django.test import Client

from tests.staff.helpers import administrator, signed_in


@pytest.fixture
def boss(db: None) -> Client:
    return signed_in(administrator())
