"""Guards every address that names a row: a row of another branch answers as if it did not exist.

Lists, files and figures narrow themselves (`branches.seeing`). This module checks each address that a person who is
bound to a branch opens, before its view reads or does anything. `tests/branches/test_bound.py` checks that each address
that names a row is in these tables.
"""

from dataclasses import dataclass
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse

from approvals.models import Approval
from batches.models import Batch
from bills.models import BillCheck
from branches.seeing import own_branch, within
from complaints.models import Complaint
from core.middleware import Middleware
from drawers.models import Drawer, Payment, Shift
from purchases.models import ReceiptPrint
from staff.models import User
from tills.models import Till


@dataclass(frozen=True)
class Door:
    """The rows that an address names: their model, its column for the value, and the way to their branch.

    `with_shop`: rows of no branch are everybody's.
    """

    model: type[Model]
    path: str = "branch"
    key: str = "pk"
    with_shop: bool = False

    def is_open(self, value: Any, branch: int) -> bool:
        """Whether no row belongs to another branch. It is open, too, if no row exists: then the view answers."""
        rows = self.model._default_manager.filter(**{self.key: value})
        return not rows.exclude(within(branch, self.path, with_shop=self.with_shop)).exists()


_SHIFT = Door(Shift, "drawer__branch")
# The views open those of the whole shop only to people whom they concern (`approvals.services.may_see`).
_APPROVAL = Door(Approval, with_shop=True)
# A payment has the ref_id of its order, and a paid bill that of its order. An unpaid bill belongs to no branch.
_BATCH = Door(BillCheck, "order__payment__branch", key="batch", with_shop=True)
#: By the name of the value in the address, on every page.
OF_VALUES = {
    "ref_id": Door(Payment, key="ref_id"),
    "batch": _BATCH,
    "sheet": Door(ReceiptPrint, "order__payment__branch", key="sheet"),
}
#: By the name of the address, where the value is a key (`pk`).
OF_KEYS = {
    **dict.fromkeys(["shift_detail", "shift_close", "shift_correct", "shift_explain", "shift_csv"], _SHIFT),
    "drawer_change": Door(Drawer),
    **dict.fromkeys(["till_detail", "till_switch_off", "till_unlock", "till_tiles", "till_printer_set"], Door(Till)),
    **dict.fromkeys(
        ["approval_detail", "approval_live", "approval_approve", "approval_refuse", "approval_withdraw"], _APPROVAL
    ),
    "counter_approve": _APPROVAL,
    **dict.fromkeys(
        [
            *("staff_detail", "staff_move", "staff_bind", "staff_role", "staff_limits", "staff_link", "staff_withdraw"),
            *("staff_deactivate", "staff_reactivate", "staff_reset_factors", "staff_sign_out", "earnings_beside"),
            "staff_drawer",
        ],
        Door(User),
    ),
    **dict.fromkeys(
        [
            "batch_detail",
            "batch_live",
            "batch_release",
            "batch_step",
            "batch_again",
            "batch_mend",
            "batch_row",
            "batch_ask",
        ],
        Door(Batch),
    ),
    "complaint_step": Door(Complaint, "order__payment__branch"),
}
#: These pages are about the whole shop, and their rights alone would let people bound to a branch in.
CLOSED = {"journal", "journal_csv", "journal_beancount", "journal_accounts", "results_choose", "results_test"}


class BranchDoorMiddleware(Middleware):
    """Lets a person who is bound to a branch open only what belongs to it."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, _view: object, _args: object, values: dict[str, Any]) -> None:
        """Raise `Http404` for a row of another branch, and `PermissionDenied` for a page about the whole shop."""
        name = request.resolver_match.url_name if request.resolver_match else None
        if name not in CLOSED and not values:
            return
        branch = own_branch()
        if branch is None:
            return
        if name in CLOSED:
            raise PermissionDenied
        doors = [(door, values[key]) for key, door in OF_VALUES.items() if key in values]
        if name in OF_KEYS:
            doors.append((OF_KEYS[name], values["pk"]))
        if not all(door.is_open(value, branch) for door, value in doors):
            raise Http404
