"""The lines that the launcher prints, its errors, and the last lines of a child's log."""

import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from launcher import version

LINES_SHOWN = 15
START_MARK = "=== "
NOT_YET = 3  # exit code of our commands: try again later
Say = Callable[[str], None]


def output(started: float) -> Say:
    """A function that prints a line after the seconds since `started` (of the monotonic clock)."""

    def say(sentence: str) -> None:
        with contextlib.suppress(OSError):  # a full disk, when output goes to a file
            print(f"{time.monotonic() - started:6.1f} s  {sentence}", flush=True)

    return say


def json_output(sentence: str) -> None:
    """Print a line as the app writes its log with LOG_FORMAT=json.

    With its end in one piece: other processes write to the same output, and Python may print unbuffered.
    """
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    line = {"timestamp": at, "level": "info", "event": sentence, "version": version(), "process": "launcher"}
    with contextlib.suppress(OSError):  # as in `output`
        print(f"{json.dumps(line)}\n", end="", flush=True)


def quiet_output(sentence: str) -> None:
    """Print a line on standard error, because standard output holds a command's result."""
    print(sentence, file=sys.stderr, flush=True)


@contextlib.contextmanager
def ending_with_the_reader() -> Iterator[None]:
    """End silently and with the usual exit code when nobody reads our output any more, as with `| head -1`."""
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for output in (sys.stdout, sys.stderr):  # Python flushes them when it ends
            os.dup2(nowhere, output.fileno())
        sys.exit(128 + signal.SIGPIPE)


def last_lines(log: Path, count: int = LINES_SHOWN) -> str:
    """The last `count` lines that a log holds since its last start mark, indented; empty when there is no log."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, file.seek(0, 2) - 16_384))
            text = file.read().decode(errors="replace")
    except OSError:
        return ""
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    starts = [number for number, line in enumerate(lines) if line.startswith(START_MARK)]
    return "\n".join(f"    {line}" for line in lines[starts[-1] + 1 if starts else 0 :][-count:])


class LaunchError(Exception):
    """One sentence about a fault and what to do, with the log of the child that it is about, if any."""

    def __init__(self, sentence: str, *, log: Path | None = None, exit_code: int = 1) -> None:
        super().__init__(sentence)
        self.log = log
        self.exit_code = exit_code

    def __str__(self) -> str:
        """The sentence, then the last lines of the child's log, and the log's place."""
        parts = [super().__str__()]
        if self.log and self.log.is_file():
            parts += [last_lines(self.log), f"    (whole log: {self.log})"]
        return "\n".join(parts)
