"""Sales whose money reaches the bank."""

from staff.models import User
from testing.database import past_triggers
from tests.drawers.helpers import end, sell


def paid(seller: User, amount: int, method: str, *, days_ago: int = 0, reference: str = "") -> str:
    """The ref_id of a sale that was paid in this way."""
    order = end(sell(seller, amount), "success")
    with past_triggers() as cursor:
        cursor.execute(
            "UPDATE drawers_payment SET method = %s, is_cash = false, cash_given = NULL, reference = %s,"
            " at = at - make_interval(days => %s) WHERE id = %s",
            [method, reference, days_ago, order.payment_id],
        )
    return str(order.ref_id)
