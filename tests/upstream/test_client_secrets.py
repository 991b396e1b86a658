"""Keys and signatures leave the client only in the request: not in logs, errors or stored rows."""

import logging
from collections.abc import Callable, Iterator

import pytest
from structlog.testing import capture_logs

from tests.upstream.helpers import TRANSACTION, buy
from tests.upstream.scripted_upstream import ScriptedUpstream, cut, signature_of
from upstream.client import Client
from upstream.config import Config
from upstream.errors import OutcomeUnknown, UpstreamError


@pytest.fixture
def everything_logged(caplog: pytest.LogCaptureFixture) -> Iterator[Callable[[], str]]:
    caplog.set_level(logging.DEBUG)
    with capture_logs() as entries:
        yield lambda: f"{entries}{caplog.text}"


def test_secrets_never_reach_logs_errors_or_what_is_stored(
    upstream: ScriptedUpstream, client: Client, everything_logged: Callable[[], str]
) -> None:
    signature = signature_of(client, "R1")
    echo = f"signature {signature} made with {client.config.secret_key} is wrong"
    shown = []
    for status, error_code in ((200, None), (400, "INVALID_REQUEST"), (401, "INVALID_SIGNATURE"), (500, None)):
        answer = {"code": status, "status": "success" if status == 200 else "error", "error_code": error_code}
        answer |= {"message": echo, "data": {**TRANSACTION, "message": echo}, signature: echo}
        upstream.answers(status, answer)
        try:
            shown.append(repr(buy(client)))
        except UpstreamError as error:
            shown.append(f"{error} {error!r} {error.__dict__} {error.__context__}")

    upstream.behaviour = lambda connection, _: cut(connection) or False
    with pytest.raises(OutcomeUnknown) as caught:
        buy(client)
    shown.append(f"{caught.value!r} {caught.value.__cause__!r} {caught.value.__context__!r}")

    assert len(shown) == 5
    for secret in (signature, client.config.secret_key):
        assert secret not in f"{shown}{everything_logged()}{client.config!r}"


def test_config_shows_neither_the_key_nor_the_password_of_redis() -> None:
    config = Config("https://x", "id", "key-of-the-shop", "redis://:word-of-redis@h/0")

    assert "key-of-the-shop" not in repr(config)
    assert "word-of-redis" not in repr(config)
