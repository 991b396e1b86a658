"""Whatever ends an account's devices also ends its PIN, and the sessions that began with the PIN."""

import datetime as dt

import pytest
from allauth.socialaccount.models import SocialAccount
from django.conf import settings as ours
from django.test import Client, override_settings

from branches.models import FIRST
from core import clock
from core.rights import Role
from staff.errors import OutsideRefused
from staff.models import Session, User
from staff.services import accept_link, change_role, deactivate, end_sessions, make_link, reactivate
from staff.services.outside import person_of
from staff.services.own_factors import reset_factors
from tests.core.helpers import codes, has_id
from tests.staff.helpers import GOOD
from tests.tills.helpers import PIN, take_over, till_browser, who_is_at, with_pin
from tills.models import Till
from tills.services import epoch_of, has_pin, people_with_pin, set_pin

pytestmark = pytest.mark.django_db

PROVIDER = {
    "OIDC_ISSUER": "https://id.example",
    "OIDC_CLIENT_ID": "shop",
    "OIDC_CLIENT_SECRET": "x",
    "OIDC_ROLES": {"kasir": "cashier"},
}


def owner() -> User:
    return User.objects.filter(username="owner").first() or User.objects.create_superuser("owner")


def use_a_link(person: User) -> None:
    accept_link(make_link(person, actor=owner()), GOOD)


def off_and_on(person: User) -> None:
    deactivate(person, actor=owner())
    reactivate(person, actor=owner())


ENDS = {
    "link made": lambda person: make_link(person, actor=owner()),
    "link used": use_a_link,
    "factors reset": lambda person: reset_factors(person, actor=owner()),
    "off and on": off_and_on,
    "signed out everywhere": lambda person: end_sessions(person, actor=owner()),
}


def test_a_pin_ends_with_the_access_to_its_account():
    browser = till_browser()
    for how, end in {**ENDS, "off": lambda person: deactivate(person, actor=owner())}.items():
        person = with_pin(username=how)
        assert person in people_with_pin(Till(branch_id=FIRST))
        end(person)

        answer = take_over(browser, person)

        assert codes(answer) == {"WrongPin"}, how
        assert who_is_at(browser) == "", how
        person.refresh_from_db()
        assert how == "off" or not has_pin(person), how
        assert person not in people_with_pin(Till(branch_id=FIRST)), how
        Till.objects.update(wrong_pins={})


def test_a_new_own_password_ends_the_pin():
    browser, person = Client(), with_pin()
    browser.force_login(person)
    fields = {"oldpassword": "secret-words", "password1": GOOD, "password2": GOOD}

    browser.post("/accounts/password/change/", fields)

    assert epoch_of(person.pk, PIN) is None


def test_what_resets_no_account_leaves_the_pin():
    browser, person = till_browser(), with_pin()
    change_role(person, Role.VIEWER, actor=owner())
    end_sessions(person, actor=person)

    take_over(browser, person)

    assert who_is_at(browser) == person.username


def test_a_session_by_pin_ends_even_when_it_began_meanwhile():
    """The reset comes after the PIN's check, and before the session is written."""
    browser, person = till_browser(), with_pin()
    take_over(browser, person)
    kept = list(Session.objects.filter(person=person))
    make_link(person, actor=owner())
    Session.objects.bulk_create(kept)

    answer = browser.get("/orders/")

    assert answer["Location"] == "/till/?because=ended"
    assert has_id(browser.get(answer["Location"]), "because-ended")


def test_a_pin_typed_before_a_reset_ends_with_it_and_a_later_one_counts():
    """The form was being sent when a manager reset the account."""
    browser, person = till_browser(), with_pin()
    before = User.objects.get(pk=person.pk)
    make_link(person, actor=owner())

    set_pin(before, "517306")
    assert epoch_of(person.pk, "517306") is None

    person.refresh_from_db()
    set_pin(person, "517306")
    take_over(browser, person, "517306")
    assert who_is_at(browser) == person.username


# --- who signs in through a provider -----------------------------------------------------------------------------


@pytest.fixture
def outside(db):
    with override_settings(**PROVIDER):
        person = with_pin(is_oidc=True)
        SocialAccount.objects.create(user=person, provider=PROVIDER["OIDC_ISSUER"], uid="s-1")
        yield person


def test_a_dropped_claim_ends_the_pin(outside):
    browser = till_browser()
    with pytest.raises(OutsideRefused):
        person_of({"sub": "s-1", "groups": []})
    person_of({"sub": "s-1", "groups": ["kasir"]})

    take_over(browser, outside)

    assert who_is_at(browser) == ""


def test_a_pin_counts_for_as_long_as_a_session_after_the_provider(outside):
    browser = till_browser()
    seen = SocialAccount.objects.filter(user=outside)
    seen.update(last_login=clock.now() - dt.timedelta(seconds=ours.SESSION_COOKIE_AGE - 60))
    take_over(browser, outside)
    assert who_is_at(browser) == outside.username
    browser.post("/till/lock/")

    seen.update(last_login=clock.now() - dt.timedelta(seconds=ours.SESSION_COOKIE_AGE + 60))
    take_over(browser, outside)

    assert who_is_at(browser) == ""
    assert outside not in people_with_pin(Till(branch_id=FIRST))
    assert has_pin(outside)


def test_a_refused_sign_in_is_no_word_of_the_provider(outside):
    seen = SocialAccount.objects.filter(user=outside)
    seen.update(last_login=clock.now() - dt.timedelta(days=2))
    deactivate(outside, actor=owner())

    with pytest.raises(OutsideRefused):
        person_of({"sub": "s-1", "groups": ["kasir"]})

    assert seen.get().last_login < clock.now() - dt.timedelta(days=1)


def test_without_the_provider_a_pin_takes_a_password_here(outside):
    browser = till_browser()
    SocialAccount.objects.filter(user=outside).update(last_login=clock.now())
    with override_settings(OIDC_ISSUER=""):
        assert outside in people_with_pin(Till(branch_id=FIRST))
        outside.set_unusable_password()
        outside.save()

        take_over(browser, outside)

        assert who_is_at(browser) == ""
        assert outside not in people_with_pin(Till(branch_id=FIRST))
