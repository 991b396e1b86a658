"""`./run manage …`: runs manage.py with the services of a running `./run up`, or with services started for the call."""

import argparse
import os
import signal
import time
from typing import NoReturn

from launcher import PYTHON, ROOT
from launcher.commands import DEFAULT_PORT
from launcher.data_folder import DataFolderInUseError, held, read_environment, serving_state, write_state
from launcher.output import LaunchError, Say
from launcher.processes import ProcessGroup
from launcher.project import Project, read_project
from launcher.stack import Stack
from launcher.status import running_launchers

BUSY_SECONDS = 90.0


def run(group: ProcessGroup, say: Say, options: argparse.Namespace) -> int:
    """Run manage.py and return its exit code. Only its own output reaches standard output."""
    project = read_project()
    if project.sandboxed and options.words[:1] == ["createsuperuser"]:
        say(
            "This is the demo's database: ./run reset deletes this person again. For the real service set "
            "UPSTREAM_BASE_URL first."
        )
    pass_on(project, group, options.words)  # also on a full disk: the shop runs
    if options.words[:1] == ["doctor"]:
        look_without_a_shop(project, say)
    project.make_ready()
    waited, deadline = False, time.monotonic() + BUSY_SECONDS
    while time.monotonic() < deadline:
        pass_on(project, group, options.words)
        try:
            with held(project.data):
                return call_alone(project, group, say, options.words)
        except DataFolderInUseError:
            if not waited:
                say("Another ./run is busy with this data folder: waiting for it.")
            waited = True
        group.pause(0.1)
    raise LaunchError(f"The data folder {project.data} is in use by another ./run: try again when it has ended.")


def look_without_a_shop(project: Project, say: Say) -> None:
    """Say that the shop of this data folder does not run; LaunchError, before anything is made, when there is none."""
    if "DATABASE_URL" not in project.given and not (project.data / "postgres").exists():
        raise LaunchError(f"There is no shop in {project.data} yet: `./run` makes it and starts it.")
    if not running_launchers(project.data):
        say("The shop is not running: `./run` starts it. What follows is what can be seen without it.")


def pass_on(project: Project, group: ProcessGroup, words: list[str]) -> None:
    """Become manage.py if a `./run up` serves on this data folder; else return."""
    if state := serving_state(project.data):
        become_manage(group, read_environment(state), words)


def become_manage(group: ProcessGroup, environment: dict[str, str], words: list[str]) -> NoReturn:
    """Replace this process by manage.py in the environment of the running `./run up`; does not return."""
    group.close()
    os.chdir(ROOT)
    os.execve(PYTHON, [str(PYTHON), "manage.py", *words], {**os.environ, **environment})  # noqa: S606


def call_alone(project: Project, group: ProcessGroup, say: Say, words: list[str]) -> int:
    """Start what manage.py needs, run it, stop everything again."""
    stack = Stack(project, group)
    sandbox = None
    try:
        write_state(project.data, {"doing": "manage", "pid": os.getpid()})
        stack.start_stores(web_port=DEFAULT_PORT)
        if project.sandboxed and words[:1] != ["prepare_app"]:  # it makes no call to the upstream
            stack.prepare_sandbox()
            sandbox = stack.start_sandbox()
            stack.await_sandbox(sandbox)
        # a restored database can be prepared only after restart_audit
        if not stack.prepared and words[:1] not in (["restart_audit"], ["prepare_app"]):
            say("New data folder: preparing the database first.")
            stack.finish_preparing(stack.manage("prepare_app"))
        # it may talk to a person: it gets the terminal and its Ctrl-C
        child = group.start(
            "manage.py", [PYTHON, "manage.py", *words], env=stack.owners_environment, cwd=ROOT, own_session=False
        )
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, lambda *_: child.process.send_signal(signal.SIGTERM))
        code = child.process.wait()
        group.forget(child)
        return 128 - code if code < 0 else code
    finally:
        if sandbox:
            group.stop([sandbox], grace=2.0)
        stack.stores.stop()
        group.close()
