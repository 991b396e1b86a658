"""The public page of the price list: made, replaced and switched off. Its secret link is shown once."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection
from typing import TYPE_CHECKING

import structlog
from django.db import transaction

from audit.services import record
from catalogue.events import PUBLIC_PRICES_CHANGED
from catalogue.models import PublicPriceList
from core import clock
from core.addresses import line_of
from staff.services import throttle

if TYPE_CHECKING:
    from staff.models import User

_TOKEN_BYTES = 32
# A wrong link is a guess; the right one is none, and never waits.
_PACE = throttle.Pace(free=10, first=30, longest=900)

log = structlog.get_logger()


def current_public_list() -> PublicPriceList | None:
    """The public page as it is; None before the first one, and while it is switched off."""
    return PublicPriceList.objects.select_related("changed_by").exclude(digest="").first()


def publish_prices(brands: Collection[int], *, actor: User) -> str:
    """The token of a new link to the prices of these brands (none: all, also those to come); the one before ends."""
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    _change(_digest_of(token), sorted(brands), actor=actor)
    return token


def withdraw_prices(*, actor: User) -> None:
    """Switch the public page off; its link leads nowhere from now on."""
    _change("", [], actor=actor)


def find_public_list(token: str, *, address: str) -> PublicPriceList | None:
    """The list of this link; None for any other, which counts as a guess of this client.

    Raises `throttle.Slowed` when too many came from there.
    """
    public = PublicPriceList.objects.filter(digest=_digest_of(token)).first() if token else None
    if public is None:
        throttle.take(throttle.Key.of(_PACE, "public_prices", line_of(address)))
    return public


def _change(digest: str, brands: list[int], *, actor: User) -> None:
    now = clock.now()
    with transaction.atomic():
        PublicPriceList.objects.get_or_create(only=True, defaults={"changed_by": actor, "changed_at": now})
        public = PublicPriceList.objects.select_for_update(no_key=True).get()
        before, after = {"is_public": public.is_on}, {"is_public": digest != ""}
        public.digest, public.brands, public.changed_by, public.changed_at = digest, brands, actor, now
        public.save()
        facts = {"brand_count": len(brands)} if digest else {}
        record(PUBLIC_PRICES_CHANGED, actor=actor, before=before, after=after, facts=facts)
    log.info("public_prices_changed", by=actor.pk, is_on=digest != "", brands=len(brands))


def _digest_of(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
