"""Sealed shops: an xdist worker makes each shop once, and later puts it back."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from testing.database import copy_rows, put_back
from tests.audit.helpers import hired, seal_all, sold

Kept = dict[str, tuple[Any, str]]


@pytest.fixture(scope="session")
def kept_shops() -> Kept:
    """The rows and the file of checkpoints of each shop, by its name."""
    return {}


@pytest.fixture
def outside(settings: Any, tmp_path: Path) -> Path:
    settings.AUDIT_CHECKPOINT_FILE = str(tmp_path / "checkpoints")
    return tmp_path / "checkpoints"


@pytest.fixture
def sealed_once(transactional_db: None, kept_shops: Kept, outside: Path) -> Callable[[str, Callable[[], None]], None]:
    """Makes the shop of this name in an empty database, or puts it back with its file."""

    def make(name: str, do: Callable[[], None]) -> None:
        if name in kept_shops:
            rows, lines = kept_shops[name]
            put_back(rows)
            outside.write_text(lines)
        else:
            do()
            seal_all()
            kept_shops[name] = copy_rows(), outside.read_text()

    return make


@pytest.fixture
def shop(sealed_once: Any) -> None:
    """Two days of a shop, sealed and published one after the other."""

    def two_days() -> None:
        hired("cashier")
        sold(2)
        seal_all()
        sold(1)

    sealed_once("two days", two_days)


@pytest.fixture
def new_shop(sealed_once: Any) -> None:
    """A shop with a cashier, sealed, that has sold nothing."""
    sealed_once("new", lambda: hired("cashier"))
