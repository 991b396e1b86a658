"""A sign-in through a provider of OpenID Connect: the people who get in, and their roles."""

import pytest
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth import SESSION_KEY
from django.core.management import CommandError, call_command
from django.test import Client, override_settings
from django.urls import NoReverseMatch, reverse

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
    SIGN_IN,
    START,
    come_back,
    refusal,
    signed_in,
)
from tests.staff.own_keys import with_passkey

pytestmark = pytest.mark.django_db


# --- only when it is set up --------------------------------------------------------------------------------------


def test_without_settings_there_is_no_button_and_no_address():
    assert b"oidc-sign-in" not in Client().get(SIGN_IN).content
    assert Client().get(START).status_code == 404
    assert Client().get(CALLBACK).status_code == 404


def test_with_settings_the_sign_in_page_has_a_button(provider):
    assert b'id="oidc-sign-in"' in Client().get(SIGN_IN).content


@pytest.mark.parametrize("name", ["socialaccount_connections", "socialaccount_signup", "account_signup"])
def test_no_other_page_of_allauth_has_an_address(name):
    with pytest.raises(NoReverseMatch):
        reverse(name)


@pytest.mark.parametrize(
    "given",
    [
        {"OIDC_ISSUER": "https://id.example"},
        {"OIDC_ISSUER": "http://id.example", "OIDC_CLIENT_ID": "x", "OIDC_CLIENT_SECRET": "y", "OIDC_ROLES": ROLES},
        {
            "OIDC_ISSUER": "https://id.example",
            "OIDC_CLIENT_ID": "x",
            "OIDC_CLIENT_SECRET": "y",
            "OIDC_ROLES": {"a": "boss"},
        },
    ],
)
def test_half_a_setup_is_refused_at_the_start(given):
    with override_settings(**given):
        assert any(fault.id == "backoffice.E017" for fault in check_configuration())


# --- the account and its role ------------------------------------------------------------------------------------


def test_a_first_sign_in_makes_an_account_without_a_password(provider):
    person = signed_in(provider)
    assert person is not None
    assert (person.username, role_of(person), person.is_oidc) == ("sari", Role.CASHIER, True)
    assert not person.has_usable_password()
    assert AuditEvent.objects.filter(kind="sign_in", person=person).exists()
    assert AuditEvent.objects.get(kind=OUTSIDE_LINKED.key).after["role"] == "cashier"


def test_the_next_sign_in_is_the_same_account_under_any_name(provider):
    first = signed_in(provider)
    assert signed_in(provider, preferred_username="another") == first
    assert User.objects.count() == 1


def test_one_is_where_one_wanted_to_go_and_nowhere_else(provider):
    assert come_back(provider, Client(), f"{START}?next=/orders/")["Location"] == "/orders/"
    assert come_back(provider, Client(), f"{START}?next=https://elsewhere.example/")["Location"] == "/"


@pytest.mark.parametrize("groups", [[], ["strangers"], None, "owner", ["owner"], [{"kasir": 1}], 7])
def test_no_mapped_role_makes_no_account(provider, groups):
    assert refusal(provider, groups=groups) == "no_role"
    assert not User.objects.exists()


def test_the_highest_mapped_role_counts_and_no_higher(provider):
    person = signed_in(provider, groups=["kasir", "kepala", "root"])
    assert person is not None
    assert role_of(person) is Role.ADMINISTRATOR


def test_an_owner_is_one_that_the_table_names(provider):
    person = signed_in(provider, groups="pemilik")
    assert person is not None
    assert person.is_superuser


def test_a_lower_claim_lowers_the_role(provider):
    signed_in(provider, groups=["pemilik"])
    person = signed_in(provider, groups=["kasir"])
    assert person is not None
    assert (role_of(person), person.is_superuser) == (Role.CASHIER, False)
    event = AuditEvent.objects.get(kind=ROLE_CHANGED.key)
    assert (event.before, event.after) == ({"role": "owner"}, {"role": "cashier"})


def test_an_absent_claim_lets_nobody_in_and_ends_what_was_open(provider):
    person = signed_in(provider)
    assert person is not None
    assert refusal(provider, groups=[]) == "no_role"
    assert role_of(User.objects.get(pk=person.pk)) is None
    assert not Session.objects.filter(person=person).exists()
    assert AuditEvent.objects.filter(kind=SIGN_IN_FAILED.key, subject="sari").exists()


def test_who_is_switched_off_stays_out(provider):
    person = signed_in(provider)
    assert person is not None
    deactivate(person, actor=None)
    assert refusal(provider) == "off"


@pytest.mark.parametrize("name", ["sari", "SARI", "break-glass"])
def test_an_account_of_the_same_name_is_not_taken_over(provider, name):
    make_person("cashier", username="sari")
    assert refusal(provider, preferred_username=name) == "name_taken"
    assert not SocialAccount.objects.exists()


def test_without_a_usable_name_there_is_no_account(provider):
    assert refusal(provider, preferred_username="<b>", email="") == "no_name"


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


def test_no_link_and_no_role_of_a_manager_stand_against_the_provider(provider):
    person = signed_in(provider)
    assert person is not None
    with pytest.raises(NotAllowed):
        make_link(person, actor=None)
    with pytest.raises(NotAllowed):
        change_role(person, Role.OWNER, actor=None)


def test_a_password_that_is_left_over_opens_nothing(provider):
    person = signed_in(provider)
    assert person is not None
    person.set_password("left-over-1")
    person.save()
    browser = Client()
    browser.post(SIGN_IN, {"login": "sari", "password": "left-over-1"})
    assert SESSION_KEY not in browser.session


def test_there_is_no_page_for_a_password(provider):
    browser = Client()
    signed_in(provider, browser)
    assert browser.get("/accounts/password/change/")["Location"] == "/me/"
    assert b"/accounts/password/change/" not in browser.get("/me/").content


def test_a_passkey_alone_does_not_pass_the_provider_by(provider):
    person = signed_in(provider)
    assert person is not None
    key, browser = with_passkey(person), Client()
    key.sign_in(browser)
    assert SESSION_KEY not in browser.session


# --- the second factor -------------------------------------------------------------------------------------------


def test_who_has_a_second_factor_is_asked_for_it(provider):
    person = signed_in(provider)
    assert person is not None
    give_factor(person)
    browser = Client()
    assert come_back(provider, browser)["Location"] == "/accounts/second-step/"
    assert SESSION_KEY not in browser.session
    browser.post("/accounts/second-step/", {"factor_code": code_of(person)})
    assert SESSION_KEY in browser.session


def test_who_needs_a_second_factor_sets_it_up_first(provider):
    browser = Client()
    signed_in(provider, browser, groups=["kepala"])
    assert browser.get("/")["Location"] == "/me/factors/"
    page = browser.get("/me/factors/app/")
    assert b'name="password"' not in page.content


def test_the_first_factor_takes_a_fresh_sign_in(provider):
    browser = Client()
    signed_in(provider, browser, groups=["kepala"])
    session = browser.session
    session["began"] -= 601
    session.save()
    page = browser.get("/me/factors/app/")
    answer = browser.post("/me/factors/app/", {"secret": page.context["sealed"], "app_code": "000000"})
    assert answer.context["error"].reason == "fresh"


# --- what the provider says is looked at -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "claims",
    [{"aud": "another-shop"}, {"iss": "https://elsewhere.example"}, {"exp": 1}, {"nonce": "old"}, {"azp": "another"}],
)
def test_a_token_for_something_else_opens_nothing(provider, claims):
    assert refusal(provider, **claims) == "provider"


@pytest.mark.parametrize("subject", ["", "x" * 192, "a\0b", 7])
def test_a_subject_that_cannot_be_kept_opens_nothing(provider, subject):
    assert refusal(provider, sub=subject) == "provider"


def test_a_strange_full_name_is_no_fault(provider):
    person = signed_in(provider, name="Bu\0 Sari" + "i" * 200)
    assert person is not None
    assert person.first_name.startswith("Bu Sari")


@pytest.mark.parametrize("algorithm", ["none", "HS256"])
def test_an_unsigned_token_opens_nothing(provider, algorithm):
    provider.algorithm = algorithm
    assert refusal(provider) == "provider"


def test_a_forged_signature_opens_nothing(provider):
    provider.forged = True
    assert refusal(provider) == "provider"


def test_an_answer_of_another_browser_opens_nothing(provider):
    way_back = provider.sign_in(Client().get(START)["Location"])
    stranger = Client()
    assert stranger.get(way_back)["Location"] == SIGN_IN
    assert SESSION_KEY not in stranger.session


def test_an_answer_counts_once(provider):
    browser = Client()
    way_back = provider.sign_in(browser.get(START)["Location"])
    browser.get(way_back)
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


def test_another_site_does_not_begin_a_sign_in(provider):
    assert Client().get(START, headers={"Sec-Fetch-Site": "cross-site"})["Location"] == SIGN_IN


def test_a_stranger_begins_only_so_many_sign_ins(provider):
    answers = [Client().get(START)["Location"] for _ in range(31)]
    assert answers[0].startswith(provider.issuer)
    assert answers[-1] == SIGN_IN


def test_a_role_given_here_before_ends_with_the_claim(provider):
    person = signed_in(provider)
    assert person is not None
    give_role(person, Role.OWNER)
    again = signed_in(provider)
    assert again is not None
    assert not again.is_superuser


# --- switched off again ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("issuer", ["", "https://another.example"])
def test_without_the_provider_its_sessions_end(provider, issuer):
    browser = Client()
    person = signed_in(provider, browser)
    assert browser.get("/orders/").status_code == 200

    with override_settings(OIDC_ISSUER=issuer):
        answer = browser.get("/orders/")

        assert answer["Location"].startswith(SIGN_IN)
        assert {message.extra_tags for message in browser.get(SIGN_IN).context["messages"]} == {"provider"}
    assert not Session.objects.filter(person=person).exists()
    event = AuditEvent.objects.get(kind=SIGN_OUT.key)
    assert (event.person, event.facts) == (person, {"because": "provider"})


def test_a_session_remembers_the_provider_over_the_second_step(provider):
    person = signed_in(provider)
    assert person is not None
    give_factor(person)
    browser = Client()
    come_back(provider, browser)
    browser.post("/accounts/second-step/", {"factor_code": code_of(person)})
    assert browser.get("/orders/").status_code == 200

    with override_settings(OIDC_ISSUER=""):
        assert browser.get("/orders/")["Location"].startswith(SIGN_IN)


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
