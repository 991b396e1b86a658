"""The rows of batches as a list with files. Such a file is the result of a batch."""

from django.db.models import Q, Sum
from django.utils.translation import gettext_lazy as _, ngettext_lazy

from batches.filters import BatchRowFilter
from batches.models import BatchRowQuerySet
from batches.states import RowState
from batches.tables import BatchRowTable
from core.money import rupiah
from core.rights import Right
from exports.listing import Fact, Listing, counted
from purchases.states import UNFULFILLED

# A row that is wrong or left out earns nothing, nor does an order that ended without success.
_SOLD = Q(state=RowState.READY) | Q(state=RowState.PLACED) & ~Q(order__status__in=sorted(UNFULFILLED))

ROWS = Listing(
    name="batch-rows",
    page="batch_row",
    words=_("Rows of batches"),
    template="batches/row_list.html",
    rights=(Right.VIEW_PRODUCT, Right.BUY),
    table=BatchRowTable,
    find=lambda query, person: BatchRowFilter(query, person=person),
    for_file=BatchRowQuerySet.for_table,
    foot=counted(
        ngettext_lazy("%(shown)s row", "%(shown)s rows", "n"),
        Fact(_("Price of what is sold"), Sum("selling_price", filter=_SOLD, default=0), rupiah),
    ),
)
