"""`--as NAME`: a command acts as a person, with that person's rights and limits."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from staff.models import User


class NotPermitted(CommandError):
    """The person that the command was to act as may not do this."""


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
    person: User | None = User.objects.filter(username__iexact=User.normalize_username(name)).first()
    if person is None:
        raise CommandError(f"There is nobody with the user name {name}.")
    if not (person.is_active and person.has_perms(rights)):
        raise NotPermitted(f"{person.username} may not do this.")
    return person
