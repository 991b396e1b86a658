"""Check bills and pay them.

Lock order: the check's row, then its order's row, then what hangs on that.
"""

from bills.services.checking import ask, ask_again, start_check, start_checks, sweep_checks
from bills.services.following import follow_check
from bills.services.paying import pay_again, pay_bill, place_payment

__all__ = [
    "ask",
    "ask_again",
    "follow_check",
    "pay_again",
    "pay_bill",
    "place_payment",
    "start_check",
    "start_checks",
    "sweep_checks",
]
