"""Short helpers to ask and approve in tests."""

import uuid
from typing import Any

import pytest
from django.test import Client

from approvals import services
from approvals.models import Approval
from bills.services import pay_bill
from core.rights import Role
from purchases.errors import NeedsApproval
from purchases.services import ask_for_approval, place_order
from staff.models import User
from staff.roles import role_of
from staff.services import Limits, change_role
from staff.services.factors import Shown
from staff.services.second import NeedsSecond
from testing.factories import make_product
from testing.people import code_of, make_person


def cashier(username: str = "sari", **facts: Any) -> User:
    """A person who may ask."""
    return make_person("cashier", username=username, **facts)


def approver(username: str = "budi") -> User:
    """A person who may approve everything."""
    return make_person("admin", username=username)


def ask_discount(asker: User, **facts: Any) -> Approval:
    """Somebody asks for the discount of the fixture `discount`."""
    facts = {"subject": "TSEL10", "content": {"product": "TSEL10", "price": 9_000}, "reason": "A regular", **facts}
    return services.ask("discount", actor=asker, **facts)


def ask_purchase(asker: User, destination: str) -> Approval:
    """Sell for Rp20.000, which is above the person's limit, and ask for approval."""
    product = make_product(price=20_000)
    facts = {"product": product, "destination": destination, "max_price": product.price, "enqueue": False}
    with pytest.raises(NeedsApproval) as need:
        place_order(placed_by=asker, idempotency_key=str(uuid.uuid4()), **facts)
    return ask_for_approval(need.value, actor=asker, reason="A wedding")


def ask_role(person: User, role: Role, actor: User) -> Approval:
    """Ask to give a person a role that takes a second person."""
    with pytest.raises(NeedsSecond) as need:
        change_role(person, role, actor=actor)
    change = need.value.change
    return services.ask(change.act, subject=change.subject, content=change.content, about=change.about, actor=actor)


def factor_of(person: User) -> Shown:
    """A second factor of this person that is valid now."""
    return Shown(code_of(person), assertion="", host="")


def approve(approval: Approval, person: User) -> Approval:
    """This person approves it, second factor included."""
    return services.approve(approval, actor=person, factor=factor_of(person))


def decline(proposal: Any, *, actor: User) -> None:
    """This person refuses a verdict or an adjustment; its author withdraws it instead."""
    if proposal.approval.is_of(actor):
        services.withdraw(proposal.approval, actor=actor)
    else:
        services.refuse(proposal.approval, actor=actor, reason="Not so")
    proposal.refresh_from_db()


def approve_on_page(browser: Client, approval: Approval) -> Any:
    """The signed-in person approves on the page with a valid code; returns the page afterwards."""
    person = User.objects.get(pk=browser.session["_auth_user_id"])
    fields = {"seal": approval.seal, "factor_code": code_of(person)}
    return browser.post(f"{approval.get_absolute_url()}approve/", fields, follow=True)


def refuse_on_page(browser: Client, approval: Approval) -> Any:
    """The signed-in person refuses on the page; returns the page afterwards."""
    return browser.post(f"{approval.get_absolute_url()}refuse/", {"reason": "Not so"}, follow=True)


NUMBER = "081234567890"


def place(product, person, **facts):
    usual = {"destination": NUMBER, "max_price": product.price, "idempotency_key": str(uuid.uuid4()), "enqueue": False}
    return place_order(product=product, placed_by=person, **usual | facts)


def ask_order(product, person, **facts) -> Approval:
    with pytest.raises(NeedsApproval) as need:
        place(product, person, **facts)
    return ask_for_approval(need.value, actor=person, reason="A wedding")


def ask_bill(check, person) -> Approval:
    with pytest.raises(NeedsApproval) as need:
        pay_bill(check, amount=check.total, paid_by=person)
    return ask_for_approval(need.value, actor=person)


def browser(person) -> Client:
    client = Client()
    client.force_login(person)
    return client


MORE = Limits(per_order=200_000, per_day=None, approval_above=None)


def asked(work) -> Approval:
    """The request that a browser of the actor would make."""
    with pytest.raises(NeedsSecond) as need:
        work()
    change = need.value.change
    actor = User.objects.get(username="first")
    return services.ask(change.act, subject=change.subject, content=change.content, about=change.about, actor=actor)


def role_now(person) -> Role | None:
    return role_of(User.objects.get(pk=person.pk))
