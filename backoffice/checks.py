"""What must be configured before anything starts. Shown by `manage.py check` and by every start."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register


@register()
def check_configuration(**_: Any) -> list[CheckMessage]:
    """Refuse to start without secrets; with a real upstream, without its credentials and our host names too."""
    needed: dict[str, str | list[str]] = {"SECRET_KEY": settings.SECRET_KEY}
    if not settings.SANDBOX:
        needed |= {
            "UPSTREAM_BASE_URL": settings.UPSTREAM_BASE_URL,
            "UPSTREAM_SECRET_ID": settings.UPSTREAM_SECRET_ID,
            "UPSTREAM_SECRET_KEY": settings.UPSTREAM_SECRET_KEY,
            "ALLOWED_HOSTS": settings.ALLOWED_HOSTS,
        }
    return [
        Error(f"{name} is not set. Put it in the environment or in .env (see .env.example).", id="backoffice.E001")
        for name, value in needed.items()
        if not value
    ]
