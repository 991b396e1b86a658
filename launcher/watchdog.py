"""Ends the processes that a dead launcher left. It reads its standard input, which closes when the launcher is gone.

Run as a script by `processes.py`, with the standard library only. Lines: `+ STAGE SIGNAL PID` (a child, leader of its
own process group), `- PID` (it has ended), `discard FOLDER` (delete this throw-away folder at the end). It ends the
stages in order, and gives each some time.
"""

import contextlib
import os
import shutil
import signal
import sys
import time

GRACE_SECONDS = 3.0
# To PostgreSQL it means "stop now and recover at the next start"; to other children it is a second request to end
LAST_REQUEST = signal.SIGQUIT


def running(pid: int) -> bool:
    """Whether the process group has a living process (a zombie leader is not one)."""
    try:
        os.killpg(pid, 0)
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:  # noqa: PTH123 (starts faster)
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except ProcessLookupError:
        return False
    except OSError:  # the leader has gone, but others of its group have not
        return True


def end(children: dict[int, int]) -> None:
    """Ask every child (pid → signal) to end, wait, ask again, wait briefly, then kill the groups."""
    for pid, first in children.items():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, first)
    for grace, send, number in ((GRACE_SECONDS, os.kill, LAST_REQUEST), (0.5, os.killpg, signal.SIGKILL)):
        deadline = time.monotonic() + grace
        while any(running(pid) for pid in children) and time.monotonic() < deadline:
            time.sleep(0.03)
        for pid in children:
            if running(pid) or number == signal.SIGKILL:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    send(pid, number)


def main() -> None:
    """Keep the list until the launcher's end of the pipe closes, then end what is left."""
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    stages: dict[int, dict[int, int]] = {}
    folders: list[str] = []
    for line in sys.stdin:
        word, _, rest = line.rstrip("\n").partition(" ")
        if word == "+":
            stage, number, pid = (int(part) for part in rest.split())
            stages.setdefault(stage, {})[pid] = number
        elif word == "-":
            for children in stages.values():
                children.pop(int(rest), None)
        elif word == "discard":
            folders.append(rest)
    for _, children in sorted(stages.items()):
        end(children)
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
