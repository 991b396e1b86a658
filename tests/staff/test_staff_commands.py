"""Commands invite people and switch accounts off."""

import json

import pytest
from django.core.management import load_command_class

from audit.models import AuditEvent
from core.rights import Role
from staff.events import LINK_MADE
from staff.models import AccessLink, User
from staff.roles import role_of
from staff.services import deactivate
from testing.people import make_person
from tests.core.helpers import run
from tests.staff.helpers import GOOD, choose, owner, signed_in

pytestmark = pytest.mark.django_db


def test_a_command_invites_also_the_first_owner_and_prints_the_link(settings):
    settings.SITE_URL = "https://shop.example"

    code, printed = run("add_staff", "sari", "--role", "cashier", "--json")
    facts = json.loads(printed)
    assert code == 0
    assert facts["link"].startswith("https://shop.example/accounts/link/?link=")
    assert choose(facts["link"].partition("link=")[2]).status_code == 302
    assert role_of(User.objects.get(username="sari")) is Role.CASHIER

    code, printed = run("add_staff", "ani", "--role", "owner")
    choose(printed.split()[0].partition("link=")[2])
    assert code == 0
    assert User.objects.get(username="ani").is_superuser


def test_a_wrong_invitation_is_one_sentence():
    make_person("cashier")

    for arguments, expected in (
        (["sari"], 2),
        (["sari", "--role", "king"], 2),
        (["bu sari", "--role", "cashier"], 2),
        (["CASHIER", "--role", "cashier"], 1),
    ):
        code, sentence = run("add_staff", *arguments)

        assert (code, len(sentence.splitlines())) == (expected, 1), arguments
    assert User.objects.count() == 1


def test_a_command_switches_off_but_never_the_last_owner():
    person = make_person("cashier")
    owner()

    assert run("deactivate_staff", "cashier")[0] == 0
    assert run("deactivate_staff", "owner")[0] == 1
    assert run("deactivate_staff", "nobody")[0] == 1
    person.refresh_from_db()
    assert not person.is_active
    assert User.objects.get(username="owner").is_active


def test_an_owner_who_lost_the_password_gets_a_link_by_a_command(settings):
    settings.SITE_URL = "https://shop.example"
    browser = signed_in(owner())

    code, printed = run("password_link", "OWNER", "--json")

    facts = json.loads(printed)
    event = AuditEvent.objects.get(kind=LINK_MADE.key)
    assert code == 0
    assert facts["link"].startswith("https://shop.example/accounts/link/?link=")
    assert facts["valid_hours"] == 72
    assert (event.person, event.subject, event.facts["sessions"]) == (None, "owner", 1)
    assert browser.get("/me/").status_code == 302
    token = facts["link"].partition("link=")[2]
    assert choose(token).status_code == 302
    assert choose(token).status_code == 410
    assert User.objects.get(username="owner").check_password(GOOD)


def test_a_command_makes_no_link_for_nobody_or_a_closed_account():
    deactivate(make_person("cashier"), actor=None)

    assert run("password_link", "nobody")[0] == 1
    assert run("password_link", "cashier")[0] == 1
    assert not AccessLink.objects.exists()


def test_a_command_acts_as_a_person_with_that_persons_rights():
    make_person("administrator", username="boss")
    make_person("cashier", username="kasir")

    assert run("add_staff", "sari", "--role", "cashier", "--as", "boss")[0] == 0
    assert run("add_staff", "tuti", "--role", "administrator", "--as", "boss")[0] == 1
    assert run("add_staff", "tuti", "--role", "viewer", "--as", "kasir")[0] == 1
    assert run("add_staff", "tuti", "--role", "viewer", "--as", "nobody")[0] == 1
    assert set(User.objects.values_list("username", flat=True)) == {"boss", "kasir", "sari"}


def test_a_name_that_is_no_utf8_is_refused_in_one_sentence(capsys):
    for words in (["deactivate_staff", "s\udcffri"], ["add_staff", "\udcff", "--role", "cashier"]):
        with pytest.raises(SystemExit) as end:
            load_command_class("staff", words[0]).run_from_argv(["manage.py", *words])

        assert end.value.code == 2
        assert len(capsys.readouterr().err.strip().splitlines()) == 1, words
