"""Figures of any period, the sums of days that are over, and their proof."""

from earnings.services.figures import (
    Figures,
    Most,
    Others,
    Period,
    by_customer,
    figures_by,
    figures_drawn,
    kept_days,
    sales_by_hour,
    totals_of,
)
from earnings.services.keeping import may_change, sum_day, sum_days
from earnings.services.proving import prove_days
