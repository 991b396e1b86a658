"""Changes the shop's row. No other module changes it."""

from typing import Any

import structlog
from django.conf import settings
from django.db import transaction

from audit.events import SETTING_CHANGED
from audit.services import record
from core import clock
from shop.models import Logo, Shop
from shop.pictures import Picture
from staff.models import User

# The columns that are texts
TEXTS = ("name", "address", "phone", "footer", "paper", "language")

log = structlog.get_logger()


def change_shop(
    texts: dict[str, str],
    *,
    actor: User,
    logo: Logo | None = None,
    without_logo: bool = False,
) -> bool:
    """Give the shop these of its texts (`TEXTS`); returns whether anything changed.

    `logo`: a new one from `store_logo`; `without_logo`: no logo from now on; else the logo stays. Earlier prints stay
    as they were.
    """
    with transaction.atomic():
        shop = _lock()
        before = _facts(shop)
        for name, text in texts.items():
            setattr(shop, name, text)
        if without_logo:
            shop.logo = None
        elif logo is not None:
            shop.logo = logo
        shop.saved_at = clock.now()
        shop.save()
        after = _facts(shop)
        is_changed = before != after
        if is_changed:
            record(SETTING_CHANGED, actor=actor, subject="shop", before=before, after=after)
    log.info("shop_changed", by=actor.pk, is_changed=is_changed)
    return is_changed


def close_first_steps(*, actor: User) -> None:
    """Close the list of a new shop's first steps permanently."""
    with transaction.atomic():
        shop = _lock()
        if shop.set_up_at is None:
            shop.set_up_at = clock.now()
            shop.save(update_fields=["set_up_at"])
            record(SETTING_CHANGED, actor=actor, subject="shop", after={"first_steps": "closed"})
    log.info("first_steps_closed", by=actor.pk)


def adopt_name() -> None:
    """At each start, take the name from the environment, until a person has saved the settings."""
    with transaction.atomic():
        shop = _lock()
        if shop.saved_at is None and shop.name != settings.SHOP_NAME:
            shop.name = settings.SHOP_NAME
            shop.save(update_fields=["name"])


def _lock() -> Shop:
    return Shop.objects.select_for_update().get_or_create(only=True, defaults={"name": settings.SHOP_NAME})[0]


def store_logo(picture: Picture) -> Logo:
    """Store the picture and return its logo; no paper shows it before a form that names it is saved.

    For the same picture it returns the stored row.
    """
    facts: dict[str, Any] = {
        "content": picture.content,
        "content_type": picture.content_type,
        "width": picture.width,
        "height": picture.height,
    }
    return Logo.objects.defer("content").get_or_create(digest=picture.digest, defaults=facts)[0]


def _facts(shop: Shop) -> dict[str, str]:
    """The facts of an event about the row."""
    return {**{name: getattr(shop, name) for name in TEXTS}, "logo": shop.logo_id or ""}
