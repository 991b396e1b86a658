"""Several statements read one moment, also if another connection commits in between."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from django.db import InternalError, transaction

from alerts import services as alerts
from alerts.kinds import low_balance
from alerts.models import Alert
from backoffice import dashboard
from core.snapshot import snapshot
from ledger import presenting
from ledger.models import Books
from ledger.presenting import Funds
from purchases.models import Order
from purchases.states import Status
from reconciliation import services as reconciliation
from reconciliation.models import Difference
from testing.factories import make_order
from testing.orders import at_once
from testing.people import browser_of
from tests.alerts.helpers import give_heartbeats
from tests.core.helpers import counts_at
from tests.gateway.helpers import read_balance
from tests.ledger.helpers import open_books

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def top_up_found(django_user_model: Any) -> Callable[[], None]:
    """Rp100.000 in the books, and Rp5.000.000 found outside them; returns a function that acknowledges these."""
    admin = django_user_model.objects.create_superuser("admin")
    open_books(100_000)
    read_balance(5_100_000)
    reconciliation.reconcile()
    difference = Difference.objects.get()
    return lambda: reconciliation.acknowledge_top_up(difference, actor=admin)


def meanwhile(monkeypatch: Any, module: ModuleType, name: str, work: Callable[[], Any]) -> None:
    """Have another connection do and commit `work` just before the first call of `module.name`."""
    real, left = getattr(module, name), [work]

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        if left:
            at_once(left.pop())
        return real(*args, **kwargs)

    monkeypatch.setattr(module, name, wrapped)


def test_a_top_up_acknowledged_during_a_page_is_counted_once(top_up_found: Any, monkeypatch: Any):
    meanwhile(monkeypatch, presenting, "read_together", top_up_found)

    funds = Funds.now()

    assert (funds.balance, funds.available) == (5_100_000, 5_100_000)
    assert Difference.objects.get().state == "acknowledged"


def test_a_top_up_acknowledged_during_alerts_is_no_low_balance(settings: Any, top_up_found: Any, monkeypatch: Any):
    settings.POLICIES = {"alert_low_balance": 500_000}
    give_heartbeats()
    meanwhile(monkeypatch, low_balance, "usual_spending_per_hour", top_up_found)

    alerts.evaluate_alerts()

    assert Difference.objects.get().state == "acknowledged"
    assert not Alert.objects.exists()


def test_an_order_placed_during_the_overview_is_in_no_part_of_it(monkeypatch: Any):
    meanwhile(monkeypatch, dashboard, "narrowed", lambda: make_order(Status.SUCCESS))

    page = browser_of("admin").get("/")

    assert counts_at(page, 'id="orders-today"') == [0]
    assert Order.objects.get().ref_id not in page.content.decode()


def test_a_moment_is_for_reading_only():
    with pytest.raises(InternalError, match="read-only"), snapshot():
        Books.objects.create()

    with transaction.atomic(), snapshot():
        Books.objects.create()
    assert Books.objects.exists()
