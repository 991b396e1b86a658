"""The balance at the provider is low."""

from django.urls import reverse
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from alerts.kinds.kind import AlertKind, Facts, Now, Person, Reason, Words, may
from core.money import rupiah
from core.rights import Right
from gateway.services import latest_reading
from ledger.models import Books
from ledger.services import available, low_below, usual_spending_per_hour


class LowBalance(AlertKind, permission=Right.VIEW_BOOKS):
    """Below the policy's threshold in rupiah, or enough for fewer hours of usual spending than the policy names."""

    def reasons(self, now: Now) -> list[Reason]:
        left = available(now.the(Books))
        if left is None:
            reading = latest_reading()
            left = reading.balance if reading else None
        if left is None:
            return []
        per_hour = usual_spending_per_hour()
        threshold = low_below(per_hour)
        if left >= threshold:
            return []
        hours = round(left / per_hour, 1) if per_hour else None
        return [Reason(facts={"available": left, "threshold": threshold, "hours_left": hours})]

    def grade(self, facts: Facts) -> int:
        """Worse below a half of the threshold, and below a tenth."""
        available, threshold = facts.get("available", 0), facts.get("threshold", 0)
        return int(available < threshold / 2) + int(available < threshold / 10)

    def words(self, facts: Facts, person: Person) -> Words:
        # A person who sees the balance fall sees what an order costs.
        sees_amounts = may(person, Right.VIEW_COST)
        left = _("%(amount)s are available; the alert is set to %(threshold)s.") % {
            "amount": rupiah(facts.get("available", 0)),
            "threshold": rupiah(facts.get("threshold", 0)),
        }
        if not sees_amounts:
            left = _("Less than the alert is set to.")
        if (hours := facts.get("hours_left")) is not None:
            left += " " + (
                _("At the usual pace it lasts for less than an hour.")
                if hours < 1
                else _("At the usual pace it lasts for %(hours)s hours.") % {"hours": number_format(hours, 1)}
            )
        may_top_up = may(person, Right.ACKNOWLEDGE_DIFFERENCES)
        return Words(
            title=_("The balance is low."),
            facts=left,
            next_step=_("Top up in the provider's dashboard.") if may_top_up else _("Ask an admin to top up."),
            url=reverse("balance") if sees_amounts else "",
        )
