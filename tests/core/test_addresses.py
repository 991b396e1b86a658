"""The client's address, as the trusted proxies saw it; and our own address, as others know it."""

import pytest
from django.test import RequestFactory

from core.addresses import address_of, is_of_this_machine, line_of, site_of


def request(peer: str, forwarded: str = ""):
    headers = {"X-Forwarded-For": forwarded} if forwarded else {}
    return RequestFactory().get("/", REMOTE_ADDR=peer, headers=headers)


@pytest.mark.parametrize(
    ("proxies", "forwarded", "found"),
    [
        (0, "6.6.6.6", "10.0.0.1"),
        (1, "6.6.6.6, 203.0.113.7", "203.0.113.7"),
        (2, "6.6.6.6, 203.0.113.7, 10.0.0.2", "203.0.113.7"),
        (2, "203.0.113.7", "10.0.0.1"),
        (1, "", "10.0.0.1"),
    ],
)
def test_only_what_trusted_proxies_saw_counts(settings, proxies, forwarded, found):
    settings.TRUSTED_PROXY_COUNT = proxies

    assert address_of(request("10.0.0.1", forwarded)) == found


def test_an_address_is_read_however_a_proxy_writes_it(settings):
    settings.TRUSTED_PROXY_COUNT = 1
    for found, ways in {
        "203.0.113.7": ("{}:4711", '"{}:4711"', "[::ffff:{}]:4711", "::ffff:{}"),
        "2001:db8::7": ("{}", "[{}]", "[{}]:4711", '"[{}]:4711"'),
        "fe80::7": ("{}%eth0", "[{}%25eth0]:4711"),
    }.items():
        for written in (way.format(found) for way in ways):
            assert address_of(request("10.0.0.1", f"6.6.6.6, {written}")) == found, written
    assert address_of(request("::ffff:203.0.113.7")) == "203.0.113.7"
    assert address_of(request("")) == ""


def test_what_is_no_address_counts_as_the_next_trusted_hop(settings):
    for written in ("unknown", "_hidden", "[", "[]:80", ":", "1.2.3", "203.0.113.7:80:90"):
        settings.TRUSTED_PROXY_COUNT = 1
        assert address_of(request("10.0.0.1", f"6.6.6.6, {written}")) == "10.0.0.1", written
        settings.TRUSTED_PROXY_COUNT = 2
        assert address_of(request("10.0.0.1", f"6.6.6.6, {written}, 10.0.0.2:80")) == "10.0.0.2", written


def test_an_ipv6_line_is_a_network_of_64_bits():
    assert line_of("2001:db8:1:2:3:4:5:6") == line_of("2001:db8:1:2::9") != line_of("2001:db8:1:3::9")
    assert line_of("203.0.113.7") == "203.0.113.7"


@pytest.mark.parametrize(
    ("site", "hosts", "typed", "expected"),
    [
        ("https://shop.example.com/", ["localhost"], "localhost", "https://shop.example.com"),
        ("", ["shop.example.com"], "shop.example.com", "https://shop.example.com"),
        ("", ["localhost", "shop.example.com"], "localhost", "https://shop.example.com"),
        ("", ["localhost", "shop.example.com"], "localhost:8000", "http://shop.example.com:8000"),
        ("", ["10.0.0.7", ".example.com"], "10.0.0.7:8000", "http://10.0.0.7:8000"),
        ("http://localhost:8000", ["localhost"], "localhost:8000", "http://localhost:8000"),
    ],
)
def test_others_get_the_first_address_that_they_may_reach(settings, site, hosts, typed, expected):
    has_tls = expected.startswith("https:")
    settings.SITE_URL, settings.ALLOWED_HOSTS, settings.HTTPS = site, hosts, has_tls

    assert site_of(RequestFactory().get("/", headers={"host": typed}, secure=has_tls)) == expected


def test_only_names_and_addresses_of_this_machine_are_its_own():
    own = ("http://localhost:8000/x", "http://127.0.0.1", "https://[::1]:8443", "http://shop.localhost")
    others = ("http://192.168.1.5:8000", "https://shop.example.com", "http://till.lan", "")

    assert [*map(is_of_this_machine, (*own, *others))] == [True] * 4 + [False] * 4
