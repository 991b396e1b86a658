"""The rates and addresses that the configuration accepts."""

import pytest

from tests.upstream.scripted_upstream import MakeConfig
from upstream.config import Rate
from upstream.errors import Misconfigured


@pytest.mark.parametrize(
    ("base_url", "safe"),
    [
        ("https://api.example.com", True),
        ("https://api.example.com:8443/gateway", True),
        ("http://localhost:8001", True),
        ("http://127.8.0.1", True),
        ("http://[::1]:8001", True),
        ("http://10.0.0.1", False),
    ],
)
def test_plain_http_is_for_this_machine_only(make_config: MakeConfig, base_url: str, safe: bool) -> None:
    config = make_config(base_url=base_url)
    if safe:
        config.check()
    else:
        with pytest.raises(Misconfigured):
            config.check()


@pytest.mark.parametrize("text", ["", "120", "120/day", "0/minute", "-1/minute", "1.5/second", "x/minute", "²/minute"])
def test_a_rate_that_cannot_be_read_is_misconfigured(text: str) -> None:
    with pytest.raises(Misconfigured):
        Rate.parse(text)
