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


def test_the_right_pin_signs_in_at_the_till():
    browser, person = till_browser(), with_pin()

    answer = take_over(browser, person)

    assert answer["Location"] == "/"
    assert who_is_at(browser) == person.username
    assert Till.objects.get().held_by == person
    event = AuditEvent.objects.get(kind="pin_sign_in")
    assert (event.person, event.subject) == (person, "Kasir 1")


def test_the_lock_screen_shows_who_has_a_pin_and_may_sign_in():
    person = with_pin()
    with_pin(username="gone", is_active=False)
    make_person("cashier", username="without")

    assert till_browser().get("/till/").context["people"] == [person]


def test_a_wrong_pin_signs_nobody_in():
    browser, person = till_browser(), with_pin()

    page = take_over(browser, person, WRONG)

    assert codes(page) == {"WrongPin"}
    assert who_is_at(browser) == ""
    assert AuditEvent.objects.filter(kind="pin_failed", subject=person.username).exists()
    assert WRONG not in str(AuditEvent.objects.values())


@pytest.mark.parametrize("cookies", [{}, {"till": "forged"}, {"till": "forged:signature"}])
def test_a_pin_counts_nowhere_else(cookies):
    till_browser()
    person, browser = with_pin(), Client()
    for name, value in cookies.items():
        browser.cookies[name] = value

    take_over(browser, person)

    assert who_is_at(browser) == ""
    assert Till.objects.get().guesses == 0


def test_a_tills_cookie_counts_on_no_other_host_name(settings):
    settings.ALLOWED_HOSTS = ["one.example", "two.example", "testserver"]
    browser, person = till_browser(), with_pin()

    page = browser.post("/till/", {"person": person.pk, "pin": PIN}, headers={"host": "two.example"})

    assert page.status_code == 200
    assert Till.objects.get().guesses == 0


def test_a_switched_off_person_takes_nothing_over():
    browser, person = till_browser(), with_pin()
    User.objects.filter(pk=person.pk).update(is_active=False)

    assert codes(take_over(browser, person)) == {"WrongPin"}


def test_a_take_over_begins_a_new_session_and_ends_the_one_before():
    browser, ani, budi = till_browser(), with_pin(username="ani"), with_pin(username="budi")
    take_over(browser, ani)
    before = session_of(browser)

    take_over(browser, budi)

    assert session_of(browser) != before
    assert [session.person for session in Session.objects.filter(person__isnull=False)] == [budi]
    assert who_is_at(browser) == "budi"


def test_a_session_key_that_was_planted_is_never_used():
    browser, person = till_browser(), with_pin()
    browser.get("/till/")
    session = browser.session
    session["planted"] = "yes"
    session.save()
    planted = session.session_key
    browser.cookies[settings.SESSION_COOKIE_NAME] = planted

    take_over(browser, person)

    assert session_of(browser) != planted
    assert "planted" not in browser.session


def test_the_next_cashier_locks_the_till_at_once():
    browser, person = till_browser(), with_pin()
    take_over(browser, person)

    answer = browser.post("/till/lock/")

    assert answer["Location"] == "/till/"
    assert who_is_at(browser) == ""
    assert Till.objects.get().held_by is None
    assert not Session.objects.filter(person=person).exists()


def test_who_would_have_to_sign_in_sees_the_lock_screen():
    browser = till_browser()

    assert browser.get("/orders/")["Location"] == "/till/"
    assert browser.get("/accounts/login/").status_code == 200
    assert Client().get("/orders/")["Location"].startswith("/accounts/login/")


def test_a_form_of_the_person_before_buys_nothing():
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


def test_an_order_carries_the_name_of_who_took_over():
    product = make_product(price=10_500)
    read_balance(1_000_000)
    ani, budi = with_pin(username="ani"), with_pin(username="budi")
    browser = strict_browser()
    take_over_strictly(browser, ani)
    take_over_strictly(browser, budi)
    page = review(browser, product)

    confirm(browser, product, {**hidden(page), "csrfmiddlewaretoken": token_in(page)})

    assert Order.objects.get().placed_by == budi
    assert Order.objects.get().destination == NUMBER


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


def test_asking_for_more_leads_to_the_sign_in_page_and_back():
    browser, person = till_browser(), with_pin()
    take_over(browser, person)

    ours = browser.post("/till/lock/", {"more": "1", "page": "/orders/?q=1"})
    others = browser.post("/till/lock/", {"more": "1", "page": "//evil.example/"})

    assert ours["Location"] == "/accounts/login/?next=/orders/%3Fq%3D1"
    assert others["Location"] == "/accounts/login/"


def test_signing_out_at_a_till_leaves_the_lock_screen():
    browser, person = till_browser(), with_pin()
    take_over(browser, person)

    assert browser.post("/accounts/logout/")["Location"] == "/till/"


def test_a_take_over_takes_few_queries(django_assert_max_num_queries):
    browser, person = till_browser(), with_pin()
    browser.get("/till/")

    with django_assert_max_num_queries(10):
        browser.get("/till/")
    with django_assert_max_num_queries(30):
        take_over(browser, person)
