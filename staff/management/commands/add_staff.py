"""`./run manage add_staff NAME --role ROLE`: invite somebody without a page, also the first owner."""

from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser

from branches.errors import BranchRefused
from core.commands import EXIT_USAGE, PlainCommand
from core.rights import Right, Role
from staff.acting import NotPermitted, acting_person, add_as, print_link
from staff.errors import NameTaken, NotAllowed
from staff.models import User
from staff.services import invite
from staff.services.second import NeedsSecond


class Command(PlainCommand):
    """The same service as the page; without `--as` it gives any role."""

    help = "Invite somebody: prints a link, valid once, with which this person chooses a password."
    json_help = "Print one JSON object."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="The user name, for signing in.")
        parser.add_argument("--role", choices=Role.values, required=True)
        parser.add_argument("--full-name", default="", help="As the pages show it.")
        add_as(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        """Exit 0 with the link, 1 for a taken name, 2 for an invalid name."""
        actor = acting_person(options, Right.MANAGE_STAFF)
        name = User.normalize_username(options["name"])
        try:
            User._meta.get_field("username").clean(name, None)
        except ValidationError as error:
            raise CommandError(f"{name!r} is not a valid user name.", returncode=EXIT_USAGE) from error
        try:
            person, token = invite(
                username=name, role=Role(options["role"]), actor=actor, full_name=options["full_name"][:150]
            )
        except NameTaken as error:
            raise CommandError(f"There is somebody with the user name {name} already.") from error
        except (NotAllowed, BranchRefused) as error:
            raise NotPermitted(str(error)) from error
        except NeedsSecond as error:
            raise NotPermitted(f"A second person approves the role {options['role']}: ask on the page.") from error
        facts = {"name": person.username, "role": options["role"]}
        print_link(self, token, facts, as_json=options["json"])
