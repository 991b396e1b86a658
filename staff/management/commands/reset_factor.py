"""`./run manage reset_factor NAME`: removes the second factors of a person who has lost them."""

from typing import Any

from django.core.management.base import CommandParser

from core.commands import PlainCommand
from staff.acting import person_named
from staff.services.own_factors import reset_factors


class Command(PlainCommand):
    """The same service as the page."""

    help = "Remove all second factors of a person, who is signed out everywhere and adds new ones at the next sign-in."
    json_help = "Print one JSON object."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="The user name.")

    def handle(self, *args: Any, **options: Any) -> None:
        """Exit 0 with the number of removed factors, 1 for an unknown name."""
        person = person_named(options["name"])
        removed = reset_factors(person, actor=None)
        facts = {"name": person.username, "removed": removed}
        self.answer(facts, f"{removed} second factors of {person.username} are removed.", as_json=options["json"])
