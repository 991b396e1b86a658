"""The command line of `./run`.

Imported before anything is installed: standard library only. The module of a command is imported once `.venv` is there.
"""

import argparse
import importlib
import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from launcher import PYTHON, ROOT, version
from launcher.accounts import account
from launcher.installing import DEVELOPMENT, RUNTIME, compile_translations, enter_venv, install_front_end
from launcher.output import LaunchError, ending_with_the_reader, output, quiet_output
from launcher.processes import Interrupted, ProcessGroup
from launcher.shop_time import moment

DEFAULT_PORT, LOOPBACK = 8000, "127.0.0.1"
ROLES = ("web", "worker", "background", "beat")
MODULES = {
    "service": "units",
    "up": "serving",
    "manage": "calling",
    "doctor": "calling",
    "status": "status",
    "upgrade": "upgrading",
    "reset": "resetting",
    "backup": "backing_up",
    "restore": "restoring",
    "drill": "drilling",
}
TASKS = {"test", "check", "lock", "screenshots"}  # of pyproject.toml
QUIET = {"manage", "doctor", "status", "reset", "service", "backup", "drill"}  # their result goes to standard output
PASSING_ON = {"manage", "test"}  # their arguments are passed on unread
EPILOG = """\
./run starts everything on 127.0.0.1: PostgreSQL, Valkey, the web pages, two workers, beat, and a sandbox in place of
the upstream service, so that nothing real is bought. Data, logs and generated secrets are in .data (BACKOFFICE_DATA
names another folder). Settings come from the environment or from .env; .env.example and docs/settings.md explain each.

  ./run                              start; Ctrl-C stops
  ./run --port 9000                  start on another port
  ./run --empty                      start a new demo without the month that it has behind it
  ./run manage add_staff …           any command of manage.py, with the services it needs
  ./run test -k callbacks            the tests; arguments are pytest's
  ./run status --json                what runs, for programs
"""


class Parser(argparse.ArgumentParser):
    """Names the fault in one sentence and exits with code 2."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{message[:1].upper()}{message[1:]}. `./run --help` lists what there is.\n")


def parser() -> Parser:
    top = Parser(
        prog="./run",
        description="Runs, tests and checks the merchant backoffice.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=version())
    commands = top.add_subparsers(dest="command", metavar="command", parser_class=Parser)
    up = commands.add_parser("up", help="start everything and keep it running (the default)")
    up.add_argument("--port", type=port_number, help=f"where the pages are served (default {DEFAULT_PORT})")
    up.add_argument("--host", default=LOOPBACK, help="the address they are served on, for a proxy on another machine")
    up.add_argument(
        "--only",
        action="append",
        choices=ROLES,
        help="start this role alone (again for another); see docs/deployment.md",
    )
    up.add_argument("--empty", action="store_true", help="a new demo begins today, without a month behind it")
    commands.add_parser("install", help="fetch what the locks name into this folder, and start nothing")
    commands.add_parser("upgrade", help="let the version that lies here take the place of the one that runs")
    commands.add_parser("manage", help="run a command of manage.py", add_help=False)
    shown = commands.add_parser(
        "status",
        help="each process with its state, port and memory; exit code 1 when one is not well, 3 when nothing runs",
    )
    shown.add_argument("--json", action="store_true", dest="as_json", help="print one JSON object")
    commands.add_parser("doctor", help="look at everything that the shop rests on, and say what to do", add_help=False)
    commands.add_parser("test", help="run the tests on services of their own; arguments are pytest's", add_help=False)
    commands.add_parser("check", help="lint, types, imports, migrations, deployment, locks, translations, docs")
    commands.add_parser("screenshots", help="make the pictures in docs/pictures again, of a demo of its own")
    locked = commands.add_parser("lock", help="compile the lock files again from the .in files and package.json")
    locked.add_argument("--upgrade", action="store_true", help="take the newest versions that are allowed")
    service = commands.add_parser("service", help="write systemd units that keep ./run up running")
    service.add_argument("action", choices=["install"], help="write them to /etc/systemd/system")
    service.add_argument(
        "--only", action="append", choices=ROLES, help="a unit for this role alone (again for another)"
    )
    service.add_argument("--to", metavar="FOLDER", help="write them there instead")
    service.add_argument("--user", help="whom the services run as (default: the owner of this folder)")
    backup = commands.add_parser("backup", help="copy the database and its secrets to a folder, while the shop sells")
    backup.add_argument("folder", nargs="?", type=Path, help="where to (default: BACKUP_TO)")
    backup.add_argument("--json", action="store_true", dest="as_json", help="print one JSON object")
    backup.add_argument("--new-key", type=Path, metavar="FILE", help="make the key that opens the secrets of backups")
    restore = commands.add_parser("restore", help="make an empty data folder the shop of a backup; nothing is sold yet")
    restore.add_argument(
        "--from", dest="source", required=True, metavar="FOLDER", help="of backups, or of one; or s3://BUCKET/FOLDER"
    )
    restore.add_argument(
        "--to",
        type=moment,
        metavar="TIME",
        help="such as '2026-11-26 14:05', in the shop's time (WIB); or with a zone: '… 15:05 WITA', …T07:05:00Z",
    )
    restore.add_argument("--key", type=Path, metavar="FILE", help="the private key that opens the secrets")
    drill = commands.add_parser("drill", help="restore the last backup beside the shop, prove it, and delete it")
    drill.add_argument(
        "--from", dest="source", metavar="FOLDER", help="with backups, or s3://BUCKET/FOLDER (default: BACKUP_TO)"
    )
    drill.add_argument("--key", type=Path, metavar="FILE", help="the private key: proves that it opens the secrets")
    drill.set_defaults(to=None)
    drill.add_argument("--json", action="store_true", dest="as_json", help="print one JSON object")
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
    group = ProcessGroup()

    def interrupt(_number: int, _frame: object) -> None:
        group.interruptions += 1

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)
    try:
        with ending_with_the_reader():
            return dispatch(list(arguments), group)
    except LaunchError as error:
        print(f"\n{error}", file=sys.stderr, flush=True)
        return error.exit_code
    except Interrupted:
        print("\nStopped.", file=sys.stderr, flush=True)
        return 128 + signal.SIGINT
    finally:
        group.close()


def read_arguments(arguments: list[str]) -> argparse.Namespace:
    """The command and its options; `words` are the arguments that are passed on."""
    if arguments and arguments[0] in PASSING_ON:
        return argparse.Namespace(command=arguments[0], words=arguments[1:])
    if arguments and arguments[0] == "doctor":
        return argparse.Namespace(command="doctor", words=arguments)
    if not arguments or (arguments[0].startswith("-") and arguments[0] not in {"-h", "--help", "--version"}):
        arguments = ["up", *arguments]
    return parser().parse_args(arguments)


def dispatch(arguments: list[str], group: ProcessGroup) -> int:
    """Read the arguments, install missing packages, and run the command."""
    options = read_arguments(arguments)
    command: str = options.command
    started = float(os.environ.pop("RUN_STARTED", 0)) or time.monotonic()
    say = quiet_output if command in QUIET else output(started)
    os.environ["RUN_STARTED"] = str(started)  # the Python of .venv goes on counting from it
    # these commands install nothing, so that nothing changes under a running ./run
    looking = command in {"status", "reset", "service", "upgrade", "backup", "drill"}
    if command == "service":
        account(options.user)  # a wrong one is refused before minutes of installing
    lock = None if looking else DEVELOPMENT if command in TASKS else RUNTIME
    enter_venv(group, say, lock=lock, arguments=arguments)
    del os.environ["RUN_STARTED"]
    if not looking:
        install_front_end(group, say, development=command in TASKS)
    if command == "install":
        compile_translations(group)
        say("Everything is installed")
        return 0
    if command in TASKS:
        words = ["--upgrade"] if vars(options).get("upgrade") else vars(options).get("words", [])
        become_task(group, command, words)
    module = importlib.import_module(f"launcher.{MODULES[command]}")
    return int(module.run(group, say, options))


def become_task(group: ProcessGroup, name: str, words: list[str]) -> NoReturn:
    """Replace this process by a task of pyproject.toml; does not return."""
    group.close()
    os.chdir(ROOT)
    os.execv(PYTHON, [str(PYTHON), "-m", "poethepoet", "--quiet", name, *words])  # noqa: S606
