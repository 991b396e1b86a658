"""The upstream's balance moved by a known amount that no order of ours explains."""

from django.urls import reverse
from django.utils.translation import gettext as _

from alerts.kinds.kind import AlertKind, Facts, Now, Person, Reason, Words, at, may
from alerts.models import Severity
from core.money import rupiah
from core.rights import Right
from reconciliation.models import Adjustment, Difference
from reconciliation.services import orders_of_amount


class UnexplainedDifference(AlertKind, permission=Right.VIEW_DIFFERENCES):
    """One for each open difference. A top-up opens none."""

    def reasons(self, now: Now) -> list[Reason]:
        exact = orders_of_amount(now.differences)
        adjustments = Adjustment.objects.filter(decided_at=None, difference__in=now.differences)
        proposed = set(adjustments.values_list("difference", flat=True)) if now.differences else set()
        return [
            Reason(
                key=str(difference.pk),
                severity=Severity.CRITICAL if difference.amount < 0 else Severity.WARNING,
                facts={
                    "difference": difference.pk,
                    "amount": difference.amount,
                    "label": difference.label,
                    "from_at": difference.from_at.isoformat(),
                    "to_at": difference.to_at.isoformat(),
                    "proposed": difference.pk in proposed,
                    "ref_ids": exact[difference.pk][:5],
                    "others": [] if exact[difference.pk] else [row["ref_id"] for row in difference.candidates[:5]],
                },
            )
            for difference in now.differences
        ]

    def words(self, facts: Facts, person: Person) -> Words:
        amount = int(facts.get("amount", 0))
        if amount < 0:
            title = _("The provider holds %(amount)s less than our books.") % {"amount": rupiah(-amount)}
            permission = Right.PROPOSE_ADJUSTMENTS
            decide = _("Ask the provider what happened, then propose an adjustment with the reason.")
        else:
            title = _("The provider holds %(amount)s more than our books.") % {"amount": rupiah(amount)}
            permission = Right.ACKNOWLEDGE_DIFFERENCES
            decide = _("Ask the provider what happened, then acknowledge it with the reason.")
        if facts.get("proposed"):
            decide = _("An adjustment was proposed already; a second person approves it.")
        words = _("It happened between %(start)s and %(end)s.") % {
            "start": at(facts, "from_at"),
            "end": at(facts, "to_at"),
        }
        if facts.get("label") in Difference.Label.values:
            words = f"{Difference.Label(facts['label']).label}. {words}"
        if not facts.get("ref_ids") and facts.get("others"):
            words += " " + _("No order has exactly this amount.")
        if ref_ids := facts.get("ref_ids") or facts.get("others"):
            words += " " + _("Orders that may be behind it: %(ref_ids)s.") % {"ref_ids": ", ".join(ref_ids)}
        else:
            words += " " + _("No order of ours fits.")
        return Words(
            title=title,
            facts=words,
            next_step=decide if may(person, permission) else _("See what may be behind it; an admin decides."),
            url=reverse("difference_detail", args=[facts.get("difference", 0)]),
        )
