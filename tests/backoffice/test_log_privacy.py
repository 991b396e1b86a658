"""A report of a fault never holds the query of an address, which may be the token of a link."""

import io
import json
from typing import Any
from unittest import mock

import pytest
import sentry_sdk
from django.test import Client
from sentry_sdk.integrations.wsgi import SentryWsgiMiddleware
from sentry_sdk.transport import Transport

from backoffice.log_privacy import without_query_in_report


class Kept(Transport):
    """Keeps the reports that would be sent."""

    def __init__(self, options: Any = None) -> None:
        super().__init__(options)
        self.sent: list[bytes] = []

    def capture_envelope(self, envelope: Any) -> None:
        self.sent.append(envelope.serialize())


def broken(_environ, _start):
    raise RuntimeError("broken")


def report_of(query: str) -> str:
    """The report of a page that failed, opened with this query."""
    transport = Kept()
    options: dict[str, Any] = {"include_local_variables": False, "before_send": without_query_in_report}
    client = sentry_sdk.Client(
        dsn="http://key@127.0.0.1:9/1", transport=transport, default_integrations=False, **options
    )
    address = f"http://shop.example/accounts/link/?{query}"
    environ = {"REQUEST_METHOD": "GET", "PATH_INFO": "/accounts/link/", "QUERY_STRING": query, "HTTP_REFERER": address}
    environ |= {"HTTP_HOST": "shop.example", "wsgi.url_scheme": "http", "wsgi.input": io.BytesIO()}
    with mock.patch.object(sentry_sdk.get_global_scope(), "client", client), pytest.raises(RuntimeError):
        SentryWsgiMiddleware(broken)(environ, lambda *_: None)
    return b"\n".join(transport.sent).decode()


def test_a_report_holds_the_page_without_its_query():
    report = report_of("link=secret-token")

    assert "http://shop.example/accounts/link/" in report
    assert "secret-token" not in report
    assert json.loads(report.splitlines()[-1])["request"]["headers"]["Referer"].endswith("/link/")


@pytest.mark.django_db
def test_a_wrong_host_costs_one_line_without_traceback(caplog):
    assert Client().get("/", headers={"host": "elsewhere.example"}).status_code == 400

    assert [(line.name, line.exc_info) for line in caplog.records] == [("django.security.DisallowedHost", None)]
