"""Callbacks through a real web server."""

from collections.abc import Iterator

import pytest
import requests

from callbacks.models import Callback
from purchases.states import Status
from testing.callbacks import body_for, sign
from testing.factories import make_order
from testing.fleet import Fleet

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module")
def url(django_db_setup: None) -> Iterator[str]:
    """The callback address of a real web process."""
    fleet = Fleet()
    try:
        fleet.start("web")
        yield f"{fleet.url}/callbacks/upstream/"
    finally:
        fleet.kill_all()


def test_a_chunked_callback_is_stored_and_one_too_large_refused(url: str):
    body = body_for(make_order(Status.PENDING))
    headers = {"Content-Type": "application/json", "X-Signature": sign(body), "X-Delivery-Id": "d-1"}

    stored = requests.post(url, data=iter([body[:50], body[50:]]), headers=headers, timeout=20)
    too_large = requests.post(url, data=iter([b" " * 40_000] * 2), headers=headers, timeout=20)

    assert stored.status_code == 200
    assert bytes(Callback.objects.get().body) == body
    assert too_large.status_code == 413


@pytest.mark.parametrize("parameter", ["charset*=nonsense''a", "charset*=utf-8''%00"])
def test_a_content_type_that_django_cannot_read_is_415(url: str, parameter: str):
    headers = {"Content-Type": f"application/json; {parameter}"}

    assert requests.post(url, data=b"{}", headers=headers, timeout=20).status_code == 415


def test_the_connection_stays_open_for_the_next_callback(url: str):
    body = body_for(make_order(Status.PENDING))
    headers = {"Content-Type": "application/json", "X-Signature": sign(body), "X-Delivery-Id": "d-1"}

    with requests.Session() as sender:
        answers = [sender.post(url, data=body, headers=headers, timeout=20) for _ in range(2)]
        refused = sender.post(url, data=b"{}", headers=headers, timeout=20)

    assert [answer.status_code for answer in (*answers, refused)] == [200, 200, 403]
    assert {answer.headers.get("Connection") for answer in (*answers, refused)} == {None}
