"""Deletes old exchanges that nothing open needs."""

import datetime as dt

import structlog
from django.db.models import Exists, OuterRef, Q

from bills.models import BillCheck
from bills.states import AnswerKind
from core import clock
from gateway.services import forget_exchanges, next_number
from policies.services import policies
from purchases.models import Order
from reconciliation.models import Reconciliation

log = structlog.get_logger()


def forget_old_exchanges() -> int:
    """Delete exchanges that are older than the policy `exchanges_kept_days`; returns how many.

    Exchanges of an order stay for as many days after its end, and those of a check while it waits for its answer. All
    exchanges that reconciliation has not compared yet stay, too.
    """
    # The database refuses to delete too early by its own clock.
    before = clock.now() - dt.timedelta(days=policies().exchanges_kept_days)
    orders = Order.objects.filter(Q(final_at=None) | Q(final_at__gte=before), ref_id=OuterRef("ref_id"))
    checks = BillCheck.objects.filter(answer=AnswerKind.NONE, ref_id=OuterRef("ref_id"))
    compared = Reconciliation.objects.filter(quiet__isnull=False).values_list("quiet", flat=True).first()
    forgotten = forget_exchanges(
        before=before,
        # Before the opening of the books, nothing has to be compared.
        from_no=compared or next_number(),
        needed=Q(Exists(orders)) | Q(Exists(checks)),
    )
    log.info("exchanges_forgotten", count=forgotten, before=before.isoformat())
    return forgotten
