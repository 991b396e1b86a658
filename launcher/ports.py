"""Ports of 127.0.0.1: free ones, the same at every start of a data folder, and never one port for two servers."""

import itertools
import socket
from pathlib import Path

from launcher.data_folder import read_json, write_json
from launcher.output import LaunchError

LAST_PORT = 65_535
_claims: list[socket.socket] = []


def claim(port: int) -> int:
    """Take a port for one server (0: any) and return it; 0 when a server or a launcher has it.

    A server listens only a second after its port was chosen. Until then a name that the kernel gives once, and takes
    back when the launcher ends, keeps another launcher from choosing the same port.
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
    """The ports of one data folder, the same at every start while they can be had."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "ports.json"

    def take(self, name: str, *, first: int = 0) -> int:
        """Take the port `name` had last time, or else the first from `first` upward (0: any); it is kept."""
        kept = read_json(self._path)
        last = kept.get(name)
        if isinstance(last, int) and last and claim(last):
            return last
        port = claim_from(first)
        write_json(self._path, {**kept, name: port})
        return port
