"""The products in the first places of a till's tiles, as people who manage tills arrange them."""

from collections.abc import Sequence

import structlog
from django.db import transaction

from audit.services import record
from catalogue.models import Product
from catalogue.services import read_products
from counter.errors import TillIsOff, TooManyTiles
from counter.events import FIRST_TILES_CHANGED
from counter.models import MOST_FIRST, FirstTile
from staff.models import User
from tills.models import Till
from tills.services.enrolling import digest_of

log = structlog.get_logger()


def first_keys_at(token: str) -> list[int]:
    """The keys of the products in the first places of the till with this token, in order; none without a till."""
    if not token:
        return []
    here = FirstTile.objects.filter(till__digest=digest_of(token), till__switched_off_at=None)
    return list(here.order_by("place").values_list("product_id", flat=True))


def read_first_tiles(till: Till) -> list[Product]:
    """The till's first products for its page, also those that the counter leaves out now."""
    return read_products(
        list(FirstTile.objects.filter(till=till).order_by("place").values_list("product_id", flat=True))
    )


def copy_first_tiles(before: Till, after: Till) -> None:
    """Give the first tiles of `before` to `after`, the same counter's new till; call it in a transaction."""
    kept = FirstTile.objects.filter(till=before).order_by("place")
    FirstTile.objects.bulk_create(FirstTile(till=after, product_id=tile.product_id, place=tile.place) for tile in kept)


def set_first_tiles(till: Till, products: Sequence[Product], *, actor: User) -> bool:
    """Give the till these products in this order; returns whether anything changed. The next answer shows them.

    Raises `TooManyTiles`, and `TillIsOff`.
    """
    if len(products) > MOST_FIRST:
        raise TooManyTiles(MOST_FIRST)
    with transaction.atomic():
        current = Till.objects.select_for_update(no_key=True).get(pk=till.pk)
        if not current.is_on:
            raise TillIsOff
        before = read_first_tiles(current)
        if [product.pk for product in before] == [product.pk for product in products]:
            return False
        FirstTile.objects.filter(till=current).delete()
        FirstTile.objects.bulk_create(
            FirstTile(till=current, product=product, place=place) for place, product in enumerate(products, 1)
        )
        names = [{"first_tiles": [product.name for product in row]} for row in (before, products)]
        record(
            FIRST_TILES_CHANGED,
            actor=actor,
            subject=current.name,
            before=names[0],
            after=names[1],
            facts={"till": current.pk},
        )
    log.info("first_tiles_changed", by=actor.pk, till=till.pk, count=len(products))
    return True
