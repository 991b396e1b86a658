"""The books: the only writer of entries, and the sums of the entries.

Lock order: an order's row, then the books.
"""

from ledger.services.closing import close_days, first_day, wrong_day
from ledger.services.posting import (
    Step,
    available,
    books,
    open_books,
    post,
    post_adjustment,
    post_top_up,
    set_found,
    settled_no,
)
from ledger.services.statements import (
    DayClosing,
    Days,
    balance_curve,
    low_below,
    read_days,
    spending_question,
    usual_spending_of,
    usual_spending_per_hour,
)
