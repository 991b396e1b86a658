"""An upstream that answers as a test says."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.upstream.scripted_upstream import ScriptedUpstream
from upstream.client import get_client


@pytest.fixture
def scripted(transactional_db: None, settings: Any) -> Iterator[ScriptedUpstream]:
    """An upstream for our settings that answers as the test says."""
    scripted = ScriptedUpstream()
    settings.UPSTREAM_BASE_URL = scripted.url
    settings.UPSTREAM_SECRET_ID, settings.UPSTREAM_SECRET_KEY = "our-secret-id", "our-very-secret-key"
    settings.UPSTREAM_CONNECT_TIMEOUT = settings.UPSTREAM_READ_TIMEOUT = 2.0
    get_client().budget.declare_fresh()
    yield scripted
    scripted.stop()
