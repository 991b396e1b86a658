"""`./run manage …`: manage.py with the services that `./run up` has running, or with some started for the call."""

import os
import signal
import time
from typing import NoReturn

from backoffice.launcher.data_folder import DataFolderInUseError, held, read_state, write_state
from backoffice.launcher.failures import LaunchError
from backoffice.launcher.installing import Say
from backoffice.launcher.processes import Family, alive
from backoffice.launcher.project import Project
from backoffice.launcher.serving import DEFAULT_PORT
from backoffice.launcher.stack import Stack

BUSY_SECONDS = 90.0


def manage(project: Project, family: Family, say: Say, words: list[str]) -> int:
    """Run manage.py and return its exit code. Nothing but its own output reaches standard output."""
    project.require_real_settings()
    project.make_data_folder()
    waited, deadline = False, time.monotonic() + BUSY_SECONDS
    while time.monotonic() < deadline:
        state = read_state(project.data)
        if state.get("doing") == "serving" and alive(int(state["pid"])):
            become_manage(project, family, state["environment"], words)
        try:
            with held(project.data):
                return call_alone(project, family, say, words)
        except DataFolderInUseError:
            if not waited:
                say("Another ./run is busy with this data folder: waiting for it.")
            waited = True
        family.pause(0.1)
    raise LaunchError(f"The data folder {project.data} is in use by another ./run: try again when it has ended.")


def become_manage(project: Project, family: Family, environment: dict[str, str], words: list[str]) -> NoReturn:
    """Replace this process by manage.py in the environment of the running `./run up`; does not return."""
    family.close()
    os.chdir(project.root)
    os.execve(project.python, [str(project.python), "manage.py", *words], {**os.environ, **environment})  # noqa: S606


def call_alone(project: Project, family: Family, say: Say, words: list[str]) -> int:
    """Start what manage.py needs, run it, stop everything again."""
    stack = Stack(project, family)
    sandbox = None
    try:
        write_state(project.data, {"doing": "manage", "pid": os.getpid()})
        stack.start_stores(web_port=DEFAULT_PORT)
        if project.sandboxed:
            stack.finish(stack.prepare_sandbox(), "The sandbox's database could not be prepared.")
            sandbox = stack.start_sandbox()
            stack.await_http(sandbox, port=stack.sandbox_port or 0, path="/")
        if not stack.prepared:
            say("New data folder: preparing the database first.")
            stack.finish_preparing(stack.manage("prepare_app"))
        child = family.start(
            "manage.py",
            [project.python, "manage.py", *words],
            env=stack.environment,
            cwd=project.root,
            own_session=False,  # it may talk to a person: the terminal's Ctrl-C is for it
        )
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, lambda *_: child.process.send_signal(signal.SIGTERM))
        code = child.process.wait()
        family.forget(child)
        return 128 - code if code < 0 else code
    finally:
        if sandbox:
            family.stop([sandbox], grace=2.0)
        stack.stores.stop()
        family.close()
