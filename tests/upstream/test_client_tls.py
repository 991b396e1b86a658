"""A request goes to the upstream itself: its certificate is checked, and nothing in the environment changes that."""

import pytest

from tests.upstream.helpers import bought, buy, unknown_reason
from tests.upstream.scripted_upstream import CERTIFICATE, MakeClient, MakeUpstream, ScriptedUpstream, tls_context
from upstream.client import Client
from upstream.errors import Unavailable


def test_an_untrusted_certificate_gets_no_request_whatever_the_environment_says(
    scripted_upstream: MakeUpstream, make_client: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = scripted_upstream(tls=tls_context())

    for variable in ("", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"):
        with monkeypatch.context() as patch:
            if variable:
                patch.setenv(variable, str(CERTIFICATE))
            with pytest.raises(Unavailable, match=r"^connect$"):
                buy(make_client(base_url=server.url))

    assert server.connections == 4
    assert server.requests == []


def test_a_trusted_certificate_is_accepted_and_one_of_another_host_gets_no_request(
    scripted_upstream: MakeUpstream, make_client: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("requests.adapters.DEFAULT_CA_BUNDLE_PATH", str(CERTIFICATE))
    server = scripted_upstream(tls=tls_context())
    server.answers(200, bought())

    with pytest.raises(Unavailable):
        buy(make_client(base_url=f"https://127.0.0.2:{server.port}"))
    assert server.requests == []

    assert buy(make_client(base_url=server.url)).data.trx_id == "T1"


def test_the_environment_cannot_set_a_proxy(
    upstream: ScriptedUpstream, scripted_upstream: MakeUpstream, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = scripted_upstream()
    monkeypatch.setenv("http_proxy", proxy.url)
    monkeypatch.setenv("all_proxy", proxy.url)
    upstream.answers(200, bought())

    assert buy(client).data.trx_id == "T1"
    assert proxy.connections == 0


def test_a_redirect_is_not_followed(
    upstream: ScriptedUpstream, scripted_upstream: MakeUpstream, client: Client
) -> None:
    elsewhere = scripted_upstream()
    for status in (301, 302, 307, 308):
        upstream.answers(status, b"", headers=f"Location: {elsewhere.url}/v1/transaction/create\r\n")

        assert unknown_reason(client) == f"malformed: http_{status}"
        assert elsewhere.connections == 0, status
