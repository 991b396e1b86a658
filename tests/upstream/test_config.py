"""The rates and addresses that the configuration accepts."""

import pytest

from tests.upstream.scripted_upstream import MakeConfig
from upstream.config import Rate
from upstream.errors import Misconfigured


def test_plain_http_is_for_this_machine_only(make_config: MakeConfig) -> None:
    for base_url in (
        "https://api.example.com",
        "https://api.example.com:8443/gateway",
        "http://localhost:8001",
        "http://127.8.0.1",
        "http://[::1]:8001",
    ):
        make_config(base_url=base_url).check()
    with pytest.raises(Misconfigured):
        make_config(base_url="http://10.0.0.1").check()


def test_a_rate_that_cannot_be_read_is_misconfigured() -> None:
    for text in ("", "120", "120/day", "0/minute", "-1/minute", "1.5/second", "x/minute", "²/minute"):
        with pytest.raises(Misconfigured):
            pytest.fail(f"{text}: {Rate.parse(text)}")
