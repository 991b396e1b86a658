"""The list of a new real shop: each step follows from the shop's rows; a closed list never comes back."""

from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from audit.models import AuditEvent
from backoffice.first_steps import FirstSteps
from callbacks.models import Callback, CallbackRefusal, RefusalReason
from catalogue.destinations import PHONE
from catalogue.models import CatalogueSync, PriceRule, PriceRuleKind, Product, SyncFault
from catalogue.services import sync_catalogue
from drawers.models import Drawer
from gateway.models import UpstreamAccount
from purchases.states import Status
from shop.models import Shop
from staff.models import User
from testing.factories import make_order, make_product
from testing.people import Browser, browser_of, make_person
from tests.core.helpers import has_id, next_question, words
from tests.gateway.helpers import denied_balance_request, read_balance

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _real(settings: Any) -> None:
    settings.SANDBOX = False
    settings.UPSTREAM_BASE_URL, settings.UPSTREAM_SECRET_ID = "https://upstream.example.com", "secret-id-of-shop"
    settings.SITE_URL = "https://shop.example.com"


def read() -> FirstSteps:
    first = FirstSteps.read(User.objects.get(username="admin"))
    assert first is not None
    return first


def missing() -> list[str]:
    return [step.name for step in read().missing]


def step(name: str) -> Any:
    return next(step for step in read().steps if step.name == name)


def test_a_new_shop_misses_everything_and_the_overview_says_so(admin: Browser, settings: Any):
    assert missing() == ["provider", "callback", "catalogue", "prices", "shop", "drawers", "people", "sale"]

    assert has_id(admin.get("/"), "first-steps")
    page = admin.get("/first-steps/")
    assert "https://shop.example.com/callbacks/upstream/" in page.content.decode()
    assert "secret-id-of-shop" not in page.content.decode()
    answer = admin.post(reverse("balance_refresh"), {"next": "/first-steps/"})
    assert answer.headers["Location"] == "/first-steps/", "trying the provider leads back to the list"

    # then the page brings only what has changed
    Drawer.objects.create(name="Depan")
    question, _delay = next_question(page)
    answer = admin.get(question, headers={"HX-Request": "true"})
    assert has_id(answer, "step-drawers")
    assert not has_id(answer, "step-shop")

    # only people who run the shop see it, and no demo has it
    supervisor = browser_of("supervisor")
    assert not has_id(supervisor.get("/"), "first-steps")
    assert supervisor.get("/first-steps/").status_code == 403
    settings.SANDBOX = True
    assert not has_id(admin.get("/"), "first-steps")
    assert admin.get("/first-steps/").status_code == 404


def test_a_tunnel_to_this_machine_shows_the_shops_own_address_or_says_why_not(admin: Browser, settings: Any):
    settings.HTTPS = True
    of_shop, of_machine = "https://shop.example.com/callbacks/upstream/", "http://localhost/callbacks/upstream/"
    for site, hosts, shown in (
        ("", ["localhost", "10.0.0.7", "shop.example.com"], of_shop),
        ("http://localhost:8000", ["shop.example.com", "localhost"], of_shop),
        ("", ["localhost", ".example.com"], of_machine),
    ):
        settings.SITE_URL, settings.ALLOWED_HOSTS = site, hosts

        page = admin.get("/first-steps/", headers={"host": "localhost"})

        assert shown in page.content.decode(), hosts
        assert has_id(page, "not-reachable") == (shown == of_machine), hosts


def test_the_step_of_the_people_waits_until_an_invited_person_has_joined(admin: Browser):
    invited = User.objects.create_user("sari", first_name="Sari")  # without a password
    assert step("people").is_done is False
    assert "Sari" in step("people").seen
    assert "Sari" in words(admin.get("/first-steps/"))

    invited.set_password("a long password of hers")
    invited.save()

    assert (step("people").is_done, step("people").seen) == (True, "")


def test_its_pages_lead_back_while_it_is_open(admin: Browser):
    pages = [
        reverse(name) for name in ("price_rule", "shop_settings", "drawer_list", "staff_invite", "policies", "counter")
    ]

    def leading_back() -> list[str]:
        return [page for page in (*pages, "/first-steps/") if has_id(admin.get(page), "back-to-first-steps")]

    assert leading_back() == pages
    assert not has_id(browser_of("cashier").get("/counter/"), "back-to-first-steps")
    admin.post("/first-steps/close/")
    assert leading_back() == []


def test_each_step_is_done_by_what_is_there(admin: Browser):
    read_balance(9_969_475)
    Callback.objects.create(content_hash="0" * 64, body=b"{}", headers={}, is_signed=True)
    product = make_product()
    PriceRule.objects.create(type=product.type, kind=PriceRuleKind.PLUS, value=1500)
    Shop.objects.create(name="Toko Maju", saved_at=timezone.now())
    Drawer.objects.create(name="Depan")
    make_person("cashier")
    assert missing() == ["sale"]

    make_order(status=Status.SUCCESS)
    assert missing() == []
    assert "close the list" in words(admin.get("/"))
    assert "Rp9.969.475" in words(admin.get("/first-steps/"))


def test_a_refused_account_gets_a_verdict_and_a_next_step(admin: Browser):
    read_balance(1)
    CatalogueSync.objects.create(result=CatalogueSync.Result.FAULT, fault=SyncFault.OTHER, fault_detail="stopped")
    for code, named in {
        "INVALID_CREDENTIALS": "UPSTREAM_SECRET_ID",
        "INVALID_SIGNATURE": "UPSTREAM_SECRET_KEY",
        "API_INACTIVE": "API",
        "IP_NOT_ALLOWED": "address",
        "SOMETHING_NEW": "doctor",
    }.items():
        UpstreamAccount.objects.update_or_create(
            only=True, defaults={"refused_since": timezone.now(), "refused_code": code}
        )
        provider = step("provider")
        assert (provider.is_done, provider.is_bad, named in provider.advice) == (False, True, True), code
        assert not step("catalogue").is_bad, "the list follows by itself"


def test_a_denied_balance_and_then_no_answer_at_all_are_named(admin: Browser):
    denied_balance_request("SCOPE_MISSING")

    assert (step("provider").is_done, "SCOPE_MISSING" in step("provider").seen) == (False, True)
    assert "read its balance" in words(admin.get("/first-steps/"))

    UpstreamAccount.objects.update_or_create(only=True, defaults={"unreachable_since": timezone.now()})

    assert "https://upstream.example.com" in step("provider").seen
    assert step("provider").is_bad


def test_a_rejected_callback_and_a_failed_fetch_are_named(admin: Browser):
    read_balance(1)
    CallbackRefusal.objects.create(reason=RefusalReason.SIGNATURE, size=2)
    CatalogueSync.objects.create(result=CatalogueSync.Result.FAULT, fault=SyncFault.EMPTY, fault_detail="why")

    assert step("callback").is_bad
    assert "signature not genuine" in step("callback").seen
    assert step("catalogue").advice == "why"


def test_closed_it_is_gone_for_ever(admin: Browser):
    assert admin.post("/first-steps/close/").headers["Location"] == "/"

    assert not has_id(admin.get("/"), "first-steps")
    assert admin.get("/first-steps/").status_code == 404
    assert admin.post("/first-steps/close/").status_code == 404
    assert admin.get("/first-steps/live/").headers["HX-Redirect"] == "/"  # a page that was open goes on
    event = AuditEvent.objects.get(kind="setting_changed")
    assert (event.subject, event.after) == ("shop", {"first_steps": "closed"})


@pytest.mark.django_db(transaction=True)
def test_the_first_sale_is_the_cheapest_product_at_the_counter(upstream: Any, admin: Browser):
    sync_catalogue()
    code, name = read().cheapest or ("", "")
    assert Product.objects.get(code=code).kind == PHONE

    page = admin.get("/first-steps/")

    assert f"/counter/?product={code}" in page.content.decode()
    assert name in words(admin.get("/counter/", {"product": code}))


def test_an_example_is_printed_on_the_shop_paper(admin: Browser):
    Shop.objects.create(name="Toko Maju", paper="80")

    page = admin.get("/shop/test-print/")

    assert 'class="paper-80"' in page.content.decode()
    assert "Toko Maju" in words(page)
