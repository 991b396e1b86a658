"""Asking and approving, with as few words as a test needs."""

from __future__ import annotations

from typing import Any

from django.test import Client, RequestFactory

from approvals import services
from approvals.models import Approval
from staff.models import User
from tests.people import code_of, make_person


def cashier(username: str = "sari", **facts: Any) -> User:
    """Somebody who may ask."""
    return make_person("cashier", username=username, **facts)


def approver(username: str = "budi") -> User:
    """Somebody who may approve everything."""
    return make_person("admin", username=username)


def ask_discount(asker: User, **facts: Any) -> Approval:
    """Somebody asks for the discount of the fixture `discount`."""
    facts = {"subject": "TSEL10", "content": {"product": "TSEL10", "price": 9_000}, "reason": "A regular", **facts}
    return services.ask("discount", actor=asker, **facts)


def request_of(person: User) -> Any:
    """A POST of this person with a second factor that is good now."""
    request = RequestFactory().post("/approvals/", {"factor_code": code_of(person)})
    request.user = person
    return request


def approve(approval: Approval, person: User) -> Approval:
    """This person approves it, second factor included."""
    return services.approve(approval, actor=person, request=request_of(person))


def decline(proposal: Any, *, actor: User) -> None:
    """This person refuses a verdict or an adjustment; its own author withdraws it."""
    if proposal.approval.is_of(actor):
        services.withdraw(proposal.approval, actor=actor)
    else:
        services.refuse(proposal.approval, actor=actor, reason="Not so")
    proposal.refresh_from_db()


def approve_on_page(browser: Client, approval: Approval) -> Any:
    """Who is signed in approves on the page, with a code that is good now; the page afterwards."""
    person = User.objects.get(pk=browser.session["_auth_user_id"])
    fields = {"sha256": approval.sha256, "factor_code": code_of(person)}
    return browser.post(f"{approval.get_absolute_url()}approve/", fields, follow=True)


def refuse_on_page(browser: Client, approval: Approval) -> Any:
    """Who is signed in refuses on the page; the page afterwards."""
    return browser.post(f"{approval.get_absolute_url()}refuse/", {"reason": "Not so"}, follow=True)
