"""While PostgreSQL is away a page says what that means for the money, and tries again by itself."""

import html
import re
import uuid

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import BadRequest, PermissionDenied
from django.db import OperationalError, connection
from django.http import Http404
from django.test import Client, RequestFactory
from psycopg import errors

from backoffice import faults
from counter.views import confirming
from purchases.models import Order
from purchases.states import Status
from testing.callbacks import body_for, post
from testing.factories import make_order, make_product
from testing.people import browser_of
from tests.core.helpers import has_id

pytestmark = pytest.mark.django_db

SEND = "/counter/send/"


@pytest.fixture
def shop() -> Client:
    make_product(code="TSEL10")
    client = browser_of("cashier")
    client.raise_request_exception = False
    return client


def no_connection(*_args, **_kwargs):
    raise OperationalError("connection refused") from errors.OperationalError("connection refused")


def away(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr(connection, "cursor", no_connection)
    return monkeypatch


def purchase() -> dict[str, str]:
    return {
        "product": "TSEL10",
        "destination": "081234567890",
        "price": "10500",
        "token": str(uuid.uuid4()),
        "confirm": "1",
    }


def outcome(page: str) -> str:
    return re.search(r'data-outcome="(\w*)"', page)[1]


def fields(page: str) -> dict[str, str]:
    pairs = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', page)
    return {name: html.unescape(value) for name, value in pairs}


def test_a_purchase_answers_503_with_its_form_to_send_again(shop, monkeypatch):
    form = purchase()
    with monkeypatch.context() as patch:
        away(patch)
        answer = shop.post(SEND, form)
    page = answer.content.decode()

    assert (answer.status_code, answer["Retry-After"], answer["Cache-Control"]) == (503, "5", "no-store")
    assert outcome(page) == "nothing"
    assert fields(page) == form
    assert not Order.objects.exists()

    assert shop.post(SEND, fields(page)).status_code == 302
    assert Order.objects.count() == 1


def test_a_purchase_cut_off_after_it_was_stored_is_one_order(shop, monkeypatch):
    real = confirming.services.place_order

    def stored_then_cut_off(**facts):
        real(**facts)
        no_connection()

    with monkeypatch.context() as patch:
        patch.setattr(confirming.services, "place_order", stored_then_cut_off)
        answer = shop.post(SEND, purchase())
    page = answer.content.decode()

    assert (answer.status_code, outcome(page)) == (503, "unknown")
    assert shop.post(SEND, fields(page)).status_code == 302
    assert Order.objects.count() == 1


def test_each_page_about_a_fault_needs_no_database(monkeypatch):
    request = RequestFactory().post("/me/", headers={"Accept-Language": "id"})
    request.user = AnonymousUser()
    away(monkeypatch)
    for handler, why, name in (
        (faults.bad_request, BadRequest(), "no-sense"),
        (faults.forbidden, PermissionDenied(), "no-access"),
        (faults.not_found, Http404(), "nothing-here"),
        (faults.form_expired, "no cookie", "form-expired"),
    ):
        page = handler(request, why).content.decode()

        assert f'id="fault-{name}"' in page
        assert '<html lang="id"' in page


def test_a_page_loads_itself_again_and_a_wrong_address_is_a_404(shop, monkeypatch):
    stranger = Client(raise_request_exception=False)
    with monkeypatch.context() as patch:
        away(patch)
        page = shop.get("/orders/")
        wrong = [client.get("/no/such/page/") for client in (shop, stranger)]

    assert page.status_code == 503
    assert '<meta http-equiv="refresh" content="5">' in page.content.decode()
    assert shop.get("/orders/").status_code == 200
    assert [(answer.status_code, has_id(answer, "fault-nothing-here")) for answer in wrong] == [(404, True)] * 2
    assert wrong[1].headers["Cache-Control"] == "no-store"


def test_no_password_comes_back_on_the_page(monkeypatch):
    client = Client(raise_request_exception=False)
    away(monkeypatch)

    answer = client.post("/accounts/login/", {"login": "cashier", "password": "secret-words"})

    assert answer.status_code == 503
    assert "secret-words" not in answer.content.decode()
    assert 'method="post"' not in answer.content.decode()


def test_a_callback_is_refused_so_that_it_comes_again_and_is_logged_as_that(monkeypatch, caplog):
    body = body_for(make_order(Status.PENDING))
    away(monkeypatch)

    answer = post(body)

    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert [(record.levelname, record.getMessage(), record.exc_info) for record in caplog.records] == [
        ("WARNING", "callback not stored: the database is away", None)
    ]


def test_a_statement_that_takes_too_long_is_a_fault_of_ours(shop, monkeypatch):
    def too_slow(**_facts):
        raise OperationalError from errors.QueryCanceled()

    monkeypatch.setattr(confirming.services, "place_order", too_slow)

    assert shop.post(SEND, purchase()).status_code == 500
