"""docs/roles.md lists the roles for every address and every command; this test compares it with the app."""

from argparse import ArgumentParser

import pytest
from django.core.management import CommandError, call_command, get_commands, load_command_class
from django.test import Client

from core.rights import Role
from staff.acting import NotPermitted
from testing.people import make_person
from tests.roles.helpers import DOCUMENT, NO, YES, addresses, stay, tables

pytestmark = pytest.mark.django_db

NOBODY = "nobody"
COLUMNS = [NOBODY, *(role.value for role in Role)]
METHODS = ("GET", "POST")
# Answered before any session is read, so these are not among the resolver's addresses; everybody gets the same answer.
BY_MIDDLEWARE = {"/healthz", "/readyz", "/callbacks/upstream/"}
SIGN_IN = "/accounts/login/"
# Lists whose files, columns and views belong to each reader.
LISTS = ("order", "bill", "complaint", "difference")
# Commands that take a person with `--as`; without it a command may do everything.
COMMANDS = {
    "add_staff": ["sari", "--role", "viewer"],
    "batch": ["gone.csv"],
    "buy": ["--product", "X", "--destination", "1"],
    "check_bill": ["--product", "X", "--destination", "1"],
    "deactivate_staff": ["x"],
    "pay_bill": ["X"],
}


def is_let_in(answer) -> bool:
    """Whether the answer is neither a refusal nor a redirect to the sign-in."""
    assert answer.status_code < 500, (answer.request["PATH_INFO"], answer.status_code)
    return answer.status_code != 403 and not answer.headers.get("Location", "").startswith(SIGN_IN)


def what_happens(who: str) -> dict[str, str]:
    """Row → yes or no for each address and method; "" where the method is not allowed (405)."""
    client = Client()
    person = None if who == NOBODY else make_person("admin" if who == Role.OWNER else who)
    found = {}
    for name, address in addresses():
        for method in METHODS:
            if person:
                stay(client, person)
            answer = client.generic(method, address)
            found[f"{name} {method}"] = "" if answer.status_code == 405 else YES if is_let_in(answer) else NO
    return found


@pytest.mark.usefixtures("_undrawn")
@pytest.mark.parametrize("who", COLUMNS)
def test_each_role_reaches_just_what_the_table_says(who):
    documented = tables()["address"]
    happens = what_happens(who)

    assert {row: happens[row] for row in documented} == {row: cells[who] for row, cells in documented.items()}
    if who == Role.OWNER:  # nothing refuses an owner: each address served to them needs a row
        assert {row for row, cell in happens.items() if cell} == set(documented)


def test_who_only_sees_posts_nothing_but_what_is_their_own():
    # their own account; acts that check their right inside; comparisons, which change nothing; their own files
    own = {"account", "factor", "own", "passkey", "second_step", "set_language", "preferences", "sign_out_elsewhere"}
    own |= {
        "alert_snooze",
        "results",
        "tips_away",
        "access_link",
        "first_owner",
        "approval",
        "audit",
        "statement",
        "till",
    }
    own |= {
        "order_number",
        "bill_number",
        "order_story_whole",
        "order_bulk",  # a file alone
        *(f"{page}_{part}" for page in LISTS for part in ("file", "columns", "view")),
    }  # each number that is seen is noted
    posts = {
        row
        for row, cells in tables()["address"].items()
        if row.endswith("POST") and YES in {cells["viewer"], cells["auditor"]}
    }

    assert not {row for row in posts if not any(row.startswith(one) for one in own)}


def test_what_middleware_answers_asks_for_no_session():
    for address in sorted(BY_MIDDLEWARE):
        assert Client().get(address).status_code in {200, 405, 503}, address
        assert f"`{address}`" in DOCUMENT.read_text()


def our_commands() -> dict[str, str]:
    ours = {folder.name for folder in DOCUMENT.parents[1].iterdir()}
    return {name: app for name, app in get_commands().items() if app in ours}


def takes_a_person(name: str) -> bool:
    parser: ArgumentParser = load_command_class(our_commands()[name], name).create_parser("manage.py", name)
    return any("--as" in action.option_strings for action in parser._actions)


def test_every_command_has_a_row_that_says_whether_it_acts_as_a_person():
    documented = {name: cells["as a person"] for name, cells in tables()["command"].items()}

    assert set(our_commands()) == set(documented)
    assert documented == {name: YES if takes_a_person(name) else NO for name in our_commands()}
    assert {name for name in documented if documented[name] == YES} == set(COMMANDS)


def test_a_command_as_a_person_does_just_what_the_table_says():
    documented = tables()["command"]
    for role in Role:
        make_person("admin" if role is Role.OWNER else role, username=role)
        allowed = dict.fromkeys(COMMANDS, YES)
        for command, words in COMMANDS.items():
            try:
                call_command(command, *words, "--as", role)
            except NotPermitted:
                allowed[command] = NO
            except CommandError:
                pass  # let in, but there is no such product, bill or person

        assert allowed == {command: documented[command][role.value] for command in COMMANDS}, role
