"""The provider lists products in a way that cannot be used: the last catalogue was taken over without them."""

from django.urls import reverse
from django.utils.translation import gettext as _, ngettext

from alerts.kinds.kind import AlertKind, Facts, Now, Person, Reason, Words
from core.rights import Right

_NAMED = 3


class ProductsLeftOut(AlertKind, permission=Right.CHANGE_PRICES):
    """One alert for all products that the last catalogue left out; it ends with a catalogue that leaves out none."""

    def reasons(self, now: Now) -> list[Reason]:
        names = now.products_left_out
        return [Reason(facts={"count": len(names), "names": names[:_NAMED]})] if names else []

    def words(self, facts: Facts, person: Person) -> Words:
        count = int(facts.get("count", 1))
        title = ngettext(
            "%(n)s product in the provider's list cannot be used.",
            "%(n)s products in the provider's list cannot be used.",
            count,
        )
        return Words(
            title=title % {"n": count},
            facts=_("%(names)s. Known products keep their last price, new ones are not sold.")
            % {"names": ", ".join(facts.get("names", []))},
            next_step=_("Report it to the provider."),
            url=reverse("catalogue"),
        )
