"""The price list for customers, and its public page, which is made, replaced and switched off here.

It has the price by the rules of each product that can be sold, never the cost. The page's secret link is shown only
once.
"""

import hashlib
import secrets
from collections.abc import Collection
from dataclasses import dataclass, field

import structlog
from django.db import transaction

from audit.services import record
from catalogue.errors import PublicListRefused
from catalogue.events import PUBLIC_PRICES_CHANGED
from catalogue.models import Product, PublicPriceList
from catalogue.services.index import current_index
from core import clock
from core.addresses import line_of
from staff.models import User
from staff.services import throttle

log = structlog.get_logger()
_TOKEN_BYTES = 32
# A wrong link counts as a guess; the right link never waits.
_PACE = throttle.Pace(free=10, first=30, longest=900)


@dataclass(frozen=True)
class Price:
    """A line of the list: the product's name, and the rupiah that a customer pays."""

    name: str
    rupiah: int


@dataclass(frozen=True)
class PriceSection:
    """A brand within a category, with its prices in the counter's order. `brand`: its key."""

    brand: int
    name: str
    category: str
    prices: list[Price] = field(default_factory=list)


def read_price_sections(brands: Collection[int] | None = None) -> list[PriceSection]:
    """The sections in the order of the counter's tiles; `brands`: the keys of the wanted brands, None for all.

    It does not read the costs, so that no page can show them.
    """
    place = {key: at for at, key in enumerate(current_index().keys)}
    products = Product.objects.in_price_list().order_by()
    if brands is not None:
        products = products.filter(brand__in=brands)
    rows = sorted(
        products.values_list("pk", "brand_id", "brand__name", "category__name", "name", "selling_price"),
        key=lambda row: place.get(row[0], len(place)),
    )
    sections: dict[int, PriceSection] = {}
    for _pk, brand, brand_name, category, name, pays in rows:
        section = sections.setdefault(brand, PriceSection(brand, brand_name, category))
        section.prices.extend([Price(name, pays)] if pays else [])
    return list(sections.values())


def current_public_list() -> PublicPriceList | None:
    """The public page; None before the first one, and while it is switched off."""
    return PublicPriceList.objects.select_related("changed_by").exclude(digest="").first()


def mark_of_public_list() -> str:
    """A mark of the page's present state, for a form: `publish_prices` takes it as `seen`. "" before the first page."""
    public = PublicPriceList.objects.first()
    return _mark_of(public) if public else ""


def publish_prices(brands: Collection[int], *, actor: User, seen: str | None = None) -> str:
    """The token of a new link to the prices of these brands (none: all, also future ones); the link before it ends.

    Raises `PublicListRefused` when the page has changed since it was `seen`: a form that is sent twice makes one link.
    """
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    _change(_digest_of(token), sorted(brands), actor=actor, seen=seen)
    return token


def withdraw_prices(*, actor: User) -> None:
    """Switch the public page off; its link no longer works."""
    _change("", [], actor=actor)


def find_public_list(token: str, *, address: str) -> PublicPriceList | None:
    """The list of this link; None for any other link, which counts as a guess of this client.

    Raises `throttle.Slowed` when this client has guessed too often.
    """
    public = PublicPriceList.objects.filter(digest=_digest_of(token)).first() if token else None
    if public is None:
        throttle.take(throttle.Key.of(_PACE, "public_prices", line_of(address)))
    return public


def _change(digest: str, brands: list[int], *, actor: User, seen: str | None = None) -> None:
    now = clock.now()
    with transaction.atomic():
        first = {"changed_by": actor, "changed_at": now}
        is_new = PublicPriceList.objects.get_or_create(only=True, defaults=first)[1]
        public = PublicPriceList.objects.select_for_update(no_key=True).get()
        if seen not in {None, "" if is_new else _mark_of(public)}:
            raise PublicListRefused("changed")
        before, after = {"is_public": public.is_on}, {"is_public": digest != ""}
        public.digest, public.brands, public.changed_by, public.changed_at = digest, brands, actor, now
        public.save()
        facts = {"brand_count": len(brands)} if digest else {}
        record(PUBLIC_PRICES_CHANGED, actor=actor, before=before, after=after, facts=facts)
    log.info("public_prices_changed", by=actor.pk, is_on=digest != "", brands=len(brands))


def _mark_of(public: PublicPriceList) -> str:
    return public.changed_at.isoformat()


def _digest_of(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
