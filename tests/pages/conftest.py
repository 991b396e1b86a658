"""People who use the pages, signed in."""

from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.test import Client
from django.utils import timezone

from balance.models import Reading
from staff.models import User
from staff.roles import set_up_roles


@pytest.fixture(autouse=True)
def _english(settings: Any) -> None:
    """The pages' words are tested in the language of the source."""
    settings.LANGUAGE_CODE = "en"


def make_person(role: str = "", **facts: Any) -> User:
    """Somebody of this role: "cashier", "auditor", "admin", or "" for nobody in particular."""
    set_up_roles()
    username = facts.pop("username", role or "nobody")
    user = User.objects.create_user(username, password="secret-words", is_superuser=role == "admin", **facts)
    if role in {"cashier", "auditor"}:
        user.groups.add(Group.objects.get(name=role))
    return user


def browser_of(role: str = "", **facts: Any) -> Client:
    """A browser in which somebody of this role is signed in."""
    client = Client()
    client.force_login(make_person(role, **facts))
    return client


@pytest.fixture
def cashier(db: None) -> Client:
    return browser_of("cashier")


@pytest.fixture
def auditor(db: None) -> Client:
    return browser_of("auditor")


@pytest.fixture
def admin(db: None) -> Client:
    return browser_of("admin")


def read_balance(balance: int) -> Reading:
    """The upstream has just told this balance (rupiah)."""
    now = timezone.now()
    return Reading.objects.create(balance=balance, source="balance", sent_at=now, received_at=now)
