"""Callbacks as a real web server hands them on."""

import requests

from callbacks.models import Callback
from purchases.states import Status
from tests.callbacks.helpers import body_for, sign
from tests.conftest import Upstream
from tests.factories import make_order
from tests.fleet import Fleet


def test_a_chunked_callback_is_stored_and_one_too_large_refused(upstream: Upstream):
    fleet = Fleet()
    fleet.start("web")
    try:
        body = body_for(make_order(Status.PENDING))
        url = f"{fleet.url}/callbacks/upstream/"
        headers = {"Content-Type": "application/json", "X-Signature": sign(body), "X-Delivery-Id": "d-1"}

        stored = requests.post(url, data=iter([body[:50], body[50:]]), headers=headers, timeout=20)
        too_large = requests.post(url, data=iter([b" " * 40_000] * 2), headers=headers, timeout=20)
    finally:
        fleet.kill_all()

    assert stored.status_code == 200
    assert bytes(Callback.objects.get().body) == body
    assert too_large.status_code == 413
