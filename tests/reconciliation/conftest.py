"""A shop whose upstream is the sandbox over HTTP, and two people who decide."""

from typing import Any

import pytest

from testing.people import make_person
from tests.conftest import Upstream
from tests.reconciliation.helpers import reconcile


@pytest.fixture
def shop(upstream: Upstream, settings: Any) -> Upstream:
    """A shop whose books are opened and agree with the sandbox."""
    settings.UPSTREAM_CONNECT_TIMEOUT = settings.UPSTREAM_READ_TIMEOUT = 2.0
    assert reconcile().state == "balanced"
    return upstream


@pytest.fixture
def people(db: None) -> tuple[Any, Any]:
    return make_person("admin", username="first"), make_person("admin", username="second")
