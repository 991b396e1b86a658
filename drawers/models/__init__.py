"""The tables of drawers, and of how orders are paid."""

from drawers.models.shifts import (
    DENOMINATIONS,
    SMALLEST_COIN,
    Drawer,
    DrawerDay,
    Shift,
    ShiftHistory,
)

from drawers.models.entries import DrawerEntry  # isort: skip - it names a shift
from drawers.models.payments import TO_GIVE_BACK, Outcome, Payment, PaymentHistory  # isort: skip - it names an entry
from drawers.models.usual import UsualDrawer  # isort: skip
