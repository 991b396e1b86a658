"""Check bills and pay them.

Lock order: the check's row (`lock_check_for_payment`), then its order's row, then the rows that depend on the order.
"""

from bills.services.inquiring import DUE_CHECKS, follow_check, inquire, inquire_again, start_check, start_checks
from bills.services.paying import (
    EXPIRED_PAYMENTS,
    key_of,
    pay_again,
    pay_bill,
    place_payment,
    refuse_colleagues,
    why_not_payable,
)
from bills.services.taking_in import take_in_lost
from bills.services.together import SeenBill, pay_together
