"""The small files of a data folder: secrets, the lock, the ports, and the state of the running launcher.

Each server of a data folder has a free port of 127.0.0.1 of its own, the same at every start.
"""

import contextlib
import fcntl
import itertools
import json
import os
import secrets
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from launcher.output import LaunchError

LAST_PORT = 65_535
_claims: list[socket.socket] = []


def read_json(path: Path) -> dict[str, Any]:
    """The JSON object in a file; empty when the file is not there or was cut short."""
    try:
        value = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def new_file(path: Path, mode: int = 0o600) -> IO[str]:
    """Open a new file in place of an old one; unless `mode` says otherwise only its owner may read it."""
    path.unlink(missing_ok=True)
    return open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w")  # noqa: PTH123 (the mode)


def write_json(path: Path, value: dict[str, Any], *, mode: int = 0o600) -> None:
    """Write a JSON object, whole or not at all, into a `new_file`."""
    draft = path.with_name(path.name + ".new")
    try:
        with new_file(draft, mode) as file:
            json.dump(value, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        raise LaunchError(
            f"Cannot write {path} ({error.strerror}): make room, or name a folder of yours with BACKOFFICE_DATA."
        ) from error


def kept_secrets(folder: Path) -> dict[str, str]:
    """The secrets of a data folder, generated the first time; LaunchError when they are there and cannot be read."""
    path = folder / "secrets.json"
    kept = read_json(path)
    if not kept and path.exists():
        raise LaunchError(f"{path} is damaged: restore that file, or delete all data with `./run reset`.")
    stores = ("valkey", "postgres", *(f"postgres_{role}" for role in ("owner", "app", "sandbox", "backup")))
    names = (*stores, "django", "sandbox_django", "sandbox_token", "upstream_id", "upstream_key")
    made = {name: secrets.token_hex(24) for name in names if not kept.get(name)}
    if made:
        write_json(path, {**kept, **made})
    return {**kept, **made}


def before(path: Path) -> Path:
    """The path of this folder's copy from before an upgrade."""
    return path.with_name(f"{path.name}.before")


class DataFolderInUseError(Exception):
    """Another launcher holds the folder; `state`: the state that it wrote."""

    def __init__(self, state: dict[str, Any]) -> None:
        super().__init__("the data folder is in use")
        self.state = state


@contextlib.contextmanager
def held(folder: Path) -> Iterator[None]:
    """Lock the folder for this process alone; the kernel unlocks it when the process ends, in any way.

    Raises DataFolderInUseError when another launcher holds it. `state.json` is deleted at the end.
    """
    try:
        lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise LaunchError(
            f"Cannot write {folder / 'lock'} ({error.strerror}): choose another folder with BACKOFFICE_DATA."
        ) from error
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DataFolderInUseError(read_state(folder)) from None
        (folder / "state.json").unlink(missing_ok=True)  # a killed launcher's
        try:
            yield
        finally:
            (folder / "state.json").unlink(missing_ok=True)
    finally:
        os.close(lock)


def read_state(folder: Path) -> dict[str, Any]:
    """The state of the running launcher: doing, pid, address, processes, the place of its environment."""
    return read_json(folder / "state.json")


def serving_state(folder: Path) -> dict[str, Any]:
    """The state of the launcher that serves on this folder; empty without one.

    After a power cut the state of before is still there, and another process may have the launcher's id.
    """
    state = read_state(folder)
    return state if state.get("doing") == "serving" and is_held(folder) else {}


def write_state(folder: Path, state: dict[str, Any]) -> bool:
    """Write what this launcher does, for other commands on the folder; False when that fails now (a full disk).

    Only the owner may read it. It holds no secret.
    """
    try:
        write_json(folder / "state.json", state)
    except LaunchError:
        return False
    return True


class SharedEnvironment:
    """The environment of the running app for other commands of the same user: in memory, never on a disk."""

    def __init__(self) -> None:
        self._file = os.memfd_create("environment")

    def share(self, environment: Mapping[str, str]) -> str:
        """Replace the shared environment; returns where `read_environment` finds it."""
        written = json.dumps(dict(environment)).encode()
        os.pwrite(self._file, written, 0)
        os.ftruncate(self._file, len(written))
        return f"/proc/{os.getpid()}/fd/{self._file}"


def read_environment(state: dict[str, Any]) -> dict[str, str]:
    """The environment that a running launcher shares; empty when it shares none, or is another user's launcher."""
    return read_json(Path(state.get("environment_at", "/nowhere")))


def is_held(folder: Path) -> bool:
    """Whether a launcher holds the folder now."""
    try:
        lock = os.open(folder / "lock", os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False


def claim(port: int) -> int:
    """Take a port for one server (0: any) and return it; 0 when a server or a launcher has it.

    A server begins to listen only a second after its port was chosen. Until then an abstract socket name, which the
    kernel gives once and frees when the launcher ends, keeps other launchers from choosing the same port.
    """
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return 0
        port = int(probe.getsockname()[1])
    name = socket.socket(socket.AF_UNIX)
    try:
        name.bind(f"\0merchant-backoffice-port-{port}")
    except OSError:
        name.close()
        return 0
    _claims.append(name)
    return port


def claim_from(first: int) -> int:
    """Take the first free port from `first` upward (0: any); LaunchError when no port is free."""
    for wanted in range(first, LAST_PORT + 1) if first else itertools.repeat(0):
        if port := claim(wanted):
            return port
    raise LaunchError(f"No port from {first} upward is free on 127.0.0.1: name another with --port.")


class Ports:
    """The ports of one data folder, the same at every start as long as they are free."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "ports.json"

    def take(self, name: str, *, first: int = 0) -> int:
        """Take the port that `name` had last time, else the first from `first` upward (0: any), and keep it."""
        kept = read_json(self._path)
        last = kept.get(name)
        if isinstance(last, int) and last and claim(last):
            return last
        port = claim_from(first)
        write_json(self._path, {**kept, name: port})
        return port
