"""The behaviour of all our commands on the terminal."""

import argparse
import json
import logging
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn, TextIO

from django.core.management.base import BaseCommand, CommandError, CommandParser, OutputWrapper
from django.db import NotSupportedError, OperationalError
from django.utils import translation

from core.bidi import visible_in_terminal
from core.connections import is_away
from core.schema import WrongSchema, refuse_newer_schema

EXIT_USAGE, EXIT_NOT_YET = 2, 3

# Nobody follows an order in the foreground for longer; the workers do.
_LONGEST_WAIT_SECONDS = 3600
# From this verbosity on the log is written to the terminal, too.
_VERBOSE = 2


def waiting_seconds(text: str) -> float:
    """The type of every `--wait`: seconds, from 0 to an hour."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds <= _LONGEST_WAIT_SECONDS:
        raise argparse.ArgumentTypeError(f"{text!r} must be a number of seconds from 0 to {_LONGEST_WAIT_SECONDS}")
    return seconds


def whole_rupiah(text: str) -> int:
    """The type of every amount: whole rupiah, above zero, in digits."""
    if not (text.isascii() and text.isdecimal() and len(text) < 16 and int(text)):
        raise argparse.ArgumentTypeError(f"{text!r} must be whole rupiah above zero")
    return int(text)


class VisibleOutput(OutputWrapper):
    """Writes the controls in a text of the upstream by their names; JSON, which escapes them, stays as it is."""

    def write(  # type: ignore[override] # as Django has it
        self, msg: str = "", style_func: Callable[[str], str] | None = None, ending: str | None = None
    ) -> None:
        """Write the text, then `ending` (a line's end unless given)."""
        super().write(visible_in_terminal(msg), style_func, ending)


class PlainCommand(BaseCommand):
    """A command that speaks English in every setting, and names an error in one sentence.

    `json_help`: what `--json` prints; a command without it takes no `--json`.
    """

    json_help = ""

    def __init__(self, stdout: TextIO | None = None, stderr: TextIO | None = None, **more: Any) -> None:
        super().__init__(stdout, stderr, **more)
        style = self.stderr.style_func
        self.stdout, self.stderr = VisibleOutput(stdout or sys.stdout), VisibleOutput(stderr or sys.stderr)
        self.stderr.style_func = style

    def run_from_argv(self, argv: list[str]) -> None:
        """Refuse an argument that is not UTF-8 with one sentence and exit code 2: nothing can store or find it."""
        for text in argv:
            try:
                text.encode()
            except UnicodeEncodeError:
                shown = text.encode(errors="surrogateescape").decode(errors="replace")
                self.stderr.write(f"CommandError: {shown!r} is not valid UTF-8 (see {argv[1]} --help)")
                sys.exit(EXIT_USAGE)
        super().run_from_argv(argv)

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Refuse wrong arguments with one sentence and exit code 2, not a page of usage; take no shortened option."""
        parser = super().create_parser(prog_name, subcommand, allow_abbrev=False, **kwargs)
        if self.json_help:
            parser.add_argument("--json", action="store_true", help=self.json_help)

        def refuse(message: str) -> NoReturn:
            sentence = f"{message} (see {subcommand} --help)"
            # Django parses outside of the code that catches a CommandError
            if getattr(self, "_called_from_command_line", False):
                parser.exit(EXIT_USAGE, f"CommandError: {sentence}\n")
            raise CommandError(sentence, returncode=EXIT_USAGE)

        parser.error = refuse  # type: ignore[method-assign]
        return parser

    def answer(self, facts: Any, sentence: str, *, as_json: bool) -> None:
        """Print the result: these facts as JSON, or the sentence."""
        self.stdout.write(json.dumps(facts) if as_json else sentence)

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Run in English; report an unreachable database in one sentence; write the log only with `--verbosity 2`."""
        for name in ("stdout", "stderr"):
            if output := options.pop(name, None):  # Django would put its own around it
                setattr(self, name, VisibleOutput(output))
        try:
            with translation.override("en"), _log_shown(options["verbosity"] >= _VERBOSE):
                refuse_newer_schema()
                return super().execute(*args, **options)
        except (WrongSchema, NotSupportedError) as error:
            raise CommandError(str(error)) from error
        except OperationalError as error:
            reason = str(error).strip().splitlines()[0]
            what = "The database cannot be used; is it running?" if is_away(error) else "The database gave up."
            raise CommandError(f"{what} It says: {reason}") from error


@contextmanager
def _log_shown(is_shown: bool) -> Iterator[None]:
    """Write the log to the terminal, from INFO on, or write none of it: a command's own sentence says enough."""
    level, disabled = logging.root.level, logging.root.manager.disable
    if is_shown:
        logging.root.setLevel(min(level, logging.INFO))
    else:
        logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.root.setLevel(level)
        logging.disable(disabled)
