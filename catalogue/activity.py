"""Shows prices and kinds of numbers in the activity log."""

from django.utils.translation import pgettext, pgettext_lazy

from audit.facts import Fact, money, name_facts
from audit.subjects import ANY, About, Place, Seen, Subject, register
from catalogue.services import name_of_all
from catalogue.services.terms import facts_words
from core.rights import Right


class _Rules(Place):
    """Price rules by target: a name, or "all:prepaid"."""

    def about(self, key: str, seen: Seen) -> About:
        return About(name_of_all(key) if key.startswith("all:") else key, self.url(seen.reader))


class _Targets(Subject):
    """The target of a rule that waits for a second person, such as "brand:12"; the content has its name."""

    def about(self, key: str, seen: Seen) -> About:
        target, content = f"{self.name}:{key}", seen.facts.get("content") or {}
        return About(name_of_all(target) if self.name == "all" else str(content.get("name") or target))


name_facts(
    affected=Fact(pgettext_lazy("audit", "Prices that change")),
    # no brand chosen means every brand
    brand_count=Fact(pgettext_lazy("audit", "Brands"), lambda count: str(count or pgettext("audit", "all"))),
    below_cost=Fact(pgettext_lazy("audit", "Products below cost")),
    is_public=Fact(pgettext_lazy("audit", "Public page")),
    largest_loss=Fact(pgettext_lazy("audit", "Largest loss for one sale"), money),
    number_kind=Fact(pgettext_lazy("audit", "Kind of numbers")),
    target=Fact(pgettext_lazy("audit", "Rule for")),
    terms=Fact(pgettext_lazy("audit", "Rule"), facts_words, is_whole=True),
)
register(
    _Rules("price_rule", "", "prices", Right.VIEW_PRODUCT, Right.VIEW_COST, keys=ANY),
    *(_Targets(name, keys=ANY) for name in ("all", "category", "brand", "brands", "product")),
)
