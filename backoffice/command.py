"""How every command of ours behaves on the terminal."""

from __future__ import annotations

from typing import Any, NoReturn

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import OperationalError
from django.utils import translation

EXIT_USAGE = 2


class PlainCommand(BaseCommand):
    """A command that speaks English, whatever the pages speak, and says what went wrong in one sentence."""

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Refuse wrong arguments with one sentence and exit code 2, without a page of usage."""
        parser = super().create_parser(prog_name, subcommand, **kwargs)

        def refuse(message: str) -> NoReturn:
            sentence = f"{message} (see {subcommand} --help)"
            if getattr(
                self, "_called_from_command_line", False
            ):  # Django parses outside of what catches a CommandError
                parser.exit(EXIT_USAGE, f"CommandError: {sentence}\n")
            raise CommandError(sentence, returncode=EXIT_USAGE)

        parser.error = refuse  # type: ignore[method-assign]
        return parser

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Run in English; a database that cannot be reached is one sentence."""
        try:
            with translation.override("en"):
                return super().execute(*args, **options)
        except OperationalError as error:
            reason = str(error).strip().splitlines()[0]
            raise CommandError(f"The database cannot be used; is it running? It says: {reason}") from error
