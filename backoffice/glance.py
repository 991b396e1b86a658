"""Whether the overview has changed, by one statement: its page polls that every few seconds."""

from dataclasses import dataclass

from django.db import connection
from django.utils import timezone

from catalogue.models import CatalogueSync
from purchases.states import OPEN

# Each part is answered by the end of an index. Every move of an order leaves an event.
_GLANCE = """
    SELECT
        (SELECT ARRAY[balance, reserved, found] FROM ledger_books),
        (SELECT max(id) FROM purchases_orderevent),
        (SELECT max(pgh_id) FROM drawers_paymenthistory),
        (SELECT max(id) FROM gateway_exchange WHERE balance IS NOT NULL),
        (SELECT id || state FROM reconciliation_reconciliationrun ORDER BY id DESC LIMIT 1),
        (SELECT id || result FROM catalogue_cataloguesync ORDER BY started_at DESC LIMIT 1),
        (SELECT result FROM catalogue_cataloguesync ORDER BY started_at DESC LIMIT 1),
        EXISTS (SELECT 1 FROM purchases_order WHERE status IN %(open)s)
"""


@dataclass(frozen=True)
class Glance:
    """The values that decide the overview (`facts`), and whether anything is under way."""

    facts: list[object]
    is_busy: bool


def glance(*, with_books: bool) -> Glance:
    """Read the values now. They change each minute, because the clock also decides what waits for a person.

    `with_books`: include the balance and the reserved amount, for people who may see them.
    """
    open_ones = ", ".join(f"'{status.value}'" for status in sorted(OPEN))
    with connection.cursor() as cursor:
        cursor.execute(_GLANCE.replace("%(open)s", f"({open_ones})"))
        books, *facts, last_sync, has_open = cursor.fetchone()
    is_busy = has_open or last_sync == CatalogueSync.Result.RUNNING
    return Glance(
        [books if with_books else None, *facts, timezone.now().replace(second=0, microsecond=0).isoformat()], is_busy
    )
