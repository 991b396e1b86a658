"""How a customer pays is of no concern to an order. A room above says so, as part of placing it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from django.conf import settings
from django.utils.module_loading import import_string

if TYPE_CHECKING:
    from core.access import StaffRequest
    from purchases.models import Order


def place_as_paid(
    request: StaffRequest,
    place: Callable[[], Order],
    *,
    amount: int,
    key: str,
    lock: Callable[[], object] | None = None,
) -> Order:
    """Place an order by `place`, and note how the customer pays, as the posted review says; return the order.

    In cash, as nearly always, nothing is asked or noted. `amount`: rupiah that the customer confirmed. `key`: the
    order's idempotency key. `lock`: takes what is locked before anything else, for who needs a transaction around it.
    Raises what `place` raises, and an `OrderRefused` of the room that `settings.PLACED_AS_PAID_BY` names.
    """
    if request.POST.get("paid_by", "cash") == "cash" and not request.POST.get("cash_given"):
        return place()
    noting: Callable[..., Order] = import_string(settings.PLACED_AS_PAID_BY)
    return noting(request, place, amount=amount, key=key, lock=lock)
