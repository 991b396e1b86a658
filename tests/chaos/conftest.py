"""The fleet on a Redis of its own, which a test may empty, stop and start."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from launcher.embedded import Stores
from launcher.processes import ProcessGroup
from launcher.valkey import Valkey
from testing.fleet import Fleet
from tests.conftest import Upstream
from upstream.client import get_client


@pytest.fixture
def valkey(tmp_path: Path) -> Iterator[Valkey]:
    """A Valkey for this test alone."""
    group = ProcessGroup()
    stores = Stores(tmp_path, group, postgres=False)
    stores.start()
    assert stores.valkey is not None
    yield stores.valkey
    stores.stop()
    group.close()


@pytest.fixture
def fleet(upstream: Upstream, valkey: Valkey, settings: Any) -> Iterator[Fleet]:
    """Web, workers and beat, not started yet, against the sandbox; the rate windows last a second."""
    rates = dict.fromkeys(("UPSTREAM_ACCOUNT_RATE", "UPSTREAM_IP_RATE", "UPSTREAM_PRODUCTS_RATE"), "1000/second")
    fleet = Fleet("testing.quick_app", REDIS_URL=valkey.url(), **rates)
    settings.REDIS_URL = valkey.url()
    get_client().budget.declare_fresh()
    yield fleet
    fleet.kill_all()
