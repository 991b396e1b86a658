"""What every page shows around its content."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest


def page(request: HttpRequest) -> dict[str, Any]:  # noqa: ARG001
    """The shop's name and, when the sandbox is the upstream, its address for the bar."""
    return {"shop_name": settings.SHOP_NAME, "is_sandbox": settings.SANDBOX, "sandbox_url": settings.SANDBOX_URL}
