"""The frame of every page around its content."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from alerts.presenting import head_for
from backoffice.navigation import navigation_of, work_kind_of
from backoffice.sections import section_of
from branches.seeing import own_branch
from branches.services import branch_name, has_several
from shop.services import shop_name
from staff.models import User
from staff.roles import DEMO_STAFF, role_of


def page(request: HttpRequest) -> dict[str, Any]:
    """The shop's name, the person's look, the sandbox's address for the bar, and how the upstream answers us.

    Only pages that show a lazy value read it: those of people who are signed in. `frame_rights` (the person's rights,
    and whether there are several branches) and `frame_route` (the page's address with the kind of work) are keys under
    which parts of the frame are cached.
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
        "own_branch": SimpleLazyObject(_own_branch),
        "own_role": SimpleLazyObject(lambda: role_of(request.user)),  # type: ignore[arg-type] # signed in
        "page_head": head,
        "navigation": SimpleLazyObject(lambda: navigation_of(request)),
        "page_section": SimpleLazyObject(lambda: section_of(request)),
        "frame_rights": SimpleLazyObject(lambda: _rights_of(request.user)),  # type: ignore[arg-type] # signed in
        "frame_route": f"{request.resolver_match.route}{work_kind_of(request)}" if request.resolver_match else None,
        "upstream_account": SimpleLazyObject(lambda: head.account),
    }


def _own_branch() -> str:
    """The name of the only branch that the reader sees; empty for a reader who sees all."""
    branch = own_branch()
    return "" if branch is None else branch_name(branch)


def _rights_of(user: User) -> str:
    """The facts that decide which pages the places have, as one text; read for each request, never kept."""
    rights = "all" if user.is_superuser else " ".join(sorted(user.get_all_permissions()))
    return f"{rights} several" if has_several() else rights
