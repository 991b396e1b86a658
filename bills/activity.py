"""Shows checks of bills in the activity log."""

from audit.subjects import ANY, register
from bills.models import BillCheck
from core.rights import Right
from purchases.activity import ByRefId

for name in ("order", "file"):
    register(ByRefId(name, "", "bill_detail", Right.VIEW_BILLS, model=BillCheck, by="ref_id", keys=ANY))
