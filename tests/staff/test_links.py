"""A link for an invitation or a new password works once, for 72 hours, and reveals nothing."""

import datetime as dt

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.utils import timezone

from staff.errors import LinkRefused
from staff.models import AccessLink, User
from staff.services import accept_link, deactivate, make_link, withdraw_link
from testing.orders import at_once
from testing.people import make_person
from tests.core.helpers import codes, has_id
from tests.staff.helpers import GOOD, choose, invited, open_link, reset, signed_in

pytestmark = pytest.mark.django_db


def test_an_invited_person_chooses_a_password_once_and_is_in():
    person, token = invited()
    client = Client()

    for _ in range(3):  # opening never uses it up, and a weak password does not
        page = open_link(token, client)
        assert has_id(page, "choose-password")
    assert page["Referrer-Policy"] == "strict-origin"
    assert "no-store" in page["Cache-Control"]
    assert has_id(choose(token, "12345678"), "id_new_password1_error")
    assert choose(token, client=client)["Location"] == "/"
    assert client.get("/products/").status_code == 200

    again = choose(token, "something-else-7")
    assert again.status_code == 410
    assert codes(again) == {"LinkRefused:used"}
    assert person.username not in again.content.decode()
    person.refresh_from_db()
    assert person.check_password(GOOD)


def test_only_the_digest_of_the_token_is_stored_and_a_forged_one_is_a_404():
    _person, token = invited()

    link = AccessLink.objects.get()
    assert len(token) >= 43  # 256 bits in base64
    assert token not in str(vars(link))
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM staff_accesslink WHERE staff_accesslink::text LIKE %s", [f"%{token}%"])
        assert cursor.fetchone() == (0,)

    for forged in ("", "x", "A" * 43, "é" * 5):
        page = Client().get("/accounts/link/", {"link": forged})

        assert page.status_code == 404, forged
        assert codes(page) == {"LinkRefused:unknown"}, forged
        assert choose(forged).status_code == 404, forged


@pytest.mark.django_db(transaction=True)
def test_of_two_at_once_one_uses_the_link():
    person, token = invited()

    results = at_once(lambda: accept_link(token, "first-of-two-1"), lambda: accept_link(token, "second-of-two-2"))

    assert sorted(type(result).__name__ for result in results) == ["LinkRefused", "User"]
    person.refresh_from_db()
    won = next(n for n, result in enumerate(results) if isinstance(result, User))
    assert person.check_password(["first-of-two-1", "second-of-two-2"][won])


def test_a_link_is_valid_for_72_hours():
    _person, token = invited()

    for hours, status, said in ((71.9, 200, set()), (72.1, 410, {"LinkRefused:expired"})):
        with time_machine.travel(timezone.now() + dt.timedelta(hours=hours)):
            page = open_link(token)

        assert (page.status_code, codes(page)) == (status, said), hours


def test_a_new_link_ends_the_one_before_and_a_withdrawn_one_opens_nothing():
    person, old = invited()
    new = make_link(person, actor=None)
    assert codes(open_link(old)) == {"LinkRefused:withdrawn"}
    assert open_link(new).status_code == 200

    withdraw_link(person, actor=None)
    assert codes(open_link(new)) == {"LinkRefused:withdrawn"}
    assert open_link(make_link(person, actor=None)).status_code == 200


def test_no_link_opens_an_account_that_is_switched_off():
    person = make_person("cashier")
    token = reset(person)

    deactivate(person, actor=None)

    assert open_link(token).status_code == 410
    with pytest.raises(LinkRefused):
        accept_link(token, GOOD)


def test_a_reset_signs_out_and_ends_the_old_password_once_used():
    person = make_person("cashier")
    client = signed_in(person)

    token = reset(person)
    assert client.get("/").status_code == 302
    assert Client().login(username="cashier", password="secret-words")

    choose(token)
    assert not Client().login(username="cashier", password="secret-words")
    assert Client().login(username="cashier", password=GOOD)


def test_a_link_opened_by_a_colleague_signs_in_its_person():
    person, token = invited()
    client = signed_in(make_person("auditor"))

    choose(token, client=client)

    assert client.session["_auth_user_id"] == str(person.pk)
