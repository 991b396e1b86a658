"""Only at a till, a person takes over by PIN: a new session begins, and every order has the right name."""

import datetime as dt
import re

import pytest
from django.conf import settings
from django.test import Client

from audit.models import AuditEvent
from core import clock
from purchases.models import Order
from staff.models import Session, User
from testing.factories import make_product
from testing.orders import NUMBER, confirm, review
from testing.people import make_person
from tests.core.helpers import codes, has_id, hidden
from tests.gateway.helpers import read_balance
from tests.tills.helpers import PIN, WRONG, take_over, till_browser, who_is_at, with_pin
from tills.models import Till

pytestmark = pytest.mark.django_db


def session_of(browser: Client) -> str:
    return browser.cookies[settings.SESSION_COOKIE_NAME].value


def token_in(page) -> str:
    return re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.content.decode())[1]


def strict_browser() -> Client:
    """A till's browser that sends form tokens, as real browsers must."""
    browser = Client(enforce_csrf_checks=True)
    browser.cookies.update(till_browser().cookies)
    return browser


def take_over_strictly(browser: Client, person: User) -> None:
    fields = {"person": person.pk, "pin": PIN, "csrfmiddlewaretoken": token_in(browser.get("/till/"))}
    assert browser.post("/till/", fields).status_code == 302


def test_the_right_pin_alone_signs_in_at_the_till_until_it_is_locked():
    browser, person = till_browser(), with_pin()
    with_pin(username="gone", is_active=False)
    make_person("cashier", username="without")
    assert browser.get("/orders/")["Location"] == "/till/"
    assert browser.get("/accounts/login/").status_code == 200
    assert browser.get("/till/").context["people"] == [person], "who has a PIN and may sign in"

    assert codes(take_over(browser, person, WRONG)) == {"WrongPin"}
    assert who_is_at(browser) == ""
    assert AuditEvent.objects.filter(kind="pin_failed", subject=person.username).exists()
    assert WRONG not in str(AuditEvent.objects.values())

    assert take_over(browser, person)["Location"] == "/"
    assert who_is_at(browser) == person.username
    assert Till.objects.get().held_by == person
    event = AuditEvent.objects.get(kind="pin_sign_in")
    assert (event.person, event.subject) == (person, "Kasir 1")

    assert browser.post("/till/lock/")["Location"] == "/till/"
    assert who_is_at(browser) == ""
    assert Till.objects.get().held_by is None
    assert not Session.objects.filter(person=person).exists()
    User.objects.filter(pk=person.pk).update(is_active=False)
    assert codes(take_over(browser, person)) == {"WrongPin"}


def test_a_pin_counts_nowhere_else(settings):
    settings.ALLOWED_HOSTS = ["one.example", "two.example", "testserver"]
    till, person = till_browser(), with_pin()
    assert Client().get("/orders/")["Location"].startswith("/accounts/login/")
    for value in ("", "forged", "forged:signature"):
        browser = Client()
        if value:
            browser.cookies["till"] = value

        take_over(browser, person)

        assert who_is_at(browser) == "", value

    page = till.post("/till/", {"person": person.pk, "pin": PIN}, headers={"host": "two.example"})
    assert page.status_code == 200, "the cookie counts on no other host name"
    assert Till.objects.get().guesses == 0


def test_a_take_over_begins_a_new_session_and_ends_the_one_before():
    browser, ani, budi = till_browser(), with_pin(username="ani"), with_pin(username="budi")
    browser.get("/till/")
    session = browser.session
    session["planted"] = "yes"
    session.save()
    planted = session.session_key
    browser.cookies[settings.SESSION_COOKIE_NAME] = planted

    take_over(browser, ani)
    before = session_of(browser)
    assert before != planted
    assert "planted" not in browser.session

    take_over(browser, budi)
    assert session_of(browser) != before
    assert [session.person for session in Session.objects.filter(person__isnull=False)] == [budi]
    assert who_is_at(browser) == "budi"


def test_a_form_of_the_person_before_buys_nothing_and_the_next_one_buys_for_who_took_over():
    product = make_product(price=10_500)
    read_balance(1_000_000)
    ani, budi = with_pin(username="ani"), with_pin(username="budi")
    browser = strict_browser()
    take_over_strictly(browser, ani)
    page = review(browser, product)
    filled = {**hidden(page), "csrfmiddlewaretoken": token_in(page)}
    take_over_strictly(browser, budi)

    answer = confirm(browser, product, filled)

    assert answer.status_code == 403
    assert has_id(answer, "fault-taken-over")
    assert not Order.objects.exists()

    page = review(browser, product)
    confirm(browser, product, {**hidden(page), "csrfmiddlewaretoken": token_in(page)})
    assert Order.objects.get().placed_by == budi
    assert Order.objects.get().destination == NUMBER


@pytest.mark.parametrize(("how", "message"), [("locked", "signed_out"), ("idle", "because-unsent")])
def test_a_form_sent_after_the_till_was_locked_buys_nothing_and_says_so_once(how, message):
    product = make_product(price=10_500)
    read_balance(1_000_000)
    ani, browser = with_pin(), till_browser()
    take_over(browser, ani)
    filled = hidden(review(browser, product))
    if how == "locked":
        browser.post("/till/lock/")
    else:
        Till.objects.update(active_at=clock.now() - dt.timedelta(hours=1))

    page = browser.get(confirm(browser, product, filled)["Location"])

    assert has_id(page, "till-name")
    messages = re.findall(r'<div class="(?:toast-note|note)\b[^>]*(?:data-code|id)="([\w-]+)"', page.content.decode())
    assert messages == [message]
    assert not Order.objects.exists()


def test_a_password_at_a_till_is_a_full_session_and_lets_go():
    browser, person = till_browser(), with_pin()
    take_over(browser, person)
    make_person("cashier", username="kas")
    Till.objects.update(held_by=person)
    browser.cookies.pop(settings.SESSION_COOKIE_NAME)

    browser.post("/accounts/login/", {"login": "kas", "password": "secret-words"})

    assert who_is_at(browser) == "kas"
    assert not browser.get("/").context["user"].by_pin
    assert Till.objects.get().held_by is None


def test_asking_for_more_leads_to_the_sign_in_page_and_signing_out_to_the_lock_screen():
    browser, person = till_browser(), with_pin()
    take_over(browser, person)
    assert browser.post("/accounts/logout/")["Location"] == "/till/"
    take_over(browser, person)

    ours = browser.post("/till/lock/", {"more": "1", "page": "/orders/?q=1"})
    others = browser.post("/till/lock/", {"more": "1", "page": "//evil.example/"})

    assert ours["Location"] == "/accounts/login/?next=/orders/%3Fq%3D1"
    assert others["Location"] == "/accounts/login/"


def test_a_take_over_takes_few_queries(django_assert_max_num_queries):
    browser, person = till_browser(), with_pin()
    browser.get("/till/")

    with django_assert_max_num_queries(10):
        browser.get("/till/")
    with django_assert_max_num_queries(30):
        take_over(browser, person)
