"""The frame of every page around its content."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from alerts.presenting import head_for
from backoffice.navigation import navigation_of
from shop.services import shop_name
from staff.models import User
from staff.roles import DEMO_STAFF, role_of


def page(request: HttpRequest) -> dict[str, Any]:
    """The shop's name, the person's look, the sandbox's address for the bar, and how the upstream answers us.

    `own_role`, `upstream_account`, `page_head` and `navigation` are read only by the pages that show them: those of
    people who are signed in.
    """
    user = getattr(request, "user", None)
    head = SimpleLazyObject(lambda: head_for(request.user))  # type: ignore[arg-type] # signed in
    return {
        "shop_name": SimpleLazyObject(lambda: head.shop_name)
        if isinstance(user, User)
        else SimpleLazyObject(shop_name),
        "version": settings.VERSION,
        "is_sandbox": settings.SANDBOX,
        "sandbox_url": settings.SANDBOX_DASHBOARD_URL if isinstance(user, User) else "",  # opens its dashboard
        "demo_people": DEMO_STAFF,
        "oidc_name": settings.OIDC_NAME if settings.OIDC_ISSUER else "",
        "look": user.theme if isinstance(user, User) else User.Theme.AUTO,
        "endings": user.endings if isinstance(user, User) else "",
        "own_role": SimpleLazyObject(lambda: role_of(request.user)),  # type: ignore[arg-type] # signed in
        "page_head": head,
        "navigation": SimpleLazyObject(lambda: navigation_of(request)),
        "upstream_account": SimpleLazyObject(lambda: head.account),
    }
