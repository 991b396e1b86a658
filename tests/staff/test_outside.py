"""A sign-in through a provider of OpenID Connect: the people who get in, and their roles."""

import pytest
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth import SESSION_KEY
from django.core.management import CommandError, call_command
from django.test import Client, override_settings

from audit.models import AuditEvent
from backoffice.checks import check_configuration
from core.rights import Role
from staff.errors import NotAllowed
from staff.events import OUTSIDE_LINKED, ROLE_CHANGED, SIGN_IN_FAILED, SIGN_OUT
from staff.models import Session, User
from staff.roles import give_role, role_of
from staff.services import change_role, deactivate, make_link
from testing.people import code_of, give_factor, make_person
from tests.staff.oidc_provider import (
    CALLBACK,
    ROLES,
    SARI,
    SIGN_IN,
    START,
    come_back,
    refusal,
    signed_in,
)
from tests.staff.own_keys import with_passkey

pytestmark = pytest.mark.django_db


# --- only when it is set up --------------------------------------------------------------------------------------


def test_the_button_and_its_addresses_are_there_with_settings_alone(request):
    assert b"oidc-sign-in" not in Client().get(SIGN_IN).content
    assert [Client().get(address).status_code for address in (START, CALLBACK)] == [404, 404]

    request.getfixturevalue("provider")

    assert b'id="oidc-sign-in"' in Client().get(SIGN_IN).content


def test_half_a_setup_is_refused_at_the_start():
    whole = {"OIDC_ISSUER": "https://id.example", "OIDC_CLIENT_ID": "x", "OIDC_CLIENT_SECRET": "y", "OIDC_ROLES": ROLES}
    wrong = [whole | {"OIDC_ISSUER": "http://id.example"}, whole | {"OIDC_ROLES": {"a": "boss"}}]

    for given in [{"OIDC_ISSUER": "https://id.example"}, *wrong]:
        with override_settings(**given):
            assert any(fault.id == "backoffice.E017" for fault in check_configuration()), given


# --- the account and its role ------------------------------------------------------------------------------------


def test_a_first_sign_in_makes_an_account_without_a_password_that_stays(provider):
    person = signed_in(provider, name="Bu\0 Sari" + "i" * 200)
    assert person is not None
    assert (person.username, role_of(person), person.is_oidc) == ("sari", Role.CASHIER, True)
    assert person.first_name.startswith("Bu Sari"), "a strange full name is no fault"
    assert not person.has_usable_password()
    assert AuditEvent.objects.filter(kind="sign_in", person=person).exists()
    assert AuditEvent.objects.get(kind=OUTSIDE_LINKED.key).after["role"] == "cashier"

    assert signed_in(provider, preferred_username="another") == person
    assert User.objects.count() == 1
    assert come_back(provider, Client(), f"{START}?next=/orders/")["Location"] == "/orders/"
    assert come_back(provider, Client(), f"{START}?next=https://elsewhere.example/")["Location"] == "/"


def test_without_a_mapped_role_or_a_usable_name_there_is_no_account(provider):
    for groups in ([], ["strangers"], None, "owner", ["owner"], [{"kasir": 1}], 7):
        assert refusal(provider, groups=groups) == "no_role", groups
    assert refusal(provider, groups=["kasir"], preferred_username="<b>", email="") == "no_name"
    assert not User.objects.exists()


def test_the_role_follows_the_highest_mapped_claim_up_and_down(provider):
    person = signed_in(provider, groups=["kasir", "kepala", "root"])
    assert person is not None
    assert role_of(person) is Role.ADMINISTRATOR

    person = signed_in(provider, groups="pemilik")
    assert person is not None
    assert person.is_superuser, "an owner is one that the table names"

    person = signed_in(provider, groups=["kasir"])
    assert person is not None
    assert (role_of(person), person.is_superuser) == (Role.CASHIER, False)
    event = AuditEvent.objects.filter(kind=ROLE_CHANGED.key).latest("pk")
    assert (event.before, event.after) == ({"role": "owner"}, {"role": "cashier"})

    give_role(person, Role.OWNER)
    again = signed_in(provider)
    assert again is not None
    assert not again.is_superuser, "a role given here before ends with the claim"


def test_without_the_claim_or_switched_off_a_person_stays_out(provider):
    person = signed_in(provider)
    assert person is not None
    assert refusal(provider, groups=[]) == "no_role"
    assert role_of(User.objects.get(pk=person.pk)) is None
    assert not Session.objects.filter(person=person).exists()
    assert AuditEvent.objects.filter(kind=SIGN_IN_FAILED.key, subject="sari").exists()

    assert signed_in(provider, groups=["kasir"]) == person
    deactivate(person, actor=None)
    assert refusal(provider) == "off"


def test_an_account_of_the_same_name_is_not_taken_over(provider):
    make_person("cashier", username="sari")
    for name in ("sari", "SARI", "break-glass"):
        assert refusal(provider, preferred_username=name) == "name_taken", name
    assert not SocialAccount.objects.exists()


def test_the_sub_of_another_provider_is_another_person(provider):
    person = make_person("cashier", username="other")
    SocialAccount.objects.create(user=person, provider="https://old.example", uid="s-1")
    linked = signed_in(provider)
    assert linked is not None
    assert linked != person


def test_a_command_links_an_account_by_its_sub(provider):
    person = make_person("cashier", username="bu-sari")
    call_command("link_oidc", "bu-sari", "s-1")
    assert signed_in(provider) == person
    assert not User.objects.get(pk=person.pk).has_usable_password()


def test_the_last_owner_with_a_password_is_not_linked(provider):
    make_person("admin", username="owner")
    with pytest.raises(CommandError):
        call_command("link_oidc", "owner", "s-1")


# --- no other way in ---------------------------------------------------------------------------------------------


def test_nothing_opens_an_account_of_the_provider_beside_it(provider):
    browser, left_over = Client(), Client()
    person = signed_in(provider, browser)
    assert person is not None
    with pytest.raises(NotAllowed):
        make_link(person, actor=None)
    with pytest.raises(NotAllowed):
        change_role(person, Role.OWNER, actor=None)
    assert browser.get("/accounts/password/change/")["Location"] == "/me/"
    assert b"/accounts/password/change/" not in browser.get("/me/").content

    person.set_password("left-over-1")
    person.save()
    left_over.post(SIGN_IN, {"login": "sari", "password": "left-over-1"})
    assert SESSION_KEY not in left_over.session

    key, with_key = with_passkey(person), Client()
    key.sign_in(with_key)
    assert SESSION_KEY not in with_key.session


# --- the second factor -------------------------------------------------------------------------------------------


def test_who_has_a_second_factor_is_asked_for_it_and_stays_a_person_of_the_provider(provider):
    person = signed_in(provider)
    assert person is not None
    give_factor(person)
    browser = Client()
    assert come_back(provider, browser)["Location"] == "/accounts/second-step/"
    assert SESSION_KEY not in browser.session
    browser.post("/accounts/second-step/", {"factor_code": code_of(person)})
    assert browser.get("/orders/").status_code == 200

    with override_settings(OIDC_ISSUER=""):
        assert browser.get("/orders/")["Location"].startswith(SIGN_IN)


def test_who_needs_a_second_factor_sets_it_up_first_after_a_fresh_sign_in(provider):
    browser = Client()
    signed_in(provider, browser, groups=["kepala"])
    assert browser.get("/")["Location"] == "/me/factors/"
    page = browser.get("/me/factors/app/")
    assert b'name="password"' not in page.content

    session = browser.session
    session["began"] -= 601
    session.save()
    page = browser.get("/me/factors/app/")
    answer = browser.post("/me/factors/app/", {"secret": page.context["sealed"], "app_code": "000000"})
    assert answer.context["error"].reason == "fresh"


# --- what the provider says is looked at -------------------------------------------------------------------------


def test_a_token_that_is_not_for_this_shop_opens_nothing(provider):
    elsewhere = ({"aud": "another-shop"}, {"iss": "https://elsewhere.example"}, {"azp": "another"})
    not_kept = [{"sub": subject} for subject in ("", "x" * 192, "a\0b", 7)]
    for claims in (*elsewhere, {"exp": 1}, {"nonce": "old"}, *not_kept):
        provider.claims = dict(SARI)
        assert refusal(provider, **claims) == "provider", claims

    provider.claims = dict(SARI)
    for algorithm in ("none", "HS256"):
        provider.algorithm = algorithm
        assert refusal(provider) == "provider", algorithm
    provider.reset()
    provider.claims, provider.forged = dict(SARI), True
    assert refusal(provider) == "provider", "forged"
    assert not User.objects.exists()


def test_an_answer_counts_once_and_in_its_browser_alone(provider):
    browser, stranger = Client(), Client()
    way_back = provider.sign_in(browser.get(START)["Location"])
    assert stranger.get(way_back)["Location"] == SIGN_IN
    assert SESSION_KEY not in stranger.session

    browser.get(way_back)
    assert SESSION_KEY in browser.session
    browser.post("/accounts/logout/")
    browser.get(way_back)
    assert SESSION_KEY not in browser.session


def test_a_provider_that_is_away_leaves_the_password(provider):
    make_person("cashier")
    with override_settings(OIDC_ISSUER="http://127.0.0.1:9"):
        browser = Client()
        assert browser.get(START)["Location"] == SIGN_IN
        browser.post(SIGN_IN, {"login": "cashier", "password": "secret-words"})
        assert SESSION_KEY in browser.session


def test_another_site_begins_no_sign_in_and_a_stranger_only_so_many(provider):
    assert Client().get(START, headers={"Sec-Fetch-Site": "cross-site"})["Location"] == SIGN_IN
    answers = [Client().get(START)["Location"] for _ in range(31)]
    assert answers[0].startswith(provider.issuer)
    assert answers[-1] == SIGN_IN


# --- switched off again ------------------------------------------------------------------------------------------


def test_without_the_provider_its_sessions_end(provider):
    for issuer in ("", "https://another.example"):
        browser = Client()
        person = signed_in(provider, browser)
        assert browser.get("/orders/").status_code == 200

        with override_settings(OIDC_ISSUER=issuer):
            answer = browser.get("/orders/")

            assert answer["Location"].startswith(SIGN_IN), issuer
            assert {message.extra_tags for message in browser.get(SIGN_IN).context["messages"]} == {"provider"}
        assert not Session.objects.filter(person=person).exists()
        event = AuditEvent.objects.filter(kind=SIGN_OUT.key).latest("pk")
        assert (event.person, event.facts) == (person, {"because": "provider"})
    assert AuditEvent.objects.filter(kind=SIGN_OUT.key).count() == 2


def test_other_sessions_of_the_same_person_stay(provider):
    person, with_key, with_link = signed_in(provider), Client(), Client()
    assert person is not None
    key = with_passkey(person)

    with override_settings(OIDC_ISSUER=""):
        come_back_by_password(person, with_link)
        key.sign_in(with_key)
        for browser in (with_key, with_link, with_key, with_link):
            assert browser.get("/orders/").status_code == 200


def come_back_by_password(person: User, browser: Client) -> None:
    """As after a link: a password, then a code."""
    person.set_password("chosen-words-1")
    person.save()
    give_factor(person)
    browser.post(SIGN_IN, {"login": person.username, "password": "chosen-words-1"})
    browser.post("/accounts/second-step/", {"factor_code": code_of(person)})
