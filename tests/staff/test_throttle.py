"""Guesses of passwords are slowed, and other people can still sign in."""

import datetime as dt
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection
from django.test import Client
from time_machine import travel

from core import clock
from core.rights import Role
from staff.models import Throttle, User
from staff.services import change_role, deactivate, make_link, reactivate
from staff.services.throttle import Key, Pace, Slowed, clear_expired, take
from testing.people import code_of, make_person

pytestmark = pytest.mark.django_db
RIGHT, WRONG = "secret-words", "something-else"


def post(client: Client, name: str, password: str, **more):
    return client.post("/accounts/login/", {"login": name, "password": password, **more})


def stranger(address: str = "203.0.113.9") -> Client:
    return Client(REMOTE_ADDR=address)


def outcome(answer) -> str:
    if answer.status_code == 302:
        return "in"
    return "slowed" if b'data-code="slowed"' in answer.content else "wrong"


def guess(name: str, times: int, client: Client | None = None, **more) -> list[str]:
    return [outcome(post(client or stranger(), name, WRONG, **more)) for _ in range(times)]


def known(name: str) -> Client:
    """A browser in which this person has signed in and out."""
    client = Client(REMOTE_ADDR="198.51.100.7")
    assert outcome(post(client, name, RIGHT)) == "in"
    client.post("/accounts/logout/")
    return client


def test_after_five_wrong_passwords_a_stranger_waits_and_nothing_resets_it(settings):
    settings.ALLOWED_HOSTS = ["*"]
    make_person("cashier")

    assert guess("cashier", 7) == ["wrong"] * 5 + ["slowed"] * 2
    assert outcome(post(stranger(), "cashier", RIGHT)) == "slowed"
    assert 25 <= post(stranger(), "cashier", WRONG).context["form"].seconds_to_wait <= 30

    # the spelling of the host and of the name changes no counter
    for host in ("testserver", "TESTSERVER", "testserver:80", "testserver:8000", "testserver."):
        answer = stranger().post("/accounts/login/", {"login": "cashier", "password": WRONG}, headers={"host": host})
        assert outcome(answer) == "slowed", host
    for name in ("CASHIER", " cashier ", "cash\uff49er"):
        assert guess(name, 1) == ["slowed"], name

    # a flood of names washes no counter out
    now, later = clock.now(), clock.now() + dt.timedelta(hours=1)
    rows = ({"key": f"{n:064}", "failures": 1, "blocked_until": now, "expires_at": later} for n in range(400))
    Throttle.objects.bulk_create(Throttle(**row) for row in rows)
    assert guess("cashier", 1) == ["slowed"]

    with travel(clock.now() + dt.timedelta(seconds=31)):
        assert guess("cashier", 1) == ["wrong"]
        assert 55 <= post(stranger(), "cashier", WRONG).context["form"].seconds_to_wait <= 60, "the wait doubles"


def behind_proxy(forwarded: str) -> Client:
    """A browser behind our proxy, which sends this header."""
    return Client(REMOTE_ADDR="10.0.0.1", headers={"X-Forwarded-For": forwarded})


def test_behind_a_proxy_each_stranger_is_one_client(settings):
    settings.TRUSTED_PROXY_COUNT = 1
    make_person("cashier")
    make_person("cashier", username="insider")
    flood, beside = behind_proxy("203.0.113.9"), "198.51.100.7"
    for _ in range(40):
        flood.post("/accounts/login/", {"login": "", "password": ""})
    device = behind_proxy(beside)
    assert outcome(post(device, "cashier", RIGHT)) == "in"
    device.post("/accounts/logout/")
    assert outcome(post(flood, "cashier", RIGHT)) == "in", "empty forms keep nobody out"

    # a forged address makes no new client, and right passwords of an own account do not clear it
    outcomes = []
    for number in range(31):
        forged = f"1.2.3.{number}, 203.0.113.9"
        outcomes += guess(f"nobody-{number}", 1, behind_proxy(forged))
        post(behind_proxy(forged), "insider", RIGHT)

    assert (outcomes[0], outcomes[-1]) == ("wrong", "slowed")
    assert guess("cashier", 1, behind_proxy("203.0.113.9")) == ["slowed"]
    assert outcome(post(behind_proxy(beside), "cashier", RIGHT)) == "in"
    device.defaults["HTTP_X_FORWARDED_FOR"] = "203.0.113.9"
    assert outcome(post(device, "cashier", RIGHT)) == "in", "a known device gets through from the same address"


def test_addresses_of_one_ipv6_line_are_one_client():
    outcomes = [outcome(post(stranger(f"2001:db8::{number:x}"), f"nobody-{number}", WRONG)) for number in range(1, 32)]

    assert outcomes[-1] == "slowed"


def test_a_known_device_signs_its_own_person_in_while_a_stranger_floods():
    person = make_person("cashier", username="owner")
    make_person("cashier", username="sari")
    client, forged = known("owner"), Client(REMOTE_ADDR="198.51.100.7")
    forged.cookies["device"] = client.cookies["device"].value[:-4] + "AAAA"
    change_role(person, Role.VIEWER, actor=None)  # leaves devices known
    guess("owner", 20)
    guess("sari", 5)

    assert guess("owner", 1) == ["slowed"]
    assert guess("owner", 1, forged) == ["slowed"]
    assert guess("sari", 1, client) == ["slowed"], "of another account"
    assert outcome(post(client, "owner", RIGHT)) == "in"
    assert User.objects.get(pk=person.pk).is_active


def test_a_known_device_that_guesses_is_slowed_itself():
    make_person("cashier")

    assert guess("cashier", 9, known("cashier")) == ["wrong"] * 8 + ["slowed"]


def test_one_computer_is_known_to_all_who_signed_in_on_it():
    for name in ("ani", "budi"):
        make_person("cashier", username=name)
    client = known("ani")
    post(client, "budi", RIGHT)
    client.post("/accounts/logout/")
    for name in ("ani", "budi"):
        guess(name, 5)

    for name in ("ani", "budi"):
        assert outcome(post(client, name, RIGHT)) == "in"
        client.post("/accounts/logout/")


def switched_off_and_on(person: User) -> None:
    deactivate(person, actor=None)
    reactivate(person, actor=None)


def test_a_device_is_a_stranger_after_switching_off_or_a_new_link():
    for name, happens in (("off", switched_off_and_on), ("link", lambda person: make_link(person, actor=None))):
        person = make_person("cashier", username=name)
        client = known(name)
        happens(person)
        guess(name, 5)

        assert guess(name, 1, client) == ["slowed"], name


def test_after_a_new_password_other_devices_are_strangers_and_this_one_known():
    make_person("cashier")
    other, own = known("cashier"), known("cashier")
    post(own, "cashier", RIGHT)
    own.post(
        "/accounts/password/change/",
        {"oldpassword": RIGHT, "password1": "entirely-other-9", "password2": "entirely-other-9"},
    )
    own.post("/accounts/logout/")
    guess("cashier", 5)

    assert guess("cashier", 1, other) == ["slowed"]
    assert outcome(post(own, "cashier", "entirely-other-9")) == "in"


def test_a_right_code_gets_through_on_an_unknown_device_and_wrong_ones_never():
    person, client = make_person("admin"), stranger("198.51.100.99")
    guess("admin", 5)

    assert guess("admin", 10, factor_code="12") == ["slowed"] * 10
    assert outcome(post(stranger(), "admin", RIGHT, factor_code=code_of(person))) == "slowed"
    assert outcome(post(client, "admin", RIGHT, factor_code=code_of(person))) == "in"
    assert client.get("/").status_code == 200


def test_beside_the_right_password_codes_are_guessed_no_faster():
    person = make_person("admin")
    guess("admin", 5)
    for number in range(1, 8):
        outcome(post(stranger(f"198.51.100.{number}"), "admin", RIGHT, factor_code="12"))

    fresh = stranger("198.51.100.99")

    assert outcome(post(fresh, "admin", RIGHT, factor_code=code_of(person))) == "slowed"


def test_who_lacks_the_password_slows_nobodys_codes():
    person = make_person("admin")
    guess("admin", 5)
    for number in range(1, 8):
        guess("admin", 1, stranger(f"198.51.100.{number}"), factor_code="12")

    fresh = stranger("198.51.100.99")

    assert outcome(post(fresh, "admin", RIGHT, factor_code=code_of(person))) == "in"


def test_names_of_nobody_are_slowed_alike_and_expired_counters_deleted():
    assert guess("nobody", 6) == ["wrong"] * 5 + ["slowed"]
    Throttle.objects.update(expires_at=clock.now() - dt.timedelta(seconds=1))
    guess("somebody", 1)

    assert clear_expired(clock.now(), at_most=100) == 0
    assert Throttle.objects.count() == 2


def test_a_right_password_begins_the_count_again():
    make_person("cashier")
    guess("cashier", 4)
    post(stranger(), "cashier", RIGHT)

    assert guess("cashier", 5) == ["wrong"] * 5


def test_free_guesses_at_the_same_moment_wait_for_nothing():
    key, now = Key.of(Pace(free=2, first=30, longest=60), "test"), clock.now()
    with travel(now, tick=False):
        take(key)

    with travel(now - dt.timedelta(milliseconds=20), tick=False):
        take(key)
        with pytest.raises(Slowed):
            take(key)


@pytest.mark.django_db(transaction=True)
def test_guesses_sent_at_once_count_one_by_one():
    make_person("cashier")

    def go(_: int) -> str:
        try:
            return guess("cashier", 1)[0]
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(go, range(12))) == ["slowed"] * 7 + ["wrong"] * 5
