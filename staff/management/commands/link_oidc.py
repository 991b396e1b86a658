"""`./run manage link_oidc NAME SUB`: lets a person with an account sign in through the provider."""

from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from core.commands import PlainCommand
from core.errors import Refused
from staff.acting import person_named
from staff.services.outside import link_account


class Command(PlainCommand):
    """Links by the provider's own key of the person, because a name there may be given to somebody else."""

    help = "Let a person sign in through the provider that OIDC_ISSUER names, and no longer with a password."
    json_help = "Print one JSON object."

    def add_arguments(self, parser: CommandParser) -> None:
        """The user name here, and the person's key at the provider."""
        parser.add_argument("name", help="The user name.")
        parser.add_argument("subject", help="The claim `sub` of this person at the provider.")

    def handle(self, *args: Any, **options: Any) -> None:
        """Exit 0 when the person is linked, 1 when nobody has this name or the account may not be linked."""
        if not settings.OIDC_ISSUER:
            raise CommandError("OIDC_ISSUER is not set.")
        person = person_named(options["name"])
        try:
            link_account(person, options["subject"])
        except Refused as error:
            raise CommandError(str(error)) from error
        facts = {"name": person.username, "sub": options["subject"]}
        self.answer(facts, f"{person.username} signs in with {settings.OIDC_NAME} now.", as_json=options["json"])
