"""The parts of the list of bill checks."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from django.db.models import F, Q, Sum
from django.db.models.functions import Coalesce
from django.utils.translation import gettext_lazy as _, ngettext_lazy

from bills.filters import BillFilter
from bills.models import PAID_FOR, BillCheck, BillCheckQuerySet
from bills.states import BillState
from bills.tables import BillTable
from branches.seeing import narrowed
from core import clock
from core.filters import ListFilter
from core.money import rupiah
from core.rights import Right
from core.search import is_among
from core.together import Given, Together
from exports.listing import Fact, Listing, counted
from purchases.states import Status
from staff.models import User

_PAID = Q(order__status=Status.SUCCESS)
# Only a paid bill belongs to a branch.
PAID_IN = "order__payment__branch"


def _foot(filtered: ListFilter, person: User) -> dict[str, Any]:
    """The sums of paid bills and of bills that can be paid now. An older check of the same bill does not count."""
    payable = Q(pk__in=BillCheck.objects.payable().values("pk"))
    foot = counted(
        ngettext_lazy("%(shown)s bill", "%(shown)s bills", "n"),
        Fact(_("Paid"), Sum(F("total") + Coalesce("order__fee", 0), filter=_PAID, default=0), rupiah),
        Fact(_("Payable"), Sum(F("total") + F("product__fee"), filter=payable, default=0), rupiah),
    )
    return foot(filtered, person)


BILLS = Listing(
    name="bills",
    page="bill",
    words=_("Bills"),
    template="bills/bill_list.html",
    rights=(Right.VIEW_BILLS,),
    file_rights=(Right.VIEW_COST,),  # a file holds the shop's fees
    table=BillTable,
    find=lambda query, _person: BillFilter(query, queryset=narrowed(BillCheck.objects.all(), PAID_IN, with_shop=True)),
    for_file=BillCheckQuerySet.for_table,
    foot=_foot,
    views=((_("Payable"), f"state={BillState.VALID}"),),
)


def read_checks(keys: Sequence[int]) -> list[BillCheck]:
    """The checks with these keys, in this order, as `for_table` reads them; made for few keys and many calls."""
    now = clock.now()
    rows = _checks_of_keys().read(keys=list(keys), now=now, paid_since=now - PAID_FOR)[0]
    checks = {check.pk: check for check in rows}
    return [checks[key] for key in keys]


@cache
def _checks_of_keys() -> Together:
    """The query of `read_checks`, kept because Django takes 11 ms to build it."""
    rows = BillCheck.objects.with_standing(Given("now"), Given("paid_since")).select_related("order", "product")
    return Together(rows.filter(is_among("pk", Given("keys"))))
