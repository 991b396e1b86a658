"""How the commands print bill checks and which exit code tells their state."""

import json

from django.core.management.base import OutputWrapper

from backoffice.money import rupiah
from bills.errors import AlreadyPaid
from bills.models import BillCheck, State
from bills.presenting import ShownBill
from purchases.errors import OpenDuplicate
from purchases.management.printing import EXIT_FAILED, EXIT_NOT_FINAL, EXIT_SUCCESS
from purchases.order_life import Status


def check_exit_code(check: BillCheck) -> int:
    """0 payable or paid · 3 no answer yet, or its payment is not final yet · 1 refused or expired."""
    order = check.order
    if order is not None and not order.is_final:
        return EXIT_NOT_FINAL
    if check.state in {State.VALID, State.PAID}:
        return EXIT_SUCCESS
    return EXIT_NOT_FINAL if check.state == State.PENDING else EXIT_FAILED


def _other_payment(check: BillCheck) -> str:
    """The other check's payment that keeps this bill from being paid, in a sentence; "" when there is none."""
    other = ShownBill.of(check).other
    if other is None:
        return ""
    return str(AlreadyPaid(other) if other.status == Status.SUCCESS else OpenDuplicate(other))


def print_check(out: OutputWrapper, check: BillCheck, *, as_json: bool) -> None:
    """Write the check as one JSON object on one line, or as a few words for people."""
    why_not = _other_payment(check)
    if as_json:
        out.write(json.dumps(check.as_json() | ({"message": why_not} if why_not else {}), ensure_ascii=False))
        return
    total = "–" if check.total is None else rupiah(check.total)
    words = why_not or check.customer_name or check.message or check.error_code
    out.write(
        f"{check.ref_id}  {check.state.value}  {check.product_code}  {check.destination}  {total}  {words}".rstrip()
    )
