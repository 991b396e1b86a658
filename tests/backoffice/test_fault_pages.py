"""When something is wrong the page says what it means for the person, and never makes it worse."""

import html
import re
import uuid

import pytest
from django.test import Client, RequestFactory
from django.urls import get_resolver
from django.utils import translation
from django.views.defaults import server_error

from purchases.models import Order
from testing.factories import make_order, make_product
from testing.people import browser_of, make_person
from tests.core.helpers import has_id


@pytest.mark.django_db
def test_a_forbidden_page_says_whom_to_ask(cashier):
    answer = cashier.get("/callbacks/")

    assert answer.status_code == 403
    assert has_id(answer, "fault-no-access")


@pytest.mark.django_db
def test_a_refused_form_of_a_part_has_its_page_say_why():
    order = make_order()
    browsers = {who: browser_of(who) for who in ("auditor", "cashier")}
    for who, address, status, code in (
        ("auditor", f"/orders/{order.ref_id}/notes/", 403, "not_allowed"),
        ("cashier", "/orders/never-seen/notes/", 404, "not_there"),
        (None, f"/orders/{order.ref_id}/notes/", 200, "signed_out"),
    ):
        for language in ("en", "id"):
            client = browsers[who] if who else Client()

            answer = client.post(address, headers={"HX-Request": "true"})

            assert (answer.status_code, answer.headers["HX-Refresh"]) == (status, "true")
            page = client.get("/", headers={"Accept-Language": language}, follow=True).content.decode()
            notes = re.findall(r'<div class="toast-note toast-error"[^>]*data-code="(\w+)"', page)
            assert notes == [code], language

    # a part that a page loads has no page loaded again for it
    answer = browsers["cashier"].get("/callbacks/", headers={"HX-Request": "true", "HX-Trigger": "results"})
    assert (answer.status_code, "HX-Refresh" in answer.headers) == (403, False)


@pytest.mark.django_db
def test_a_form_of_a_person_who_was_signed_out_says_that_nothing_was_done():
    order = make_order()

    page = Client().post(f"/orders/{order.ref_id}/cancel/", follow=True)

    assert page.redirect_chain == [(f"/accounts/login/?next=/orders/{order.ref_id}/cancel/", 302)]
    assert 'data-code="signed_out"' in page.content.decode()


@pytest.mark.django_db
def test_a_form_without_its_token_leads_back_to_its_page():
    client = Client(enforce_csrf_checks=True)
    client.force_login(make_person("cashier"))

    answer = client.post("/me/", {"language": "en"}, headers={"Referer": "http://testserver/me/?a=1"})

    assert answer.status_code == 403
    assert 'href="/me/?a=1" id="fault-back"' in answer.content.decode()


@pytest.mark.django_db
def test_an_expired_form_never_leads_to_another_site():
    person = make_person("cashier")
    for elsewhere in (
        *("https://elsewhere.example/x", "javascript:alert(1)", "//elsewhere.example/"),
        *("http://testserver//elsewhere.example/", "http://testserver/\\elsewhere.example/"),
    ):
        client = Client(enforce_csrf_checks=True)
        answer = client.post("/me/", headers={"Referer": elsewhere})
        assert 'href="/accounts/login/?next=%2Fme%2F" id="fault-back"' in answer.content.decode(), elsewhere

        client.force_login(person)
        answer = client.post("/me/", headers={"Referer": elsewhere})
        assert 'href="/me/" id="fault-back"' in answer.content.decode(), elsewhere


@pytest.mark.django_db
def test_cookies_gone_while_buying_lead_back_to_the_same_review():
    product = make_product()
    review = f"/counter/review/?product={product.code}&q=081234567890"
    typed = {"destination": "081234567890", "price": product.price, "token": uuid.uuid4(), "confirm": "1"}

    answer = Client(enforce_csrf_checks=True).post(
        "/counter/send/", typed, headers={"Referer": f"http://testserver{review}"}
    )
    link = html.unescape(re.search(r'href="([^"]+)" id="fault-back"', answer.content.decode())[1])
    make_person("cashier")
    client = Client()
    client.get(link)
    signed_in = client.post(link, {"login": "cashier", "password": "secret-words", "next": review})

    assert answer.status_code == 403
    assert signed_in["Location"] == review
    assert 'value="081234567890"' in client.get(review).content.decode()
    assert not Order.objects.exists()


def test_the_page_for_our_own_faults_needs_no_database():
    # Without the `django_db` mark, any query here fails the test.
    for language in ("en", "id"):
        with translation.override(language):
            answer = server_error(RequestFactory().get("/"))

        assert answer.status_code == 500
        assert has_id(answer, "fault-ours")
        assert f'<html lang="{language}"' in answer.content.decode()


@pytest.mark.django_db
def test_a_fault_of_ours_shows_that_page(admin, monkeypatch):
    def broken() -> None:
        raise RuntimeError("no detail of this may be shown")

    monkeypatch.setattr("backoffice.dashboard.limit_use", broken)
    admin.raise_request_exception = False

    answer = admin.get("/")

    assert answer.status_code == 500
    assert has_id(answer, "orders-are-safe")
    assert "no detail of this may be shown" not in answer.content.decode()


@pytest.mark.django_db
def test_pages_forbid_foreign_and_inline_code(admin):
    titles = []  # each page has its own
    for page in ("/", "/products/", "/orders/", "/callbacks/", "/me/", "/accounts/password/change/", "/no/such/page/"):
        answer = admin.get(page)

        policy = answer["Content-Security-Policy"]
        assert "script-src 'self'" in policy, page
        assert "unsafe" not in policy, page
        text = answer.content.decode()
        assert not re.search(r"<script(?![^>]*\ssrc=)|<style|\sstyle=|\son[a-z]+=|javascript:", text), page
        titles.append(re.search(r"<title>(.*?)</title>", text, re.DOTALL).group(1).strip())

    assert len(set(titles)) == len(titles)
    assert all(title.split(" · ")[0].strip() for title in titles)


def test_no_address_of_the_pages_is_named_twice():
    names = [pattern.name for pattern in get_resolver().url_patterns if getattr(pattern, "name", None)]

    assert len(names) == len(set(names))
