"""Something sells for less than it costs: its cost has risen above the selling price."""

from django.urls import reverse
from django.utils.translation import gettext as _, ngettext

from alerts.kinds.kind import AlertKind, Facts, Now, Person, Reason, Words, may
from core.money import rupiah
from core.rights import Right

_NAMED = 3


class BelowCost(AlertKind, permission=Right.VIEW_COST):
    """One alert for all listed products that sell below cost, the largest loss first; it ends when there is none."""

    def reasons(self, now: Now) -> list[Reason]:
        products = now.below_cost
        if not products:
            return []
        largest = products[0].price - products[0].sells_for
        names = [product.name for product in products[:_NAMED]]
        return [Reason(facts={"count": len(products), "names": names, "largest_loss": largest})]

    def words(self, facts: Facts, person: Person) -> Words:
        count = int(facts.get("count", 1))
        title = ngettext("%(n)s product sells below cost.", "%(n)s products sell below cost.", count)
        return Words(
            title=title % {"n": count},
            facts=_("%(names)s: up to %(loss)s lost for each sale.")
            % {"names": ", ".join(facts.get("names", [])), "loss": rupiah(facts.get("largest_loss"))},
            next_step=_("Raise its price rule.")
            if may(person, Right.CHANGE_PRICES)
            else _("Ask a person who may change selling prices."),
            url=reverse("prices"),
        )
