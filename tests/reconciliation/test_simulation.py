"""The simulation of the method, but through the real services on PostgreSQL: reservations, entries, runs.

Half an hour of business. RECONCILIATION_SEED=n runs another half-hour.
"""

import os

import pytest

from ledger import services as ledger
from ledger.models import Entry
from purchases.models import Incident
from reconciliation import services as reconciliation
from reconciliation.models import Difference
from testing.service_shop import ServiceShop
from testing.world import World, grade

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("hidden", [False, True])
def test_business_through_services_is_explained_to_the_rupiah(hidden):
    seed = int(os.environ.get("RECONCILIATION_SEED", "9"))
    print(f"RECONCILIATION_SEED={seed}")  # pytest shows it with a failure
    world = World(seed, hours=0.5, rate=0.35, outage=True, hidden=hidden, outside_every=75)
    shop = ServiceShop(world)

    shop.live()

    verdict = grade(world.outside, shop.differences())
    assert verdict.single >= 4
    assert len(shop.orders) > 200
    assert not Incident.objects.exists()
    assert Difference.objects.filter(explained_by__isnull=False).exists() == hidden

    shop.acknowledge_everything()

    run = reconciliation.reconcile("person")
    books = ledger.books()
    assert (run.state, run.difference, run.reported) == ("balanced", 0, world.closing)
    assert (books.balance, books.reserved) == (world.closing, 0)
    adjusted = Difference.objects.filter(amount__lt=0, explained_by=None)
    assert Entry.objects.filter(kind="adjustment").count() == adjusted.count()
