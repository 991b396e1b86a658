"""Books for the pages' tests, opened and moved as in the shop: by what the upstream tells."""

from django.db import transaction

from balance import services
from balance.models import Difference, Entry
from purchases.models import Order
from purchases.order_life import Status
from tests.factories import make_order
from tests.pages.conftest import read_balance


def open_books(balance: int = 1_000_000) -> None:
    """The upstream tells this balance (rupiah) for the first time, and the books are opened with it."""
    read_balance(balance)
    services.reconcile()


def upstream_tells(balance: int) -> Difference | None:
    """The upstream tells this balance and it is compared; the newest difference, if there is one."""
    read_balance(balance)
    services.reconcile()
    return Difference.objects.first()


def spend(amount: int, *, kind: str = "purchase", status: Status = Status.SUCCESS, refunded: bool = False) -> Order:
    """An order of ours in the books only: held, debited, perhaps refunded."""
    order = make_order(status, kind=kind)
    facts = {"ref_id": order.ref_id, "order_kind": kind}
    with transaction.atomic():
        services.hold(**facts, amount=amount)
        services.debit(**facts, amount=amount)
        if refunded:
            services.refund(**facts)
    return order


def kinds() -> list[str]:
    """The kinds of all entries, oldest first."""
    return list(Entry.objects.order_by("pk").values_list("kind", flat=True))
