from credit.models import Method
from drawers.models.shifts import (
    DENOMINATIONS,
    Drawer,
    DrawerDay,
    DrawerDayHistory,
    DrawerEntry,
    DrawerHistory,
    Shift,
    ShiftHistory,
)

from drawers.models.refunds import Refund, RefundHistory  # isort: skip - it names an entry
