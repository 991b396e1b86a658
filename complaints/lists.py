"""The parts of the list of complaints."""

from django.db.models import Count, Q, QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _, ngettext_lazy

from branches.seeing import narrowed
from complaints.filters import ComplaintFilter
from complaints.models import Complaint, ComplaintQuerySet, State
from complaints.tables import ComplaintTable
from core.rights import Right
from exports.listing import Fact, Listing, counted


def complaints_seen() -> QuerySet[Complaint]:
    """The complaints about orders that the reader may see."""
    return narrowed(Complaint.objects.all(), "order__payment__branch")


COMPLAINTS = Listing(
    name="complaints",
    page="complaint",
    words=_("Complaints"),
    template="complaints/complaint_list.html",
    rights=(Right.VIEW_COMPLAINTS,),
    file_rights=(Right.VIEW_SHIFTS,),  # a file holds everybody's acts
    table=ComplaintTable,
    find=lambda query, person: ComplaintFilter(query, queryset=complaints_seen(), person=person),
    for_file=ComplaintQuerySet.for_file,
    foot=counted(
        ngettext_lazy("%(shown)s complaint", "%(shown)s complaints", "n"),
        Fact(_("Overdue"), Count("pk", filter=Q(~Q(state=State.CLOSED), due_at__lt=Now()))),
    ),
    views=((_("Provider asked"), f"state={State.ASKED}"),),
)
