"""The form of a selling price: of a brand in all its categories or in one, or of a category."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _

from catalogue.forms import AS_NOW
from catalogue.services.named_targets import earning_targets, priced_targets
from core.money import rupiah
from find.kinds.asked import Asked
from find.kinds.kind import Result


def prices(asked: Asked) -> Iterator[Result]:
    """The targets that are named beside a word for prices: "harga telkomsel", "telkomsel price".

    Behind a word for profit an amount may stand ("telkomsel profit at least 500"): then the form opens with its effect.
    """
    targets, at_least = earning_targets(asked.text)
    for target in targets:
        filled = {"kind": AS_NOW, "at_least": at_least} if target.also else {}
        more = _("each sale earns at least %(amount)s") % {"amount": rupiah(at_least)} if filled else ""
        yield Result(
            url=f"{reverse('price_rule')}?{urlencode({'target': target.key} | filled)}{'#change' if filled else ''}",
            words=target.words,
            more=more,
            icon="tag",
            is_meant=True,
        )
    for target in priced_targets(asked.text) if not targets else ():
        yield Result(
            url=f"{reverse('price_rule')}?{urlencode({'target': target.key})}",
            words=target.words,
            icon="tag",
        )
