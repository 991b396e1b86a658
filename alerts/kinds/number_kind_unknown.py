"""The provider's names no longer say which kind of number a category takes: the shop has to say it."""

from django.urls import reverse
from django.utils.translation import gettext as _, ngettext

from alerts.kinds.kind import AlertKind, Facts, Now, Person, Reason, Words
from core.rights import Right

_NAMED = 3


class NumberKindUnknown(AlertKind, permission=Right.CHANGE_PRICES):
    """One alert for all categories with such products; it ends when the shop has said the kind for each."""

    def reasons(self, now: Now) -> list[Reason]:
        asking = now.categories_asking
        names = [category.name for category in asking[:_NAMED]]
        return [Reason(facts={"count": len(asking), "names": names})] if asking else []

    def words(self, facts: Facts, person: Person) -> Words:
        count = int(facts.get("count", 1))
        title = ngettext(
            "The kind of numbers of %(n)s category is not clear.",
            "The kind of numbers of %(n)s categories is not clear.",
            count,
        )
        return Words(
            title=title % {"n": count},
            facts=_("%(names)s: products that are known keep their kind, numbers of new ones are hardly checked.")
            % {"names": ", ".join(facts.get("names", []))},
            next_step=_("Say which kind it is."),
            url=reverse("kind_list"),
        )
