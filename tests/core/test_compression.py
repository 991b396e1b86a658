"""Pages, CSV and JSON go compressed to a browser that accepts it; compressed files go as they are."""

import gzip
import json
import re

import pytest
from django.http import StreamingHttpResponse
from django.test import Client, RequestFactory

from core.compression import CompressionMiddleware
from purchases.states import Status
from testing.factories import make_order
from testing.people import make_person

pytestmark = pytest.mark.django_db

GZIP = {"Accept-Encoding": "gzip, deflate, br"}


def test_a_list_of_fifty_weighs_little(cashier):
    for _ in range(50):
        make_order(Status.SUCCESS)

    plain, packed = cashier.get("/orders/"), cashier.get("/orders/", headers=GZIP)

    assert plain.content.count(b"<tr") > 50
    assert "Content-Encoding" not in plain
    assert packed["Content-Encoding"] == "gzip"
    assert int(packed["Content-Length"]) == len(packed.content) <= 15_000
    assert b"</html>" in gzip.decompress(packed.content)
    assert "Accept-Encoding" in plain["Vary"]


def test_a_csv_streams_compressed(auditor):
    plain, packed = auditor.get("/audit/csv/"), auditor.get("/audit/csv/", headers=GZIP)

    assert (packed.streaming, packed["Content-Encoding"]) == (True, "gzip")
    assert gzip.decompress(packed.getvalue()).startswith(plain.getvalue())  # then: that a file was made


def test_a_long_csv_is_compressed_while_it_is_read():
    read = 0

    def blocks():
        nonlocal read
        for number in range(1000):
            read += 1
            yield f"{number * 7919 % 1009},".encode() * 1000

    answer = StreamingHttpResponse(blocks(), content_type="text/csv; charset=utf-8")
    packed = CompressionMiddleware(lambda _request: answer)(RequestFactory().get("/", headers=GZIP))
    chunks = iter(packed)  # type: ignore[arg-type]
    next(chunks)
    next(chunks)

    assert read < 1000


def test_json_is_compressed(admin):
    order = make_order(Status.SUCCESS)

    story = admin.get(f"/orders/{order.ref_id}/story.json", headers=GZIP)

    assert story["Content-Encoding"] == "gzip"
    assert json.loads(gzip.decompress(story.content))


def test_what_is_compressed_already_stays():
    for media_type in ("image/png", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"):
        answer = StreamingHttpResponse([b"x" * 5000], content_type=media_type, headers={"Content-Length": "5000"})

        packed = CompressionMiddleware(lambda _request, answer=answer: answer)(RequestFactory().get("/", headers=GZIP))

        assert (packed.get("Content-Encoding"), packed["Content-Length"]) == (None, "5000"), media_type


def test_the_same_answer_has_many_lengths():
    """So its length tells an attacker nothing about a secret beside a text that the attacker can choose."""
    answers = (StreamingHttpResponse([b"secret " * 100], content_type="text/html") for _ in range(20))
    middleware = CompressionMiddleware(lambda _request: next(answers))

    lengths = {len(middleware(RequestFactory().get("/", headers=GZIP)).getvalue()) for _ in range(20)}

    assert len(lengths) > 1


def test_no_form_shows_the_same_token_twice(cashier):
    tokens = [re.findall(r'csrfmiddlewaretoken" value="(\w+)"', cashier.get("/me/").content.decode()) for _ in range(2)]

    assert tokens[0]
    assert not set(tokens[0]) & set(tokens[1])


def test_no_stranger_has_a_page_fetched_for_somebody():
    make_person("cashier")
    client = Client()

    client.post("/accounts/login/", {"login": "cashier", "password": "secret-words"})

    assert "sessionid" in client.cookies
    assert {cookie["samesite"] for cookie in client.cookies.values()} <= {"Lax", "Strict"}
