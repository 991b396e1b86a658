"""A shop at the sandbox over HTTP, and two people who decide."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import Upstream
from tests.reconciliation.helpers import reconcile


@pytest.fixture
def shop(upstream: Upstream, settings: Any) -> Upstream:
    """A shop whose books are opened and agree."""
    settings.UPSTREAM_CONNECT_TIMEOUT = settings.UPSTREAM_READ_TIMEOUT = 2.0
    assert reconcile().state == "balanced"
    return upstream


@pytest.fixture
def people(django_user_model: Any) -> tuple[Any, Any]:
    create = django_user_model.objects.create_user
    return create("first"), create("second")
