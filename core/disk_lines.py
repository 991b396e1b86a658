"""Lines on this machine's disk that outlast the database: written and flushed while the caller goes on."""

import contextlib
import datetime as dt
import os
import queue
import threading
from concurrent.futures import Future
from pathlib import Path

import structlog

log = structlog.get_logger()

# A disk that does not answer costs one caller this long (seconds), and the others nothing until it has answered.
PATIENCE_SECONDS = 0.5
# At most this many lines wait for such a disk; further ones are not written.
_MOST_WAITING = 1000


class DiskLines:
    """A folder with one file of lines for each day (UTC), which several processes append to.

    Each line is flushed to the disk; lines that come together are flushed at once. Nothing here raises: with a full
    disk, or one that does not answer, a line counts as not written.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._waiting: queue.SimpleQueue[tuple[str, Future[bool]]] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._is_stuck = False

    def begin(self, line: str) -> Future[bool]:
        """Have this line written; hand the result to `is_written`. The line has no line end in it."""
        done: Future[bool] = Future()
        if self._waiting.qsize() >= _MOST_WAITING:
            done.set_result(False)
            return done
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._write_all, name="disk-lines", daemon=True)
                self._thread.start()
        self._waiting.put((line, done))
        return done

    def is_written(self, line: Future[bool]) -> bool:
        """Whether the line is on the disk; waits for it, at most `PATIENCE_SECONDS`."""
        try:
            return line.result(0 if self._is_stuck else PATIENCE_SECONDS)
        except TimeoutError:
            self._is_stuck = True
            return False

    def _write_all(self) -> None:
        while True:
            lines = [self._waiting.get()]
            with contextlib.suppress(queue.Empty):
                while True:
                    lines.append(self._waiting.get_nowait())
            try:
                self._append("".join(f"{line}\n" for line, _ in lines))
                is_written = True
            except OSError as error:
                log.error("disk_lines_not_written", folder=str(self._folder), fault=error.strerror)  # noqa: TRY400
                is_written = False
            self._is_stuck = False
            for _, done in lines:
                done.set_result(is_written)

    def _append(self, text: str) -> None:
        path = self._folder / f"{dt.datetime.now(dt.UTC):%Y%m%d}.jsonl"
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        is_new = not path.exists()
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            # One write, so that lines of several processes do not mix; first a line end, because the last one may have
            # been cut off by a full disk.
            written = f"\n{text}".encode()
            if os.write(file, written) != len(written):
                raise OSError(None, "only a part was written")
            os.fdatasync(file)
        finally:
            os.close(file)
        if is_new:
            flush_names(self._folder)


def flush_names(folder: Path) -> None:
    """Write the names in a folder to its disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
