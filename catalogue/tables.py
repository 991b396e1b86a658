"""Price changes as a list."""

from __future__ import annotations

from django.urls import reverse
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from catalogue.models import PriceChange
from core.money import rupiah, signed_rupiah
from core.tables import Table, column, row_link
from core.times import moment


class PriceChangeTable(Table[PriceChange]):
    """Price changes with their products and brands."""

    caption = _("Price changes, newest first")

    @column(_("Product"), phone="1 left")
    def product(self, change: PriceChange) -> SafeString:
        """Which product; leads to all its changes."""
        address = f"{reverse('price_changes')}?{urlencode({'q': change.product.code})}"
        return row_link(address, change.product.name)

    @column(_("Brand"), css="sub", phone="2 left")
    def brand(self, change: PriceChange) -> SafeString:
        """Its brand and code."""
        return format_html('{} · <span class="mono">{}</span>', change.product.brand.name, change.product.code)

    @column(_("Before → after"), css="num", phone="1 right")
    def before_after(self, change: PriceChange) -> SafeString:
        """The price until then, and from then on."""
        return format_html('<span class="quiet">{} →</span> {}', rupiah(change.price_before), rupiah(change.price))

    @column(_("Change"), css="num strong", phone="2 right")
    def difference(self, change: PriceChange) -> str:
        """Dearer (+) or cheaper (-)."""
        return signed_rupiah(change.price - (change.price_before or 0))

    @column(_("Since"), phone="3 wide")
    def time(self, change: PriceChange) -> SafeString:
        """From when on."""
        return moment(change.at)
