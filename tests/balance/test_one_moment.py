"""What is read in several statements is of one moment, whatever another connection commits in between."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from django.db import InternalError, connections, transaction
from django.utils import timezone

from backoffice import health
from balance import presenting
from balance import services as balance
from balance.models import Alert, Books, Difference, Reading
from balance.presenting import Funds
from balance.services import ledger
from tests.balance.test_ledger import open_with

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def top_up_found(django_user_model: Any) -> Callable[[], None]:
    """Rp100.000 in the books, and Rp5.000.000 found beside them; returned is how somebody acknowledges it."""
    admin = django_user_model.objects.create_superuser("admin")
    open_with(100_000)
    time.sleep(0.01)
    now = timezone.now()
    Reading.objects.create(balance=5_100_000, source="balance", sent_at=now, received_at=now)
    balance.reconcile()
    found = Difference.objects.get()
    return lambda: balance.acknowledge_top_up(found, actor=admin)


def meanwhile(monkeypatch: Any, module: ModuleType, name: str, work: Callable[[], Any]) -> None:
    """Another connection does and commits `work` just before `module.name` is called for the first time."""
    real, left = getattr(module, name), [work]

    def in_thread(work: Callable[[], Any]) -> None:
        try:
            work()
        finally:
            connections.close_all()

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        if left:
            thread = threading.Thread(target=in_thread, args=[left.pop()])
            thread.start()
            thread.join(10)
        return real(*args, **kwargs)

    monkeypatch.setattr(module, name, wrapped)


def test_a_page_counts_a_top_up_once_that_is_acknowledged_while_it_is_read(top_up_found: Any, monkeypatch: Any):
    meanwhile(monkeypatch, presenting, "open_differences_total", top_up_found)

    funds = Funds.now()

    assert (funds.balance, funds.available) == (5_100_000, 5_100_000)
    assert Difference.objects.get().state == "acknowledged"


def test_a_top_up_acknowledged_while_alerts_are_evaluated_is_no_low_balance(
    settings: Any, top_up_found: Any, monkeypatch: Any
):
    settings.ALERT_LOW_BALANCE = 500_000
    for name in health.PROCESSES:
        health.note_life(name)
    meanwhile(monkeypatch, ledger, "open_differences_total", top_up_found)

    balance.evaluate_alerts()

    assert Difference.objects.get().state == "acknowledged"
    assert not Alert.objects.exists()


def test_a_moment_is_for_reading_only():
    with pytest.raises(InternalError, match="read-only"), balance.one_moment():
        Books.objects.create()

    with transaction.atomic(), balance.one_moment():
        Books.objects.create()
    assert Books.objects.exists()
