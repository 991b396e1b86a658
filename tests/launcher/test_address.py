"""The address that `./run` prints when it is ready is the one that people type."""

from pathlib import Path

import pytest

from launcher.project import Project
from launcher.serving import address_of_pages

REAL = {"UPSTREAM_BASE_URL": "https://upstream.example.com", "ALLOWED_HOSTS": ".shop.example.com,localhost"}


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ({}, "http://localhost:8001"),
        (REAL, "https://shop.example.com"),
        ({**REAL, "SITE_URL": "https://shop.example.com:8443/"}, "https://shop.example.com:8443"),
    ],
)
def test_the_address_is_that_of_the_site(given: dict[str, str], address: str) -> None:
    assert address_of_pages(Project(Path("/nowhere"), given), 8001) == address
