"""Checks of everything that must be right before anything starts. Shown by `manage.py check`, and by every start."""

import base64
import ipaddress
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.apps import apps
from django.conf import settings
from django.core.checks import CheckMessage, Error, register

from alerts.services.ways import way_to
from backoffice.database_rights import RIGHTS
from backoffice.unsafe_settings import unsafe_settings
from core.rights import Role
from policies.bounds import BOUNDS
from upstream.callback_signature import VERIFIERS
from upstream.config import Rate, is_loopback, is_safe_address
from upstream.errors import Misconfigured

_NEEDED_WITH_REAL_MONEY = ("UPSTREAM_BASE_URL", "UPSTREAM_SECRET_ID", "UPSTREAM_SECRET_KEY", "ALLOWED_HOSTS")
_SIGN_IN = ("OIDC_ISSUER", "OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET", "OIDC_ROLES")
# As Django reads the host of a request: with any other name no page would answer
_HOST = re.compile(r"\*|[a-z0-9.-]+|\[[a-f0-9:.]+\]", re.IGNORECASE)
_KEY_BYTES = 32  # of Ed25519
_RATES = ("UPSTREAM_ACCOUNT_RATE", "UPSTREAM_IP_RATE", "UPSTREAM_PRODUCTS_RATE")
_POSITIVE_SECONDS = (
    "UPSTREAM_CONNECT_TIMEOUT",
    "UPSTREAM_READ_TIMEOUT",
    "ORDER_CHECK_FIRST_SECONDS",
    "ORDER_CHECK_MAX_SECONDS",
    "ORDER_LEASE_SECONDS",
)


@register()
def check_configuration(**_: Any) -> list[CheckMessage]:
    """Refuse what would fail later, at the first call, callback or lost answer: missing or unusable settings."""
    checks = (
        _missing,
        _demo_elsewhere,
        _unusable_hosts,
        _unusable_upstream,
        _policies_out_of_bounds,
        _unusable_callbacks,
        _unusable_alerts,
        _unusable_sign_in,
        _unusable_audit_key,
        _unsafe_with_real_money,
        unsafe_settings,
    )
    return [fault for check in checks for fault in check()]


@register()
def check_rights(**_: Any) -> list[CheckMessage]:
    """Refuse a table without a row of rights: the first page that reads it would fail."""
    models = apps.get_models(include_auto_created=True)
    tables = {model._meta.db_table for model in models if model._meta.managed and not model._meta.proxy}
    hint = "Add its row to backoffice/database_rights.py: select, insert, update, delete, as the code does."
    return [
        Error(f"The table {table} has no row of rights.", hint=hint, id="backoffice.E016")
        for table in sorted(tables - set(RIGHTS))
    ]


def _missing() -> Iterator[Error]:
    """With a real upstream, require its credentials and our host names (Django refuses an empty SECRET_KEY)."""
    for name in () if settings.SANDBOX else _NEEDED_WITH_REAL_MONEY:
        if not getattr(settings, name):
            hint = "Put it in the environment or in .env (see .env.example)."
            yield Error(f"{name} is not set.", hint=hint, id="backoffice.E001")


def _demo_elsewhere() -> Iterator[Error]:
    """The demo buys by itself, and its people have known passwords: only with a sandbox on this machine."""
    address = settings.UPSTREAM_BASE_URL
    if settings.SANDBOX and is_safe_address(address) and not is_loopback(urlsplit(address).hostname or ""):
        hint = "Remove BACKOFFICE_SANDBOX: `./run` sets it for its own sandbox."
        yield Error("BACKOFFICE_SANDBOX is on with an upstream elsewhere.", hint=hint, id="backoffice.E018")


def _unusable_hosts() -> Iterator[Error]:
    for host in settings.ALLOWED_HOSTS:
        if not _HOST.fullmatch(host):
            hint = "Write host names with commas between, without https:// and without a port: shop.example.com."
            yield Error(f"ALLOWED_HOSTS: {host!r} is not a host name.", hint=hint, id="backoffice.E020")


def _unusable_upstream() -> Iterator[Error]:
    if settings.UPSTREAM_BASE_URL and not is_safe_address(settings.UPSTREAM_BASE_URL):
        hint = "Write https://host (http:// only to this machine), without login, query or fragment."
        yield Error("UPSTREAM_BASE_URL is not a safe address.", hint=hint, id="backoffice.E002")
    elif settings.UPSTREAM_BASE_URL.rstrip("/").endswith("/v1"):
        hint = "Write it without /v1: the path of each request begins with that."
        yield Error("UPSTREAM_BASE_URL ends with /v1.", hint=hint, id="backoffice.E002")
    for name in _RATES:
        try:
            Rate.parse(getattr(settings, name))
        except Misconfigured as fault:
            hint = "Write calls/unit, with the unit second, minute or hour, for example 120/minute."
            yield Error(f"{name}: {fault}.", hint=hint, id="backoffice.E003")
    for name in _POSITIVE_SECONDS:
        if not 0 < getattr(settings, name) < math.inf:
            yield Error(f"{name} must be positive.", hint="Write a number of seconds.", id="backoffice.E004")


def _policies_out_of_bounds() -> Iterator[Error]:
    for name, value in settings.POLICIES.items():
        if not BOUNDS[name].least <= value <= BOUNDS[name].most:
            hint = f"Write a number from {BOUNDS[name].least} to {BOUNDS[name].most}, or leave it to the page Policies."
            yield Error(f"{name.upper()} is out of its bounds.", hint=hint, id="backoffice.E015")


def _unusable_callbacks() -> Iterator[Error]:
    if settings.UPSTREAM_CALLBACK_VERIFIER not in VERIFIERS:
        hint = f"Write one of: {', '.join(VERIFIERS)}."
        yield Error("UPSTREAM_CALLBACK_VERIFIER is not known.", hint=hint, id="backoffice.E005")
    for network in settings.UPSTREAM_CALLBACK_ALLOWED_IPS:
        try:
            ipaddress.ip_network(network, strict=False)
        except ValueError:
            hint = "Write CIDR blocks with commas between them, for example 203.0.113.0/24,2001:db8::/32."
            yield Error(
                f"UPSTREAM_CALLBACK_ALLOWED_IPS: {network!r} is not an address.", hint=hint, id="backoffice.E006"
            )


def _unusable_alerts() -> Iterator[Error]:
    """Name an address by its place in the list only: addresses hold tokens."""
    for name in ("ALERT_URLS", "AUDIT_CHECKPOINT_URLS"):
        for place, address in enumerate(getattr(settings, name), start=1):
            if way_to(address) is None:
                hint = "Write it as apprise does, with somebody to send to: .env.example shows some."
                yield Error(f"{name}: address {place} is not understood.", hint=hint, id="backoffice.E009")


def _unusable_sign_in() -> Iterator[Error]:
    """Sign-in through a provider: all of its settings or none."""
    given = {name for name in _SIGN_IN if getattr(settings, name)}
    for name in sorted(set(_SIGN_IN) - given) if given else ():
        yield Error(f"{name} is not set.", hint="Set all four, or none (docs/staff.md).", id="backoffice.E017")
    if settings.OIDC_ISSUER and not (is_safe_address(settings.OIDC_ISSUER) and len(settings.OIDC_ISSUER) <= 200):
        hint = "Write https://host/path (http:// only to this machine), as the provider writes it."
        yield Error("OIDC_ISSUER is not a safe address.", hint=hint, id="backoffice.E017")
    for role in sorted(set(settings.OIDC_ROLES.values()) - set(Role)):
        hint = f"Write value=role with commas between; the roles are {', '.join(Role)}."
        yield Error(f"OIDC_ROLES: {role!r} is not a role.", hint=hint, id="backoffice.E017")


def _unusable_audit_key() -> Iterator[Error]:
    try:
        length = len(base64.b64decode(settings.AUDIT_KEY, validate=True))
    except ValueError:
        length = 0
    if settings.AUDIT_KEY and length != _KEY_BYTES:
        hint = f"Write {_KEY_BYTES} bytes in base64, as `./run manage audit_key --new` prints them once."
        yield Error("AUDIT_KEY is not a key.", hint=hint, id="backoffice.E019")
    kept = settings.DATA_DIR / "audit.key"
    if not settings.AUDIT_KEY and _is_empty(kept):
        hint = (
            "Put it back from a backup, or from your own copy. If the shop has never started before, delete the file: "
            "the next start makes a new key. With another key each older checkpoint counts as wrongly signed."
        )
        yield Error(f"{kept} is empty.", hint=hint, id="backoffice.E022")


def _is_empty(file: Path) -> bool:
    """Whether the file is there without content, as power cuts leave files; False for a user who may not look."""
    try:
        return file.stat().st_size == 0
    except OSError:
        return False


def _unsafe_with_real_money() -> Iterator[Error]:
    if settings.DEBUG and not settings.SANDBOX:
        hint = "Remove DEBUG: its pages show settings and data to anybody."
        yield Error("DEBUG is on with a real upstream.", hint=hint, id="backoffice.E007")
    longest_call = settings.UPSTREAM_CONNECT_TIMEOUT + settings.UPSTREAM_READ_TIMEOUT
    if not longest_call < settings.ORDER_NOT_FOUND_GRACE_SECONDS:
        hint = (
            f"Set more than {longest_call:g} seconds, the longest time that a request may be on its way. "
            "Before that, “not found” does not mean that the order never arrived."
        )
        yield Error("ORDER_NOT_FOUND_GRACE_SECONDS is too short.", hint=hint, id="backoffice.E008")
