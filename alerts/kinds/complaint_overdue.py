"""Nobody has looked after a customer's complaint in time."""

from django.urls import reverse
from django.utils.translation import gettext as _

from alerts.kinds.kind import AlertKind, Facts, Now, Person, Reason, Words, at, may
from complaints.services import overdue
from core.rights import Right


class ComplaintOverdue(AlertKind, permission=Right.VIEW_COMPLAINTS, of_branch=True):
    """One for each complaint, until somebody writes what was done, or closes it."""

    def reasons(self, now: Now) -> list[Reason]:
        return [
            Reason(
                key=str(late.pk),
                facts={
                    "complaint": late.pk,
                    "product": late.order.product_name,
                    "name": late.opened_by.shown_name,
                    "due": late.due_at.isoformat(),
                    "branch": late.order.payment.branch_id,
                },
            )
            for late in overdue(now.time)
        ]

    def words(self, facts: Facts, person: Person) -> Words:
        return Words(
            title=_("A complaint is overdue: %(product)s.") % {"product": facts.get("product", "–")},
            facts=_("Due %(due)s; opened by %(name)s.") % {"due": at(facts, "due"), "name": facts.get("name", "–")},
            next_step=_("Ask, answer the customer, and write it down.")
            if may(person, Right.HANDLE_COMPLAINTS)
            else _("Remind the cashiers."),
            url=reverse("complaint_list"),
        )
