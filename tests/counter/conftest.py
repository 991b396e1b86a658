"""The products that several tests of the counter sell."""

import pytest

from tests.counter.helpers import shelf_of_telkomsel


@pytest.fixture
def telkomsel():
    return shelf_of_telkomsel()
