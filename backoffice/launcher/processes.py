"""Children that never outlive the launcher.

Two nets, because either can be cut: the kernel signals each child when the launcher dies (`child.py`), and a guardian
process that sees the launcher's pipe close ends whole process groups, by force if need be (`guardian.py`). Each child
leads a session of its own, so that Ctrl-C in the terminal reaches the launcher only and everything ends in order.

Start children from the main thread: the kernel counts the death of the starting *thread* as the parent's death.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import IO

from backoffice.launcher.failures import START_MARK, LaunchError

HERE = Path(__file__).parent
LOG_KEPT_BYTES = 5_000_000
HURRIED_SECONDS = 0.4


class Stage(IntEnum):
    """When a child is ended if the launcher dies: the app first, the stores it writes to after it."""

    APP = 1
    STORE = 2


class Interrupted(Exception):
    """Somebody asked the launcher to stop while it was starting something."""


@dataclass
class Child:
    """A started process, leader of its own process group."""

    name: str
    process: "subprocess.Popen[bytes]"
    log: Path | None
    stop_signal: int
    stage: Stage
    started: float = field(default_factory=time.time)

    @property
    def pid(self) -> int:
        return self.process.pid

    def running(self) -> bool:
        """Whether it has not ended yet (reaps it when it has)."""
        return self.process.poll() is None


class Family:
    """The children of this launcher and their guardian."""

    def __init__(self) -> None:
        self.interruptions = 0  # how often a person or the system has asked this launcher to stop
        self._children: list[Child] = []
        self._throw_away: list[Path] = []
        self._guardian: subprocess.Popen[bytes] | None = None

    def start(
        self,
        name: str,
        command: Sequence[str | Path],
        *,
        env: Mapping[str, str],
        cwd: Path,
        log: Path | None = None,
        stop_signal: int = signal.SIGTERM,
        stage: Stage = Stage.APP,
        user: str | None = None,
        own_session: bool = True,
    ) -> Child:
        """Start `command`; its output is appended to `log`, or without one goes where the launcher's own goes.

        `own_session=False` is for a command that a person talks to in the terminal.
        """
        bootstrap = [sys.executable, "-I", "-S", HERE / "child.py", os.getpid(), stop_signal, user or "-", *command]
        with contextlib.ExitStack() as files:
            output = files.enter_context(open_log(log, name)) if log else None
            process = subprocess.Popen(
                [str(part) for part in bootstrap],
                stdin=subprocess.DEVNULL if log else None,
                stdout=output,
                stderr=subprocess.STDOUT if log else None,
                env=dict(env),
                cwd=cwd,
                start_new_session=own_session,
            )
        child = Child(name, process, log, stop_signal, stage)
        self._children.append(child)
        self._tell(f"+ {int(stage)} {int(stop_signal)} {child.pid}")
        return child

    def discard_at_end(self, folder: Path) -> None:
        """Have the guardian delete this folder once everything has ended, however the launcher ends."""
        self._throw_away.append(folder)
        self._tell(f"discard {folder}")

    def stop(
        self, children: Iterable[Child], *, grace: float, then: Sequence[tuple[int, float]] = ((signal.SIGKILL, 1.0),)
    ) -> None:
        """End the children together: their stop signal and `grace` seconds, then each (signal, seconds) of `then`.

        The last step is always SIGKILL to the whole process groups, so that nothing they started stays.
        """
        family = list(children)
        deadline_of = [(None, grace), *then]
        for number, seconds in deadline_of:
            for child in family:
                if child.running():
                    with contextlib.suppress(ProcessLookupError):
                        child.process.send_signal(number or child.stop_signal)
            asked = time.monotonic()
            while any(child.running() for child in family):
                if time.monotonic() - asked > (min(seconds, HURRIED_SECONDS) if self.interruptions > 1 else seconds):
                    break
                time.sleep(0.02)
        for child in family:
            self.forget(child)

    def pause(self, seconds: float) -> None:
        """Sleep while waiting for something; Interrupted when somebody has asked the launcher to stop."""
        if self.interruptions:
            raise Interrupted
        time.sleep(seconds)

    def forget(self, child: Child) -> None:
        """Clear up after a child that has ended: kill what is left of its group, tell the guardian."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.process.wait(2)
        if child in self._children:
            self._children.remove(child)
            self._tell(f"- {child.pid}")

    def close(self) -> None:
        """End what still runs, hardest way last, and let the guardian go (it deletes the throw-away folders)."""
        for stage in Stage:
            self.stop(self.children(stage), grace=2.0)
        if self._guardian and self._guardian.stdin:
            with contextlib.suppress(BrokenPipeError):
                self._guardian.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._guardian.wait(5)
        self._guardian = None

    def children(self, stage: Stage) -> list[Child]:
        """The children of one stage that nobody has stopped yet."""
        return [child for child in self._children if child.stage is stage]

    @property
    def guardian_pid(self) -> int | None:
        return self._guardian.pid if self._guardian else None

    def keep_guardian(self) -> None:
        """Start a guardian if there is none (any more) and tell it everything."""
        if self._guardian and self._guardian.poll() is None:
            return
        self._guardian = subprocess.Popen(
            [sys.executable, "-I", "-S", str(HERE / "guardian.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
        )
        lines = [f"discard {folder}" for folder in self._throw_away]
        lines += [f"+ {int(child.stage)} {int(child.stop_signal)} {child.pid}" for child in self._children]
        self._write(lines)

    def _tell(self, line: str) -> None:
        if self._guardian is None or self._guardian.poll() is not None:
            self.keep_guardian()
        else:
            self._write([line])

    def _write(self, lines: list[str]) -> None:
        if self._guardian is None or self._guardian.stdin is None:
            return
        try:
            self._guardian.stdin.write("".join(f"{line}\n" for line in lines).encode())
            self._guardian.stdin.flush()
        except BrokenPipeError:  # it was killed this moment: the next poll starts another
            self._guardian.wait(1)


def open_log(log: Path, name: str) -> IO[bytes]:
    """Open a child's log for appending, after a line that says who starts; a long one becomes `<log>.1` first."""
    try:
        log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if log.exists() and log.stat().st_size > LOG_KEPT_BYTES:
            log.replace(log.with_name(log.name + ".1"))
        file = log.open("ab")
        file.write(f"{START_MARK}{name} starts, {time.strftime('%Y-%m-%d %H:%M:%S %z')}\n".encode())
        file.flush()
        return file
    except OSError as error:
        raise LaunchError(
            f"Cannot write {log} ({error.strerror}): make room or choose another folder with BACKOFFICE_DATA."
        ) from error


def finish(family: Family, child: Child, *, seconds: float) -> int:
    """Wait for a child that ends by itself, return its exit code; LaunchError when it takes more than `seconds`."""
    deadline = time.monotonic() + seconds
    while child.running():
        if time.monotonic() > deadline:
            family.stop([child], grace=2.0)
            raise LaunchError(f"{child.name} did not end within {seconds:.0f} s.", log=child.log)
        family.pause(0.02)
    family.forget(child)
    return int(child.process.returncode)


def alive(pid: int) -> bool:
    """Whether a process with this id exists and is not a zombie."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return sys.platform != "linux"


def processes_inside(folder: Path) -> list[int]:
    """Ids of the living processes whose working directory is `folder` (Linux; elsewhere nobody is seen).

    PostgreSQL, all of its children and Valkey each work in their data folder, which is how a left-over one is told from
    an innocent process that got the same id.
    """
    inside = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (entry / "cwd").samefile(folder) and alive(int(entry.name)):
                inside.append(int(entry.name))
    return inside
