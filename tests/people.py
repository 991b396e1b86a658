"""People who use the pages, signed in."""

from typing import Any

from django.contrib.auth.models import Group
from django.test import Client

from staff.models import User
from staff.roles import ROLES


def make_person(role: str = "", **facts: Any) -> User:
    """Somebody of this role: one of `ROLES`, "admin", or "" for nobody in particular."""
    username = facts.pop("username", role or "nobody")
    user = User.objects.create_user(username, password="secret-words", is_superuser=role == "admin", **facts)
    if role in ROLES:
        user.groups.add(Group.objects.get(name=role))
    return user


def browser_of(role: str = "", **facts: Any) -> Client:
    """A browser in which somebody of this role is signed in."""
    client = Client()
    client.force_login(make_person(role, **facts))
    return client
