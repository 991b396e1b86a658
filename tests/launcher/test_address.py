"""`./run` prints an address that works when it is ready, and says what the address needs."""

from pathlib import Path

from launcher.project import Project
from launcher.serving import about_the_proxy, address_of_pages, site_of_a_trial

PORT = 8001
REAL = {"UPSTREAM_BASE_URL": "https://upstream.example.com", "ALLOWED_HOSTS": ".shop.example.com,localhost"}
PROXY = {"BEHIND_TLS_PROXY": "1", "TRUSTED_PROXY_COUNT": "1"}
SITE = {"SITE_URL": "https://till.example.com:8443/"}
PLAIN = {"HTTPS": "0"}  # accepted only with an upstream on this machine
# the proxy: nothing to say, it must forward, the setting must name it first
NONE, FORWARDS, NOT_YET = "", "forwards", "BEHIND_TLS_PROXY=1"


def test_the_address_is_the_one_that_works() -> None:
    for given, address, proxy in [
        ({}, "http://localhost:8001", NONE),
        ({"ALLOWED_HOSTS": "*"}, "http://localhost:8001", NONE),
        ({"ALLOWED_HOSTS": "till.lan"}, "http://till.lan:8001", NONE),
        ({"SITE_URL": "http://till.lan:8000"}, "http://till.lan:8001", NONE),
        ({"SITE_URL": "http://till.lan", "TRUSTED_PROXY_COUNT": "1"}, "http://till.lan", NONE),
        ({**SITE, **PROXY}, "https://till.example.com:8443", FORWARDS),
        ({"HTTPS": "1"}, "https://localhost", NOT_YET),
        (REAL, "https://shop.example.com", NOT_YET),
        ({**REAL, **SITE}, "https://till.example.com:8443", NOT_YET),
        ({**REAL, **PROXY}, "https://shop.example.com", FORWARDS),
        ({**REAL, **SITE, **PROXY}, "https://till.example.com:8443", FORWARDS),
        ({**REAL, **PLAIN}, "http://shop.example.com:8001", NONE),
        ({**REAL, **PLAIN, **PROXY}, "https://shop.example.com", FORWARDS),
        ({**REAL, "DEBUG": "true"}, "http://shop.example.com:8001", NONE),
    ]:
        project = Project(Path("/nowhere"), given)

        said = about_the_proxy(project, f"http://127.0.0.1:{PORT}")

        assert address_of_pages(project, PORT) == address, given
        assert bool(said) is bool(proxy), given
        assert proxy in said
        assert (NOT_YET in said) is (proxy == NOT_YET), given


def test_links_of_a_trial_lead_to_the_address_that_is_printed() -> None:
    plain = {**REAL, **PLAIN}
    for given, site in [({}, ""), (REAL, ""), ({**REAL, **PROXY}, ""), (plain, "http://shop.example.com:8001")]:
        project = Project(Path("/nowhere"), given)

        assert site_of_a_trial(project, address_of_pages(project, PORT)) == site
