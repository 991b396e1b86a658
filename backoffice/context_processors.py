"""What every page shows around its content."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from balance import services as balance
from balance.alert_words import ShownAlerts
from staff.models import User


def page(request: HttpRequest) -> dict[str, Any]:
    """The shop's name, the person's look, the sandbox's address for the bar, and how the upstream answers us.

    `upstream_account` and `open_alerts` are read only by the pages that show them: those of people who are signed in.
    """
    user = getattr(request, "user", None)
    return {
        "shop_name": settings.SHOP_NAME,
        "is_sandbox": settings.SANDBOX,
        "sandbox_url": settings.SANDBOX_URL,
        "look": user.theme if isinstance(user, User) else User.Theme.AUTO,
        "open_alerts": SimpleLazyObject(lambda: ShownAlerts.for_head(request.user)),  # type: ignore[arg-type]
        "upstream_account": SimpleLazyObject(balance.upstream_account),
    }
