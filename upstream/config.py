"""The client's settings in one frozen value, so that changed settings get another client."""

import ipaddress
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Self
from urllib.parse import urlsplit

from django.conf import settings

from upstream.endpoints import Limit
from upstream.errors import Misconfigured

_SECONDS = {"second": 1.0, "minute": 60.0, "hour": 3600.0}


@dataclass(frozen=True)
class Rate:
    """At most `calls` within any `window` seconds."""

    calls: int
    window: float

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read "120/minute" (second, minute, hour). Raises `Misconfigured`."""
        calls, _, unit = text.strip().partition("/")
        if not (calls.isascii() and calls.isdigit() and 0 < int(calls) <= 100_000 and unit in _SECONDS):
            raise Misconfigured(f"a rate must look like 120/minute, not {text[:40]!r}")
        return cls(int(calls), _SECONDS[unit])


@dataclass(frozen=True)
class Config:
    """Address, credentials, timeouts (seconds) and rates of the upstream, and the Redis that holds the rate budget.

    Neither `repr` nor any error shows the secret key or the password within `redis_url`.
    """

    base_url: str
    secret_id: str
    secret_key: str = field(repr=False)
    redis_url: str = field(repr=False)
    connect_timeout: float = 5.0
    read_timeout: float = 30.0
    account_rate: Rate = Rate(120, 60.0)
    ip_rate: Rate = Rate(300, 60.0)
    products_rate: Rate = Rate(6, 60.0)
    interactive_wait: float = 10.0
    counts_within: float = 0.0  # 0: not known
    redis_timeout: float = 5.0
    redis_connect_timeout: float = 3.0

    @classmethod
    def from_settings(cls) -> Self:
        """Build it from Django's settings. Raises `Misconfigured` for a rate that cannot be read."""
        return cls(
            base_url=settings.UPSTREAM_BASE_URL.rstrip("/"),
            secret_id=settings.UPSTREAM_SECRET_ID,
            secret_key=settings.UPSTREAM_SECRET_KEY,
            redis_url=settings.REDIS_URL,
            connect_timeout=settings.UPSTREAM_CONNECT_TIMEOUT,
            read_timeout=settings.UPSTREAM_READ_TIMEOUT,
            account_rate=Rate.parse(settings.UPSTREAM_ACCOUNT_RATE),
            ip_rate=Rate.parse(settings.UPSTREAM_IP_RATE),
            products_rate=Rate.parse(settings.UPSTREAM_PRODUCTS_RATE),
            interactive_wait=settings.UPSTREAM_INTERACTIVE_WAIT,
            counts_within=settings.UPSTREAM_COUNTS_WITHIN_SECONDS,
            redis_timeout=settings.REDIS_SOCKET_TIMEOUT,
            redis_connect_timeout=settings.REDIS_CONNECT_TIMEOUT,
        )

    @property
    def account_hash(self) -> str:
        """The account's name in Redis, which does not show its Secret ID."""
        return sha256(f"{self.base_url}\n{self.secret_id}".encode()).hexdigest()[:16]

    def rate(self, limit: Limit) -> Rate:
        """The rate configured for one of the three limits."""
        return {Limit.ACCOUNT: self.account_rate, Limit.IP: self.ip_rate, Limit.PRODUCTS: self.products_rate}[limit]

    def check(self) -> None:
        """Raise `Misconfigured` unless a request may be sent: the credentials are set and the address is safe.

        The signature is as good as a password, so plain http may go only to this machine itself.
        """
        for name, value in (
            ("UPSTREAM_BASE_URL", self.base_url),
            ("UPSTREAM_SECRET_ID", self.secret_id),
            ("UPSTREAM_SECRET_KEY", self.secret_key),
        ):
            if not value:
                raise Misconfigured(f"{name} is not set")
        if self.connect_timeout <= 0 or self.read_timeout <= 0:
            raise Misconfigured("UPSTREAM_CONNECT_TIMEOUT and UPSTREAM_READ_TIMEOUT must be positive")
        if not is_safe_address(self.base_url):
            raise Misconfigured(
                "UPSTREAM_BASE_URL must be https:// (http:// only to this machine), without query or login"
            )


def is_safe_address(base_url: str) -> bool:
    """Whether a signature may be sent there: https, or http to this machine; no login, query or fragment."""
    try:
        url = urlsplit(base_url)
        port_is_fine = url.port is None or url.port > 0
    except ValueError:
        return False
    if not url.hostname or url.username is not None or url.query or url.fragment or not port_is_fine:
        return False
    return url.scheme == "https" or (url.scheme == "http" and is_loopback(url.hostname))


def is_loopback(host: str) -> bool:
    """Whether this host name or address is this machine itself."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
