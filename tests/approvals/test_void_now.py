"""The queue and its page show that a request became void meanwhile, before anybody tries it."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from approvals.models import Approval
from approvals.services import changes_seen
from catalogue.models import Product
from core.rights import Role
from purchases.states import Status
from staff.models import User
from staff.services import Limits, change_limits, change_role, deactivate, invite
from testing.factories import make_check, make_order, make_product
from testing.people import make_person
from tests.approvals.helpers import (
    MORE,
    approve_on_page,
    approver,
    ask_bill,
    ask_discount,
    ask_order,
    asked,
    browser,
)
from tests.core.helpers import words_at

pytestmark = pytest.mark.django_db

NUMBER = "081234567890"


def page_of(person: User, approval: Approval) -> str:
    return browser(person).get(approval.get_absolute_url()).content.decode()


def queue_of(person: User) -> str:
    return browser(person).get("/approvals/").content.decode().split('id="waiting"')[1].split('id="results"')[0]


def void_code(approval: Approval) -> str:
    return str(changes_seen([approval]).get(approval.pk, {}).get("code", ""))


def test_given_a_new_price_then_no_page_offers_to_approve_until_it_is_the_old_one(sari):
    product, budi = make_product(price=12_000), approver()
    approval, client = ask_order(product, sari), browser(budi)

    def step() -> str:
        return words_at(client.get("/work/"), 'class="btn btn-small"')

    Product.objects.filter(pk=product.pk).update(price=12_500)
    Product.objects.filter(pk=product.pk).update(price=12_000)
    assert 'id="approve-form"' in page_of(budi, approval)
    assert "data-code" not in queue_of(budi)
    assert step() == "Decide"
    Product.objects.filter(pk=product.pk).update(price=12_500)

    page = page_of(budi, approval)

    assert ['id="approve-form"' in page, 'id="ask-again"' in page, 'id="refuse-form"' in page] == [False, True, True]
    assert 'data-state="void"' in page
    assert 'data-changed="price"' in page
    assert 'data-code="changed"' in queue_of(budi)
    assert step() == "Refuse"
    mine = page_of(sari, approval)
    assert 'id="withdraw"' in mine
    assert 'data-code="own"' not in mine
    assert Approval.objects.get().is_open
    decided = approve_on_page(client, approval).content.decode()
    assert Approval.objects.get().state == "void"
    assert ['data-state="void"' in decided, 'data-changed="price"' in decided, "Rp12.500" in decided] == [True] * 3


def test_given_who_asked_is_switched_off_then_all_of_it_is_void(discount, sari):
    budi = approver()
    approvals = [ask_discount(sari), ask_order(make_product(price=12_000), sari), ask_bill(make_check(), sari)]
    deactivate(sari, actor=None)

    assert {void_code(approval) for approval in approvals} == {"ApprovalRefused:not_asker"}
    assert queue_of(budi).count('data-code="ApprovalRefused:not_asker"') == 3


def test_given_it_was_bought_or_paid_meanwhile_then_it_is_void(sari):
    product, check = make_product(price=12_000), make_check()
    bought, paid = ask_order(product, sari), ask_bill(check, sari)
    assert (void_code(bought), void_code(paid)) == ("", "")
    make_order(Status.PENDING, product=product, destination=bought.facts["destination"])
    type(check).objects.filter(pk=check.pk).update(expires_at=check.created_at)

    assert void_code(bought) == "OpenDuplicate"
    assert void_code(paid) == "CheckExpired"


def test_given_whom_it_is_about_has_changed_then_it_is_void(db):
    first, _second = approver("first"), approver("second")
    ani, tono = make_person("cashier", username="ani"), make_person("cashier", username="tono", own_per_order=100_000)
    role = asked(lambda: change_role(ani, Role.SUPERVISOR, actor=first))
    limits = asked(lambda: change_limits(tono, MORE, actor=first))
    joins = asked(lambda: invite(username="wati", role=Role.ADMINISTRATOR, actor=first))
    assert changes_seen([role, limits, joins]) == {}

    deactivate(ani, actor=None)
    change_limits(tono, Limits(per_order=50_000), actor=None)
    make_person("cashier", username="Wati")

    assert void_code(role) == "NotAllowed:switched_off"
    assert changes_seen([limits])[limits.pk]["before"][1]["per_order"] == 50_000
    assert void_code(joins) == "NameTaken"


def test_given_every_kind_then_the_pages_take_few_queries(discount, sari):
    first, second = approver("first"), approver("second")
    ani, tono = make_person("cashier", username="ani"), make_person("cashier", username="tono", own_per_order=100_000)
    product = make_product(price=12_000)
    approvals = [
        ask_discount(sari),
        ask_order(product, sari),
        ask_bill(make_check(), sari),
        asked(lambda: change_role(ani, Role.SUPERVISOR, actor=first)),
        asked(lambda: change_limits(tono, MORE, actor=first)),
        asked(lambda: invite(username="wati", role=Role.ADMINISTRATOR, actor=first)),
    ]
    Product.objects.filter(pk=product.pk).update(price=12_500)

    for address in ("/approvals/", *(approval.get_absolute_url() for approval in approvals)):
        client = browser(second)
        client.get(address)
        with CaptureQueriesContext(connection) as queries:
            client.get(address)
        assert len(queries) <= 10, address
