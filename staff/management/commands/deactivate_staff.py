"""`./run manage deactivate_staff NAME`: switch an account off without a page."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from core.commands import PlainCommand
from core.rights import Right
from staff.acting import acting_person, add_as, person_named
from staff.errors import NotAllowed
from staff.services import deactivate


class Command(PlainCommand):
    """The same service as the page."""

    help = "Switch an account off: this person is signed out everywhere, and no link opens the account."
    json_help = "Print one JSON object."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="The user name.")
        add_as(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        """Exit 0 when the account is off, 1 when it is unknown or the last active owner's."""
        actor = acting_person(options, Right.MANAGE_STAFF)
        person = person_named(options["name"])
        try:
            deactivate(person, actor=actor)
        except NotAllowed as error:
            raise CommandError(str(error)) from error
        facts = {"name": person.username, "active": False}
        self.answer(facts, f"{person.username} is switched off.", as_json=options["json"])
