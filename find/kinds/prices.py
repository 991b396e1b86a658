"""The form of a selling price: for a brand in all its categories or in one, or for a category."""

from collections.abc import Iterator
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _

from catalogue.forms import AS_NOW
from catalogue.services.named_targets import brand_targets, earning_targets, priced_targets
from core.money import rupiah
from find.kinds.asked import Asked
from find.kinds.kind import Result


def prices(asked: Asked) -> Iterator[Result]:
    """The targets named together with a word for prices: "harga telkomsel", "telkomsel price".

    An amount may follow a word for profit ("telkomsel profit at least 500") or only a brand ("telkomsel 500"): then the
    form opens with the effect of the amount.
    """
    targets, at_least = earning_targets(asked.text)
    is_meant = bool(targets)
    if not targets:
        targets, at_least = brand_targets(asked.text)
    for target in targets or priced_targets(asked.text):
        form = f"{reverse('price_rule')}?{urlencode({'target': target.key})}"
        if at_least and target.brand and target.also:
            yield Result(
                url=f"{form}&{urlencode({'kind': AS_NOW, 'at_least': at_least})}#change",
                words=_("%(brand)s: every product earns at least %(amount)s")
                % {"brand": target.brand.name, "amount": rupiah(at_least)},
                icon="tag",
                is_meant=is_meant,
            )
        else:
            yield Result(url=form, words=target.words, icon="tag", is_meant=is_meant)
