"""A new demo gets its month before anybody can use it; tests/backoffice/test_demo.py checks the month."""

import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from launcher import ROOT
from launcher.processes import Child, ProcessGroup
from launcher.project import Project
from launcher.services import Service
from launcher.serving import Server
from launcher.stack import Stack


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch, group: ProcessGroup) -> list[tuple[tuple[str, ...], dict[str, str]]]:
    """Our programs that a stack starts, with their environments; each ends at once and does nothing."""
    programs: list[tuple[tuple[str, ...], dict[str, str]]] = []

    def begin(_stack: Stack, name: str, *words: str, environment: dict[str, str], **_how: Any) -> Child:
        programs.append((words, environment))
        return group.start(name, [sys.executable, "-c", ""], env=os.environ, cwd=ROOT)

    monkeypatch.setattr(Stack, "python", begin)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    return programs


def new_server(data: Path, group: ProcessGroup, *, is_empty: bool) -> Server:
    facts = {"roles": [], "port": 0, "listener": None, "is_empty": is_empty}
    server = Server(Project(data, {}), group, print, **facts)  # type: ignore[arg-type]
    server._stack.owners_environment = {"DATABASE_URL": "of the owner"}
    return server


def test_a_new_demo_gets_its_month_once_without_limits(empty: Path, group: ProcessGroup, begun) -> None:
    starts = [new_server(empty, group, is_empty=False)._open_demo() for _ in range(2)]

    assert starts == [True, False]
    [(words, environment)] = begun
    assert words == ("manage.py", "open_demo")
    assert environment["DATABASE_URL"] == "of the owner"
    rates = {name: rate for name, rate in environment.items() if name.endswith("_RATE")}
    assert (len(rates), set(rates.values())) == (3, {"100000/minute"})


def test_after_a_month_that_was_killed_the_sandbox_has_the_real_time(
    empty: Path, group: ProcessGroup, begun, monkeypatch: pytest.MonkeyPatch
) -> None:
    def begin(program: str) -> Child:
        return group.start("program", [sys.executable, "-c", program], env=os.environ, cwd=ROOT)

    # given
    sandbox = Service("sandbox", lambda: begin("import time; time.sleep(600)"))
    sandbox.child = in_the_past = sandbox.begin()
    server = new_server(empty, group, is_empty=False)
    server._services.append(sandbox)
    monkeypatch.setattr(Stack, "open_demo", lambda _: begin("import os; os.kill(os.getpid(), 9)"))
    monkeypatch.setattr(Stack, "await_sandbox", lambda *_: None)

    # when
    assert server._open_demo() is False

    # then: only the process keeps a moved time
    assert not in_the_past.running()
    assert sandbox.child.running()


def test_a_demo_that_began_empty_never_gets_one(empty: Path, group: ProcessGroup, begun) -> None:
    starts = [new_server(empty, group, is_empty=is_empty)._open_demo() for is_empty in (True, False)]

    assert (starts, begun) == ([False, False], [])
