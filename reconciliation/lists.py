"""The parts of the list of differences."""

from django.db.models import Q, QuerySet, Sum
from django.utils.translation import gettext_lazy as _, ngettext_lazy, pgettext_lazy

from core.money import signed_rupiah
from core.rights import Right
from exports.listing import Fact, Listing, counted
from reconciliation.filters import DifferenceFilter
from reconciliation.models import Difference
from reconciliation.tables import DifferenceTable

_OPEN = Q(state=Difference.State.OPEN)


def _with_person(differences: QuerySet[Difference]) -> QuerySet[Difference]:
    return differences.select_related("acknowledged_by")


DIFFERENCES = Listing(
    name="differences",
    page="difference",
    words=_("Differences of the balance"),
    template="reconciliation/difference_list.html",
    rights=(Right.VIEW_DIFFERENCES,),
    table=DifferenceTable,
    find=lambda query, _person: DifferenceFilter(query, queryset=Difference.objects.all()),
    for_file=_with_person,
    foot=counted(
        ngettext_lazy("%(shown)s difference", "%(shown)s differences", "n"),
        Fact(_("Sum"), Sum("amount", default=0), signed_rupiah),
        Fact(pgettext_lazy("difference", "Open"), Sum("amount", filter=_OPEN, default=0), signed_rupiah),
    ),
    views=tuple((state.label, f"state={state}") for state in Difference.State),
)
