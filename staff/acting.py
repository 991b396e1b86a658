"""The common parts of commands about people: finding them by name, acting as one (`--as NAME`), printing a link."""

import json
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from staff.models import User
from staff.services.links import VALID_HOURS, link_path


class NotPermitted(CommandError):
    """The person as whom the command had to act may not do this."""


def add_as(parser: CommandParser) -> None:
    """Let the command act as a person."""
    parser.add_argument(
        "--as", dest="acts_as", metavar="NAME", help="Act as this person, who has to have the right (default: nobody)."
    )


def acting_person(options: dict[str, Any], *rights: str) -> User | None:
    """The person of `--as`; None without it: a person who runs the server may do everything.

    Raises `NotPermitted` when this person lacks one of `rights` or cannot sign in, `CommandError` when there is nobody.
    """
    name = options["acts_as"]
    if name is None:
        return None
    person = person_named(name)
    if not (person.is_active and person.has_perms(rights)):
        raise NotPermitted(f"{person.username} may not do this.")
    return person


def person_named(name: str) -> User:
    """The person with this user name. Raises `CommandError` for an unknown name."""
    person: User | None = User.objects.filter(username__iexact=User.normalize_username(name)).first()
    if person is None:
        raise CommandError(f"There is nobody with the user name {name}.")
    return person


def print_link(command: BaseCommand, token: str, facts: dict[str, Any], *, as_json: bool) -> None:
    """Print only the link of this token, or with `facts` one JSON object; the rest goes to standard error."""
    link = settings.SITE_URL.rstrip("/") + link_path(token)
    if as_json:
        command.stdout.write(json.dumps({**facts, "link": link, "valid_hours": VALID_HOURS}))
        return
    command.stdout.write(link)
    if not settings.SITE_URL:
        command.stderr.write("Put the address of the backoffice before it (SITE_URL does that).")
    command.stderr.write(f"It works once, within {VALID_HOURS} hours. It is not shown again.")
