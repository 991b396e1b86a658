"""The numbers among the policies: their first values, and the bounds between which people may choose."""

from typing import NamedTuple


class Bounds(NamedTuple):
    """A policy's first value and bounds. `looser`: 1 if a higher value makes a check looser, -1 if a lower one does.

    `or_none`: the policy may have no value; then the records are kept permanently.
    """

    default: int
    least: int
    most: int
    looser: int = 0
    or_none: bool = False


_MOST_RUPIAH = 999_999_999_999

# By the name of the column. The name in capitals is the variable of the environment that overrides the page.
BOUNDS: dict[str, Bounds] = {
    "session_idle_minutes": Bounds(60, 5, 720),
    "pin_idle_minutes": Bounds(5, 1, 60),
    "pin_order_limit": Bounds(1_000_000, 0, _MOST_RUPIAH, looser=1),
    "seller_rise_limit": Bounds(0, 0, _MOST_RUPIAH, looser=1),
    "drawer_difference_limit": Bounds(20_000, 0, _MOST_RUPIAH, looser=1),
    "approval_valid_hours": Bounds(24, 1, 720),
    "approval_alert_minutes": Bounds(15, 1, 1440),
    "order_verdict_after_minutes": Bounds(60, 15, 10_080, looser=-1),
    "complaint_due_hours": Bounds(24, 1, 720),
    "alert_low_balance": Bounds(500_000, 0, _MOST_RUPIAH),
    "alert_low_balance_hours": Bounds(4, 0, 240),
    "exchanges_kept_days": Bounds(90, 90, 3650),
    "callbacks_kept_days": Bounds(90, 90, 3650, or_none=True),
    "batch_texts_kept_days": Bounds(730, 90, 3650, or_none=True),
}
# Policies that are on or off, and off at first; `looser` as in `Bounds`.
SWITCHES: dict[str, int] = {"blind_count": -1}
