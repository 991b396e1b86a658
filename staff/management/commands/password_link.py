"""`./run manage password_link NAME`: a link with which a person who lost the password chooses a new one."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from branches.errors import BranchRefused
from core.commands import PlainCommand
from staff.acting import person_named, print_link
from staff.errors import NotAllowed
from staff.services import make_link


class Command(PlainCommand):
    """The same service as "New link" on the page, also for an owner."""

    help = "Print a link, valid once, with which a person chooses a new password; the person is signed out everywhere."
    json_help = "Print one JSON object."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="The user name.")

    def handle(self, *args: Any, **options: Any) -> None:
        """Exit 0 with the link, 1 for an unknown name, an account that is switched off, or one of a closed branch."""
        person = person_named(options["name"])
        try:
            token = make_link(person, actor=None)
        except (NotAllowed, BranchRefused) as error:
            raise CommandError(str(error)) from error
        print_link(self, token, {"name": person.username}, as_json=options["json"])
