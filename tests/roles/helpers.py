"""The addresses of all pages, and the tables of docs/roles.md about them."""

import re
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import Group
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from approvals.models import Approval
from purchases.errors import NeedsApproval
from purchases.services import ask_for_approval
from purchases.views.order import POSTS
from staff.models import User
from testing.orders import place
from testing.people import Browser, browser_of

HOUSE = Path(__file__).resolve().parents[2]
DOCUMENT = HOUSE / "docs" / "roles.md"
YES, NO = "yes", "–"
PHONE = "081298765432"
PART = "HX-Request"  # asks for a part of a page
# The value for each part of an address: no row has such a key.
EXAMPLES = {"int": "0", "str": "X", "uuid": str(uuid.UUID(int=0)), "slug": "x", "path": "x"}


def routes(patterns: list[URLPattern | URLResolver], before: str = "") -> Iterator[tuple[str, str]]:
    """Every address of the resolver: its name, and the address with an example of each of its parts."""
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            yield from routes(pattern.url_patterns, before + str(pattern.pattern))
        elif pattern.name:
            parts = re.sub(r"<(?:(\w+):)?\w+>", lambda part: EXAMPLES[part[1] or "str"], before + str(pattern.pattern))
            yield pattern.name, "/" + parts.replace("^", "").replace("$", "").replace("\\Z", "")


def addresses() -> list[tuple[str, str]]:
    """Row of the document → address; a post to an order has a row for each action."""
    rows = []
    for name, address in routes(get_resolver().url_patterns):
        if name == "order_act":
            rows += [(f"order_act {action}", f"/orders/X/{action}/") for action in POSTS]
        else:
            rows.append((name, address))
    # signing out ends the session that the other addresses need
    return sorted(rows, key=lambda row: ("logout" in row[0], row[0]))


def opened_by(role: str) -> set[str]:
    """The names of the addresses that this role opens, by the document, which test_table.py compares with the app."""
    rows = tables()["address"].items()
    return {row.removesuffix(" GET") for row, cells in rows if row.endswith(" GET") and cells[role] == YES}


def stay(client: Client, person: User) -> None:
    """Sign in, and again when the last address has ended the session or begun another."""
    cookie = client.cookies.get(settings.SESSION_COOKIE_NAME)
    if not cookie or cookie.value != client.session_key:
        client.force_login(person)
        client.session_key = client.cookies[settings.SESSION_COOKIE_NAME].value


def tables() -> dict[str, dict[str, dict[str, str]]]:
    """The tables of the document by their first heading: row → column → cell."""
    found: dict[str, dict[str, dict[str, str]]] = {}
    head: list[str] = []
    for line in DOCUMENT.read_text().splitlines():
        if not line.startswith("|"):
            head = []
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not head:
            head = cells
            found.setdefault(head[0], {})
        elif not set(line) <= set("|-: "):
            found[head[0]][cells[0].strip("`")] = dict(zip(head[1:], cells[1:], strict=True))
    return found


def text_of(answer: Any) -> str:
    """The text of an answer, also of one that is streamed."""
    return (b"".join(answer.streaming_content) if answer.streaming else answer.content).decode()


def asked(product: Any, person: Any, **facts: Any) -> Approval:
    """The request to sell above the person's limit, for PHONE, with PHONE in its reason, too."""
    with pytest.raises(NeedsApproval) as need:
        place(product, destination=PHONE, placed_by=person, **facts)
    return ask_for_approval(need.value, actor=person, reason=f"for {PHONE}")


def who_sees_none(who: str) -> Browser:
    """A browser of a person with this role, without the right."""
    Group.objects.get(name=who).permissions.remove(
        *Group.objects.get(name=who).permissions.filter(codename="view_number")
    )
    return browser_of(who, username=f"looks-{who}")
