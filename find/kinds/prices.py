"""The form of a selling price: of a brand in all its categories or in one, or of a category."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlencode

from django.urls import reverse

from catalogue.services.named_targets import priced_targets
from find.kinds.asked import Asked
from find.kinds.kind import Result


def prices(asked: Asked) -> Iterator[Result]:
    """The targets that are named beside a word for prices: "harga telkomsel", "telkomsel price"."""
    for target in priced_targets(asked.text):
        yield Result(
            url=f"{reverse('price_rule')}?{urlencode({'target': target.key})}",
            words=target.words,
            icon="tag",
        )
