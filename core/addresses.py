"""The client's address, as the trusted proxies saw it, and our own, as others reach it."""

import ipaddress
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest

# An IPv6 line has a whole network of this size: its owner may call from any address in it.
_IPV6_LINE = 64
# A proxy sends at least one of these, unless it is told to send none.
_FORWARDED = ("X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "X-Real-IP", "Forwarded", "Via")


def address_of(request: HttpRequest) -> str:
    """The client's address; "" only where even the connection has none.

    Each of TRUSTED_PROXY_COUNT proxies appends the address that it saw to X-Forwarded-For. The client itself wrote
    everything further left. With fewer parts than proxies the request came around them, and only the peer counts.
    """
    return address_from(request.headers.get("X-Forwarded-For", ""), peer=request.META.get("REMOTE_ADDR", ""))


def address_from(forwarded: str, *, peer: str) -> str:
    """The client's address by the header X-Forwarded-For and the address of the connection.

    For an entry that is not an address ("unknown") the next trusted hop counts, in the end the peer: such clients
    share the counters of their own proxy, not one counter for all proxies.
    """
    hops = [part.strip() for part in forwarded.split(",") if part.strip()]
    count = settings.TRUSTED_PROXY_COUNT
    trusted = hops[-count:] if 0 < count <= len(hops) else []
    return next((address for hop in (*trusted, peer) if (address := _plain(hop))), "")


def _plain(written: str) -> str:
    """The address without what proxies write around it: quotes, a port or a zone; "" if it is invalid.

    They write `203.0.113.7:4711`, `[2001:db8::7]:4711`, `"[2001:db8::7]"`, `fe80::7%eth0`.
    """
    text = written.strip(' "')
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return ""
    mapped = getattr(address, "ipv4_mapped", None)
    return str(mapped or address)


def is_from_this_machine(request: HttpRequest) -> bool:
    """Whether a program on this machine asks for itself; a proxy on this machine asks for strangers.

    False with a trusted proxy in front, because some proxies do not say that they ask for somebody else.
    """
    is_forwarded = settings.TRUSTED_PROXY_COUNT or any(name in request.headers for name in _FORWARDED)
    try:
        return not is_forwarded and ipaddress.ip_address(request.META.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:
        return False


def line_of(address: str) -> str:
    """The line that an address belongs to: an IPv4 address by itself, an IPv6 address's network of /64."""
    if ":" not in address:
        return address
    return str(ipaddress.ip_network((address.partition("%")[0], _IPV6_LINE), strict=False))


def host_of(request: HttpRequest) -> str:
    """The host that people type, without the port: that of SITE_URL, else of the request (ALLOWED_HOSTS names it)."""
    return urlsplit(settings.SITE_URL).hostname or request.get_host().partition(":")[0].lower()


def site_of(request: HttpRequest) -> str:
    """The address of our pages for others, without a slash at its end: from SITE_URL, the request or ALLOWED_HOSTS.

    The first of them that the internet can reach; else the request's, as with a tunnel to this machine.
    """
    typed = request.build_absolute_uri("/").rstrip("/")
    # with TLS a proxy listens on the usual port; in a trial without TLS the pages' own port counts
    form = "https://{}" if settings.HTTPS else typed.replace(request.get_host().partition(":")[0], "{}", 1)
    named = [form.format(host) for host in settings.ALLOWED_HOSTS if not host.startswith((".", "*"))]
    sites = [site for site in (settings.SITE_URL.rstrip("/"), typed, *named) if site]
    return next((site for site in sites if is_public(site)), typed)


def is_of_this_machine(site: str) -> bool:
    """Whether the address opens on this machine alone, such as http://localhost:8000."""
    host = urlsplit(site).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def is_public(site: str) -> bool:
    """Whether others may reach this address: not a name or an address of this machine, or of a private network."""
    host = urlsplit(site).hostname or ""
    try:
        return ipaddress.ip_address(host).is_global
    except ValueError:
        return "." in host and not host.endswith((".localhost", ".local", ".internal", ".lan"))
