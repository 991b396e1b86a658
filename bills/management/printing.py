"""Prints bill checks for the commands, and gives the exit code for their state."""

import json

from django.core.management.base import OutputWrapper

from bills.models import BillCheck
from bills.services import why_not_payable
from bills.states import BillState, Standing
from core.money import rupiah
from purchases.management.printing import EXIT_FAILED, EXIT_NOT_FINAL, EXIT_SUCCESS

# Something other than the biller's answer blocks the payment: the line names it.
_NAMED = {Standing.PAID_BEFORE, Standing.OPEN_ELSEWHERE, Standing.REPLACED}


def check_exit_code(check: BillCheck) -> int:
    """0 payable or paid · 3 no answer yet, or its payment is not final yet · 1 refused or expired."""
    if check.order is not None and not check.order.is_final:
        return EXIT_NOT_FINAL
    state = check.state
    if state in {BillState.VALID, BillState.PAID}:
        return EXIT_SUCCESS
    return EXIT_NOT_FINAL if state == BillState.PENDING else EXIT_FAILED


def print_check(out: OutputWrapper, check: BillCheck, *, as_json: bool) -> None:
    """Write the check as a JSON object on one line, or as a few words for people."""
    read = BillCheck.objects.with_standing().get(pk=check.pk)
    why_not = str(why_not_payable(read)) if read.now_standing in _NAMED else ""
    if as_json:
        out.write(json.dumps(check.as_json() | ({"message": why_not} if why_not else {})))
        return
    total = "–" if check.total is None else rupiah(check.total)
    words = why_not or check.customer_name or check.message or check.error_code
    out.write(
        f"{check.ref_id}  {check.state.value}  {check.product_code}  {check.destination}  {total}  {words}".rstrip()
    )
