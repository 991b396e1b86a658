"""Price changes and price rules as lists."""

from collections.abc import Iterable

from django.urls import reverse
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from catalogue.models import PriceChange, PriceRule
from catalogue.services.targets import Target
from catalogue.services.terms import Terms, terms_words
from core.money import rupiah, signed_rupiah
from core.tables import Table, column, row_link
from core.times import moment


class PriceChangeTable(Table[PriceChange]):
    """Price changes with their products and brands."""

    caption = _("Price changes, newest first")

    @column(_("Product"), phone="1 left")
    def product(self, change: PriceChange) -> SafeString:
        """The product; links to all its changes."""
        address = f"{reverse('price_changes')}?{urlencode({'q': change.product.code})}"
        return row_link(address, change.product.name)

    @column(_("Brand"), css="sub", phone="2 left")
    def brand(self, change: PriceChange) -> SafeString:
        return format_html('{} · <span class="mono">{}</span>', change.product.brand.name, change.product.code)

    @column(_("Before → after"), css="num", phone="1 right")
    def before_after(self, change: PriceChange) -> SafeString:
        """The price before the change and after it."""
        return format_html('<span class="quiet">{} →</span> {}', rupiah(change.price_before), rupiah(change.price))

    @column(_("Change"), css="num strong", phone="2 right")
    def difference(self, change: PriceChange) -> str:
        """Rupiah by which the price rose (+) or fell (-)."""
        return signed_rupiah(change.price - (change.price_before or 0))

    @column(_("Since"), phone="3 wide")
    def time(self, change: PriceChange) -> SafeString:
        return moment(change.at)


class PriceRuleTable(Table[PriceRule]):
    """Active price rules with their targets; `may_change`: the person may change them, so each links to its form."""

    caption = _("Price rules, the broadest first")

    def __init__(self, rows: Iterable[PriceRule], *, may_change: bool) -> None:
        super().__init__(rows, prefix="rule")
        self.may_change = may_change

    @column(_("For"), phone="1 left")
    def target(self, rule: PriceRule) -> SafeString | str:
        """The rule's target; links to its form."""
        target = Target.of(rule)
        if not self.may_change:
            return target.words
        return row_link(f"{reverse('price_rule')}?{urlencode({'target': target.key})}", target.words)

    @column(_("Rule"), css="strong", phone="2 wide")
    def terms(self, rule: PriceRule) -> str:
        return terms_words(Terms.of(rule))

    @column(_("Changed"), phone="1 right")
    def time(self, rule: PriceRule) -> SafeString:
        return moment(rule.changed_at)
