"""Children that never outlive the launcher.

Two mechanisms ensure it, because either can fail: the kernel signals each child when the launcher dies (`child.py`),
and a watchdog process that sees the launcher's pipe close ends the others, by force if needed (`watchdog.py`). Each
child leads its own session, so that Ctrl-C in the terminal reaches only the launcher and everything ends in order.

Start children from the main thread: the kernel counts the death of the starting *thread* as the parent's death.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from io import FileIO
from pathlib import Path

from launcher.child import weigh_session
from launcher.output import START_MARK, LaunchError

HERE = Path(__file__).parent
LOG_KEPT_BYTES = 5_000_000
READY_SECONDS = 60.0
LONG_SECONDS = 2.0  # a person who waits for longer wants to know why
NICENESS = 10  # for work that nobody waits for: it still gets about a tenth of a busy core, so that it comes to an end
FASTER_SECONDS = 0.4


class Stage(IntEnum):
    """The order in which children are ended if the launcher dies: the app first, then the stores that it writes to."""

    APP = 1
    STORE = 2


class Interrupted(Exception):
    """Somebody asked the launcher to stop while it was starting something."""


@dataclass
class Child:
    """A started process, leader of its own session."""

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
        """Whether the process still runs; an ended one is reaped."""
        return self.process.poll() is None


def step_back() -> None:
    """Give `NICENESS` to this process and to all that it starts from now on; do nothing if it has it already."""
    os.nice(max(0, NICENESS - os.nice(0)))


def let_step_back(pid: int) -> None:
    """Give this process's niceness to a process of PostgreSQL that works for this one."""
    with contextlib.suppress(OSError):  # it has ended
        os.setpriority(os.PRIO_PROCESS, pid, os.nice(0))
        weigh_session(os.nice(0), pid)


class ProcessGroup:
    """The children of this launcher and their watchdog."""

    def __init__(self) -> None:
        self.interruptions = 0  # how often a person or the system has asked this launcher to stop
        self._children: list[Child] = []
        self._throw_away: list[Path] = []
        self._watchdog: subprocess.Popen[bytes] | None = None

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
        niceness: int = 0,
        own_session: bool = True,
        pass_fds: Sequence[int] = (),
    ) -> Child:
        """Start `command`. Its output is appended to `log`; without a log it goes where the launcher's own goes.

        `own_session=False` is for a command that a person talks to in the terminal. `pass_fds`: open files for it.
        `niceness`: added to the launcher's; its own children inherit it.
        """
        tied: list[object] = [os.getpid(), stop_signal, user or "-", niceness]
        bootstrap = [sys.executable, "-I", "-S", HERE / "child.py", *tied, *command]
        with contextlib.ExitStack() as files:
            output = files.enter_context(open_log(log, name)) if log else None
            process = subprocess.Popen(
                [str(part) for part in bootstrap],
                stdin=subprocess.DEVNULL if own_session else None,
                stdout=output,
                stderr=subprocess.STDOUT if own_session else None,
                env=dict(env),
                cwd=cwd,
                start_new_session=own_session,
                pass_fds=pass_fds,
            )
        child = Child(name, process, log, stop_signal, stage)
        self._children.append(child)
        self._notify_watchdog(line_of(child))
        return child

    def trim_logs(self) -> None:
        """Keep each child's log below its bound while the child goes on writing."""
        for log in {child.log for child in self._children if child.log}:
            trim_log(log)

    def discard_at_end(self, folder: Path) -> None:
        """Have the watchdog delete this folder once everything has ended, however the launcher ends."""
        self._throw_away.append(folder)
        self._notify_watchdog(f"discard {folder}")

    def await_ready(
        self,
        child: Child,
        probe: Callable[[], str],
        *,
        seconds: float = READY_SECONDS,
        working: str | None = None,
        note_long_work: Callable[[], None] | None = None,
    ) -> None:
        """Wait until `probe` returns ""; until then it returns why the child is not ready.

        LaunchError when the child ends instead, or takes longer than `seconds`. `working`: a part of
        the reason while the child works on its start; that time does not count, and is noted once if it is long.
        """
        begun = time.monotonic()
        deadline = begun + seconds
        while reason := probe():
            if not child.running():
                raise LaunchError(f"{child.name} ended instead of starting: its log says why.", log=child.log)
            if working and working in reason:
                deadline = time.monotonic() + seconds
                if note_long_work and time.monotonic() - begun > LONG_SECONDS:
                    note_long_work()
                    note_long_work = None
            if time.monotonic() > deadline:
                late = f"{child.name} was not ready within {seconds:.0f} s ({reason})."
                raise LaunchError(late, log=child.log)
            self.pause(0.03)

    def finish(self, child: Child, *, seconds: float = 600.0) -> int:
        """Wait for a child that ends by itself, return its exit code; LaunchError when it takes more than `seconds`."""
        deadline = time.monotonic() + seconds
        while child.running():
            if time.monotonic() > deadline:
                self.stop([child], grace=2.0)
                raise LaunchError(f"{child.name} did not end within {seconds:.0f} s.", log=child.log)
            self.pause(0.02)
        self.forget(child)
        return int(child.process.returncode)

    def stop(
        self, children: Iterable[Child], *, grace: float, then: Sequence[tuple[int, float]] = ((signal.SIGKILL, 1.0),)
    ) -> None:
        """End the children together: send the stop signal, wait `grace` seconds, then each (signal, seconds) of `then`.

        The last step is always SIGKILL to their sessions' groups, so that no process that they started stays.
        """
        stopped = list(children)
        for number, seconds in ((None, grace), *then):
            for child in stopped:
                if child.running():
                    with contextlib.suppress(ProcessLookupError):
                        child.process.send_signal(number or child.stop_signal)
            asked = time.monotonic()
            while any(child.running() for child in stopped):
                if time.monotonic() - asked > (min(seconds, FASTER_SECONDS) if self.interruptions > 1 else seconds):
                    break
                time.sleep(0.02)
        for child in stopped:
            self.forget(child)

    def pause(self, seconds: float) -> None:
        """Sleep while waiting for something; Interrupted when somebody has asked the launcher to stop."""
        if self.interruptions:
            raise Interrupted
        time.sleep(seconds)

    def forget(self, child: Child) -> None:
        """Clean up after a child that has ended: kill the rest of its process group, notify the watchdog."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.process.wait(2)
        if child in self._children:
            self._children.remove(child)
            self._notify_watchdog(f"- {child.pid}")

    def close(self) -> None:
        """End all that still runs, by force if needed, and let the watchdog end (it deletes the throw-away folders)."""
        for stage in Stage:
            self.stop(self.children(stage), grace=2.0)
        if self._watchdog and self._watchdog.stdin:
            with contextlib.suppress(BrokenPipeError):
                self._watchdog.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._watchdog.wait(5)
        self._watchdog = None

    def children(self, stage: Stage) -> list[Child]:
        """The children of one stage that nobody has stopped yet."""
        return [child for child in self._children if child.stage is stage]

    @property
    def watchdog_pid(self) -> int | None:
        return self._watchdog.pid if self._watchdog else None

    def keep_watchdog(self) -> None:
        """Start a watchdog if none runs, and tell it all children and throw-away folders."""
        if self._watchdog and self._watchdog.poll() is None:
            return
        self._watchdog = subprocess.Popen(
            [sys.executable, "-I", "-S", str(HERE / "watchdog.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
        )
        self._write(*(f"discard {folder}" for folder in self._throw_away), *map(line_of, self._children))

    def _notify_watchdog(self, line: str) -> None:
        if self._watchdog is None or self._watchdog.poll() is not None:
            self.keep_watchdog()
        else:
            self._write(line)

    def _write(self, *lines: str) -> None:
        if self._watchdog is None or self._watchdog.stdin is None:
            return
        try:
            self._watchdog.stdin.write("".join(f"{line}\n" for line in lines).encode())
            self._watchdog.stdin.flush()
        except BrokenPipeError:  # it has just been killed: the next `keep_watchdog` starts another
            self._watchdog.wait(1)


def line_of(child: Child) -> str:
    """The line that tells the watchdog about a child."""
    return f"+ {int(child.stage)} {int(child.stop_signal)} {child.pid}"


def open_log(log: Path, name: str) -> FileIO:
    """Open a child's log for appending, and write which child starts; a long log becomes `<log>.1` first."""
    try:
        log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if log.exists() and log.stat().st_size > LOG_KEPT_BYTES:
            log.replace(log.with_name(log.name + ".1"))
        file = log.open("ab", buffering=0)
        with contextlib.suppress(OSError):  # a full disk prevents no start
            file.write(f"{START_MARK}{name} starts, {time.strftime('%Y-%m-%d %H:%M:%S %z')}\n".encode())
        return file
    except OSError as error:
        raise LaunchError(
            f"Cannot write {log} ({error.strerror}): make room or choose another folder with BACKOFFICE_DATA."
        ) from error


def trim_log(log: Path) -> None:
    """Copy a log that is too long to `<log>.1` and empty it; its writers append, so they go on at its beginning.

    When there is no room for the copy, it is emptied without one: a log must not fill the disk.
    """
    try:
        if log.stat().st_size <= LOG_KEPT_BYTES:
            return
        former = log.with_name(log.name + ".1")
        with log.open("r+b", buffering=0) as file:
            try:
                with former.open("wb") as copy:
                    while part := file.read(1 << 20):
                        copy.write(part)
            except OSError:
                former.unlink(missing_ok=True)
            file.truncate(0)
    except OSError:
        return  # gone, or not ours: the next call tries again
