#!/usr/bin/env python
"""Django's command line for this project. `./run manage …` calls it with the services up."""

import os
import sys

from django.conf import settings
from django.core.management import BaseCommand, ManagementUtility

from launcher.output import ending_with_the_reader

EXIT_USAGE = 2
# These make, change or fill tables as the database's owner (DATABASE_OWNER_URL); the others have the app's few rights.
OWNERS = {
    *("migrate", "createcachetable", "prepare_app", "grant_app_role", "restart_audit", "hold_restored"),
    *("flush", "pgtrigger"),
}
# Django's commands that use our tables. Our own refuse a newer version's tables by themselves (core/commands.py).
OF_DJANGO = {"migrate", "flush", "shell", "createsuperuser", "changepassword"}


class CommandLine(ManagementUtility):
    """Django's, but an unknown command is a usage error like any other."""

    def fetch_command(self, subcommand: str) -> BaseCommand:
        """The command of that name; exit code 2 when there is none."""
        try:
            command = super().fetch_command(subcommand)
        except SystemExit:
            sys.exit(EXIT_USAGE)
        if subcommand in OF_DJANGO and settings.ROOT_URLCONF == "backoffice.urls":
            refuse_newer_schema()
        return command


def refuse_newer_schema() -> None:
    """Exit code 1 with a sentence when a newer version has changed the database."""
    from core.schema import WrongSchema, refuse_newer_schema  # noqa: PLC0415 - it needs the apps

    try:
        refuse_newer_schema()
    except WrongSchema as error:
        sys.exit(f"CommandError: {error}")


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "backoffice.settings")
    if os.environ["DJANGO_SETTINGS_MODULE"] == "backoffice.settings":
        # A command's standard error is for one sentence about what went wrong, not for the log.
        os.environ.setdefault("LOG_LEVEL", "ERROR")
    if sys.argv[1:2] and sys.argv[1] in OWNERS:
        os.environ["DATABASE_AS_OWNER"] = "1"
    with ending_with_the_reader():
        CommandLine(sys.argv).execute()
