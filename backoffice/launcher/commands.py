"""The command line of `./run`."""

import argparse
import os
import signal
import sys
import time
from collections.abc import Sequence
from typing import NoReturn

from backoffice.launcher import calling, gate, serving, status
from backoffice.launcher.failures import LaunchError
from backoffice.launcher.installing import compile_translations, enter_venv, install_front_end
from backoffice.launcher.processes import Family, Interrupted
from backoffice.launcher.project import read_project

DEVELOPMENT_COMMANDS = {"test", "check", "lock"}
PASSING_ON = {"manage", "test"}  # their arguments are somebody else's
COMMANDS = {"up", "status", "reset"} | DEVELOPMENT_COMMANDS | PASSING_ON
EPILOG = """\
./run starts everything on 127.0.0.1: PostgreSQL, Valkey, the web pages, two workers, beat, and a sandbox in place of
the upstream service, so that nothing real is bought. Data, logs and generated secrets are in .data (BACKOFFICE_DATA
names another folder). Settings come from the environment or from .env; .env.example explains each.

  ./run                              start; Ctrl-C stops
  ./run --port 9000                  start on another port
  ./run manage createsuperuser       any command of manage.py, with the services it needs
  ./run test -k callbacks            the tests; arguments are pytest's
  ./run status --json                what runs, for programs
"""


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence and exits with 2."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{message[:1].upper()}{message[1:]}. `./run --help` lists what there is.\n")


def parser() -> Parser:
    """The commands and their options."""
    top = Parser(
        prog="./run",
        description="Runs, tests and checks the merchant backoffice.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    commands = top.add_subparsers(dest="command", metavar="command", parser_class=Parser)
    up = commands.add_parser("up", help="start everything and keep it running (the default)")
    up.add_argument(
        "--port", type=port_number, default=serving.DEFAULT_PORT, help="where the pages are served (default 8000)"
    )
    commands.add_parser("manage", help="run a command of manage.py", add_help=False)
    shown = commands.add_parser(
        "status", help="each process with its state, port and memory; exit code 3 when not running"
    )
    shown.add_argument("--json", action="store_true", dest="as_json", help="print one JSON object")
    commands.add_parser("test", help="run the tests on services of their own; arguments are pytest's", add_help=False)
    commands.add_parser("check", help="lint, types, imports, migrations, deployment, locks, translations")
    locked = commands.add_parser("lock", help="compile the lock files again from the .in files and package.json")
    locked.add_argument("--upgrade", action="store_true", help="take the newest versions that are allowed")
    deleted = commands.add_parser("reset", help="delete the data folder, after a question")
    deleted.add_argument("--yes", action="store_true", help="do not ask")
    return top


def port_number(text: str) -> int:
    """A port that an ordinary user may listen on."""
    number = int(text) if text.isdecimal() else 0
    if not 1024 <= number <= 65_535:
        raise argparse.ArgumentTypeError("a port is a number from 1024 to 65535")
    return number


def main(arguments: Sequence[str]) -> int:
    """Run one command and return the exit code. A LaunchError becomes its sentence on standard error."""
    family = Family()

    def interrupt(_number: int, _frame: object) -> None:
        family.interruptions += 1

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)
    try:
        return dispatch(list(arguments), family)
    except LaunchError as error:
        print(f"\n{error}", file=sys.stderr, flush=True)
        return error.exit_code
    except Interrupted:
        print("\nStopped.", file=sys.stderr, flush=True)
        return 128 + signal.SIGINT
    finally:
        family.close()


def dispatch(arguments: list[str], family: Family) -> int:
    """Read the arguments, install what is missing, and do it."""
    if not arguments or (arguments[0].startswith("-") and arguments[0] not in {"-h", "--help"}):
        arguments = ["up", *arguments]
    if arguments[0] not in COMMANDS and not arguments[0].startswith("-"):
        raise LaunchError(f"There is no command {arguments[0]}: `./run --help` lists what there is.", exit_code=2)
    if arguments[0] in PASSING_ON:
        command, rest = arguments[0], arguments[1:]
        options = argparse.Namespace()
    else:
        options = parser().parse_args(arguments)
        command, rest = options.command, []
    project = read_project()
    if command == "status":
        return status.status(project, as_json=options.as_json)
    if command == "reset":
        return status.reset(project, yes=options.yes)
    started = float(os.environ.pop("RUN_STARTED", 0)) or time.monotonic()
    quiet = command == "manage"
    say = serving.whisper if quiet else serving.teller(started)
    development = command in DEVELOPMENT_COMMANDS
    os.environ["RUN_STARTED"] = str(started)  # the times go on in the Python of .venv
    enter_venv(project, family, say, development=development, arguments=arguments)
    del os.environ["RUN_STARTED"]
    install_front_end(project, family, say, development=development)
    match command:
        case "manage":
            code = calling.manage(project, family, say, rest)
        case "lock":
            code = gate.lock(project, say, upgrade=options.upgrade)
        case "check":
            code = gate.check(project, family)
        case "test":
            compile_translations(project, say)
            code = gate.test(project, family, rest)
        case _:
            code = serving.serve(project, family, say, port=options.port)
    return code
