"""Settings that work and yet expose the shop or its people: refused with a real upstream."""

import math
from collections.abc import Iterator
from urllib.parse import urlsplit

from apprise.plugins.email.base import NotifyEmail
from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning  # noqa: A004 - Django's own name

from alerts.services.ways import way_to
from upstream.config import is_loopback

LEAST_KEY_LENGTH, LEAST_KEY_LETTERS = 50, 5  # Django's own bounds (security.W009)
LEAST_TOKEN_LENGTH = 16
_NOT_NEGATIVE = (
    "UPSTREAM_INTERACTIVE_WAIT",
    "UPSTREAM_COUNTS_WITHIN_SECONDS",
    "TRUSTED_PROXY_COUNT",
)


def unsafe_settings() -> Iterator[CheckMessage]:
    """Settings that contradict each other, and those that are dangerous with real money; only errors end a start."""
    yield from _numbers()
    yield from _plain_addresses()
    if not settings.SANDBOX:
        yield from _guessable()
        yield from _open_to_anybody()
        yield from _transport()
        yield from _plain_stores()


def _numbers() -> Iterator[Error]:
    for name in _NOT_NEGATIVE:
        if not 0 <= getattr(settings, name) < math.inf:
            yield Error(f"{name} must not be negative.", hint="Write 0 or more.", id="backoffice.E010")
    if settings.ORDER_NOT_FOUND_ANSWERS < 1:
        hint = "One answer at least must say so before an order counts as never arrived."
        yield Error("ORDER_NOT_FOUND_ANSWERS must be positive.", hint=hint, id="backoffice.E010")
    if settings.ORDER_CHECK_MAX_SECONDS < settings.ORDER_CHECK_FIRST_SECONDS:
        hint = "Polls begin after the first number of seconds; their pauses grow up to the second."
        yield Error("ORDER_CHECK_MAX_SECONDS is below ORDER_CHECK_FIRST_SECONDS.", hint=hint, id="backoffice.E010")


def _plain_addresses() -> Iterator[Error]:
    """Messages name customers' orders, and their addresses hold tokens: never in plain text over a network."""
    for name in ("ALERT_URLS", "AUDIT_CHECKPOINT_URLS"):
        for place, address in enumerate(getattr(settings, name), start=1):
            way = way_to(address)
            if way and _speaks_plainly(way.service) and not is_loopback(str(way.service.host or "")):
                hint = "Write jsons:// in place of json:// (https), and mailtos:// in place of mailto://."
                yield Error(f"{name}: address {place} is not encrypted.", hint=hint, id="backoffice.E011")
    if settings.SENTRY_DSN and not _is_encrypted(settings.SENTRY_DSN):
        yield Error("SENTRY_DSN is not encrypted.", hint="Write https://.", id="backoffice.E011")


def _speaks_plainly(service: object) -> bool:
    if isinstance(service, NotifyEmail):
        return service.secure_mode == "insecure"
    # services such as Telegram have one scheme, which is always encrypted
    return bool(getattr(service, "protocol", None)) and not getattr(service, "secure", False)


def _is_encrypted(address: str) -> bool:
    parts = urlsplit(address)
    return parts.scheme == "https" or is_loopback(parts.hostname or "")


def _guessable() -> Iterator[Error]:
    for name, keys in {
        "SECRET_KEY": [settings.SECRET_KEY],
        "SECRET_KEY_FALLBACKS": settings.SECRET_KEY_FALLBACKS,
    }.items():
        if any(len(key) < LEAST_KEY_LENGTH or len(set(key)) < LEAST_KEY_LETTERS for key in keys):
            hint = f"Give it {LEAST_KEY_LENGTH} random characters or more: it signs sessions and links."
            yield Error(f"{name} could be guessed.", hint=hint, id="backoffice.E012")
    if settings.METRICS_TOKEN and len(settings.METRICS_TOKEN) < LEAST_TOKEN_LENGTH:
        hint = f"Give it {LEAST_TOKEN_LENGTH} random characters or more."
        yield Error("METRICS_TOKEN could be guessed.", hint=hint, id="backoffice.E012")


def _open_to_anybody() -> Iterator[Error]:
    for host in settings.ALLOWED_HOSTS:
        if host == "*" or (host.startswith(".") and "." not in host[1:]):
            hint = "Name the hosts that staff type: any other name in a request is somebody else's."
            yield Error(f"ALLOWED_HOSTS: {host!r} allows any host.", hint=hint, id="backoffice.E013")
    for origin in settings.CSRF_TRUSTED_ORIGINS:
        if "*" in origin or (settings.HTTPS and not origin.startswith("https://")):
            hint = f"Write https:// and a whole host name.{_way_out()}"
            yield Error(f"CSRF_TRUSTED_ORIGINS: {origin!r} trusts too much.", hint=hint, id="backoffice.E013")
    if settings.UPSTREAM_CALLBACK_VERIFIER == "none" and not settings.UPSTREAM_CALLBACK_ALLOWED_IPS:
        hint = "With the verifier none, name the addresses that callbacks may come from."
        yield Error("UPSTREAM_CALLBACK_ALLOWED_IPS is not set.", hint=hint, id="backoffice.E013")


def _transport() -> Iterator[Error]:
    is_local = _is_upstream_here()
    if not settings.HTTPS and not is_local:
        hint = "Remove HTTPS=0, and put a proxy that ends TLS in front (docs/deployment.md)."
        yield Error("HTTPS is off with a real upstream.", hint=hint, id="backoffice.E014")
    if settings.TRUSTED_PROXY_COUNT and not settings.BEHIND_TLS_PROXY and not is_local:
        hint = "Set BEHIND_TLS_PROXY=1 when the proxy ends TLS, and TRUSTED_PROXY_COUNT=0 when there is none."
        yield Error("TRUSTED_PROXY_COUNT without BEHIND_TLS_PROXY.", hint=hint, id="backoffice.E014")
    if settings.BEHIND_TLS_PROXY and not settings.TRUSTED_PROXY_COUNT:
        hint = "Without it all clients share the proxy's address, and so each other's limits. With one proxy: 1."
        yield Error("BEHIND_TLS_PROXY without TRUSTED_PROXY_COUNT.", hint=hint, id="backoffice.E014")
    if settings.HTTPS and settings.SITE_URL and not settings.SITE_URL.startswith("https://"):
        yield Error("SITE_URL is not encrypted.", hint=f"Write https://.{_way_out()}", id="backoffice.E014")
    if is_local and not (settings.HTTPS or settings.BEHIND_TLS_PROXY) and settings.SITE_URL.startswith("https://"):
        hint = "With HTTPS=0 links lead to http://: write SITE_URL=http://localhost:PORT, or remove SITE_URL."
        yield Error("SITE_URL begins with https:// and nothing answers there.", hint=hint, id="backoffice.E014")


def _is_upstream_here() -> bool:
    return is_loopback(urlsplit(settings.UPSTREAM_BASE_URL).hostname or "")


def _way_out() -> str:
    """The hint for a trial on one machine; "" with an upstream elsewhere, because HTTPS=0 is refused there, too."""
    return " For a trial on this machine alone: HTTPS=0." if settings.HTTPS and _is_upstream_here() else ""


def _plain_stores() -> Iterator[Warning]:
    database = settings.DATABASES["default"]
    is_tls = database["OPTIONS"].get("sslmode") in {"require", "verify-ca", "verify-full"}
    stores = {
        "DATABASE_URL": (database["HOST"], is_tls, "?sslmode=verify-full"),
        "REDIS_URL": (urlsplit(settings.REDIS_URL).hostname, settings.REDIS_URL.startswith("rediss:"), "rediss://"),
    }
    for name, (host, is_encrypted, wanted) in stores.items():
        if not is_encrypted and _is_elsewhere(host or ""):
            hint = f"Write {wanted}, unless the network between is only yours."
            yield Warning(f"{name} goes to another machine without TLS.", hint=hint, id="backoffice.W015")


def _is_elsewhere(host: str) -> bool:
    """Whether it is another machine: neither a socket nor a bare name, as containers of one machine have."""
    return not host.startswith("/") and ("." in host or ":" in host) and not is_loopback(host)
