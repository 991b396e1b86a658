"""The browser features that every answer forbids."""

import pytest
from django.test import Client


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/accounts/login/", "/", "/no-such-page/"])
def test_no_page_may_use_camera_or_place_or_be_embedded(path):
    headers = Client().get(path).headers

    policy = headers["Permissions-Policy"].split(", ")
    assert {"camera=()", "microphone=()", "geolocation=()", "payment=()"} <= set(policy)
    assert "publickey-credentials-get=(self)" in policy, "passkeys"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert headers["X-Frame-Options"] == "DENY"
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
