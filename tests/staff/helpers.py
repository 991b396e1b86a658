"""Helpers for several tests of people."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.test import Client

from core.rights import Role
from staff.errors import NotAllowed
from staff.models import User
from staff.services import (
    change_role,
    deactivate,
    end_sessions,
    invite,
    link_path,
    make_link,
    reactivate,
    withdraw_link,
)
from testing.people import Browser, make_person

GOOD = "entirely-other-9"


def owner(username: str = "owner") -> User:
    return make_person("admin", username=username)


def administrator(username: str = "boss") -> User:
    return make_person("administrator", username=username)


def signed_in(person: User) -> Browser:
    client = Browser()
    client.force_login(person)
    return client


def invited(role: Role = Role.CASHIER, *, actor: User | None = None, username: str = "sari") -> tuple[User, str]:
    """An invited person, and the token."""
    return invite(username=username, role=role, actor=actor, full_name="Bu Sari")


def reset(person: User) -> str:
    return make_link(person, actor=None)


def open_link(token: str, client: Client | None = None) -> Any:
    return (client or Client()).get(link_path(token))


def choose(token: str, password: str = GOOD, client: Client | None = None) -> Any:
    """Choose a password on the link's page."""
    typed = {"link": token, "new_password1": password, "new_password2": password}
    return (client or Client()).post("/accounts/link/", typed)


def groups(person: User) -> set[str]:
    return set(Group.objects.filter(user=person).values_list("name", flat=True))


STEPS = {
    "role": lambda person, actor: change_role(person, Role.CASHIER, actor=actor),
    "deactivate": lambda person, actor: deactivate(person, actor=actor),
    "reactivate": lambda person, actor: reactivate(person, actor=actor),
    "link": lambda person, actor: make_link(person, actor=actor),
    "withdraw": lambda person, actor: withdraw_link(person, actor=actor),
    "sign out": lambda person, actor: end_sessions(person, actor=actor),
}


def refused(work) -> str:
    with pytest.raises(NotAllowed) as refusal:
        work()
    return refusal.value.reason


def link_of(answer: Any) -> str:
    """The token of the link that the page shows."""
    return re.search(r'id="access-link">http://testserver/accounts/link/\?link=([\w-]+)<', answer.content.decode())[1]
