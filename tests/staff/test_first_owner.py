"""A shop without an owner: one printed key makes the first owner, and no other page answers until then."""

import hashlib
from typing import Any

import pytest
from django.test import Client

from audit.models import AuditEvent
from core.rights import Role
from staff.models import User
from staff.services import invite, make_first_owner
from testing.orders import at_once
from testing.people import make_person
from tests.core.helpers import codes, has_id
from tests.staff.helpers import GOOD, choose

pytestmark = pytest.mark.django_db
KEY = "key-of-this-start"
TYPED = {"key": KEY, "full_name": "Ibu Dewi", "username": "dewi", "new_password1": GOOD, "new_password2": GOOD}


@pytest.fixture(autouse=True)
def _printed(settings: Any) -> None:
    settings.FIRST_KEY_DIGEST = hashlib.sha256(KEY.encode()).hexdigest()


def test_the_key_makes_the_owner_who_adds_a_factor_next_and_opens_nothing_more():
    client, thief = Client(), Client()

    page = client.get("/first/", {"key": KEY})
    answer = client.post("/first/", TYPED)

    assert has_id(page, "first-owner")
    assert f'value="/first/?key={KEY}"' in page.content.decode()  # the other language
    assert page["Referrer-Policy"] == "strict-origin"
    assert answer["Location"] == "/"
    owner = User.objects.get()
    assert (owner.username, owner.shown_name, owner.is_superuser) == ("dewi", "Ibu Dewi", True)
    assert client.get("/").headers["Location"] == "/me/factors/"
    assert [*AuditEvent.objects.order_by("pk").values_list("kind", flat=True)][:2] == ["staff_invited", "link_used"]

    assert thief.get("/first/", {"key": KEY}).status_code == 404
    assert thief.post("/first/", {**TYPED, "username": "thief"}).status_code == 404
    assert Client().get("/accounts/login/").status_code == 200
    assert [*User.objects.values_list("username", flat=True)] == ["dewi"]


def test_without_an_owner_every_page_says_where_to_look_and_health_and_callbacks_go_on():
    for address in ("/", "/accounts/login/", "/orders/", "/first/", "/shop/"):
        answer = Client().get(address)

        assert answer.status_code == 403, address
        assert has_id(answer, "no-owner"), address
        assert not has_id(answer, "first-owner"), address
    assert Client().get("/healthz").status_code == 200
    assert not has_id(Client().post("/callbacks/upstream/", "{}", content_type="application/json"), "no-owner")


def test_an_invited_owner_can_still_join():
    person, token = invite(username="dewi", role=Role.OWNER, actor=None)

    assert has_id(Client().get("/"), "no-owner")
    assert choose(token).status_code == 302
    assert Client().get("/accounts/login/").status_code == 200
    assert Client().get("/first/", {"key": KEY}).status_code == 404
    person.refresh_from_db()
    assert person.has_joined


def test_a_wrong_key_opens_nothing_and_is_slowed():
    client = Client()
    wrong = [client.post("/first/", {**TYPED, "key": f"guess-{n}"}) for n in range(6)]

    assert [answer.status_code for answer in wrong] == [403] * 5 + [429]
    assert codes(wrong[0]) == {"wrong_key"}
    assert codes(client.post("/first/", TYPED)) == {"slowed"}
    assert not User.objects.exists()
    assert Client(REMOTE_ADDR="203.0.113.9").post("/first/", TYPED).status_code == 302


def test_without_a_printed_key_there_is_no_such_page(settings: Any):
    settings.FIRST_KEY_DIGEST = ""

    assert Client().get("/first/", {"key": ""}).status_code == 404
    assert Client().get("/accounts/login/").status_code == 200


def test_what_cannot_be_an_account_makes_no_owner():
    make_person("cashier")
    for wrong in ({"username": "cashier"}, {"username": "a b"}, {"new_password1": "short"}, {"full_name": ""}):
        assert has_id(Client().post("/first/", TYPED | wrong), "first-owner"), wrong
        assert not User.objects.filter(is_superuser=True).exists(), wrong


@pytest.mark.django_db(transaction=True)
def test_of_two_at_once_one_becomes_the_owner():
    made = at_once(
        lambda: make_first_owner(username="dewi", full_name="Dewi", password=GOOD),
        lambda: make_first_owner(username="budi", full_name="Budi", password=GOOD),
    )

    assert sorted(type(person).__name__ for person in made) == ["NoneType", "User"]
    assert User.objects.count() == 1
