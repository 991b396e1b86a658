"""Ports of 127.0.0.1: free ones, the same at every start of a data folder, and never one port for two launchers."""

import socket
import sys
from pathlib import Path

from backoffice.launcher.data_folder import read_json, write_json
from backoffice.launcher.failures import LaunchError

LAST_PORT = 65_535
_claims: dict[int, socket.socket] = {}


def claim(port: int) -> bool:
    """Take a port for this launcher; False when a server listens on it or another launcher has taken it.

    A server listens only a second after its port was chosen. Until then a name that the kernel gives once, and takes
    back when the launcher ends, keeps another launcher from choosing the same port.
    """
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    if sys.platform == "linux" and port not in _claims:
        name = socket.socket(socket.AF_UNIX)
        try:
            name.bind(f"\0merchant-backoffice-port-{port}")
        except OSError:
            name.close()
            return False
        _claims[port] = name
    return True


def claim_from(first: int) -> int:
    """Take the first port from `first` upward that can be had; LaunchError when there is none."""
    for port in range(first, LAST_PORT + 1):
        if claim(port):
            return port
    raise LaunchError(f"No port from {first} upward is free on 127.0.0.1: name another with --port.")


def claim_any() -> int:
    """Take a port that the system picks."""
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = int(probe.getsockname()[1])
        if claim(port):
            return port


class Ports:
    """The ports of one data folder, the same at every start while they can be had."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "ports.json"

    def take(self, name: str, *, first: int | None = None) -> int:
        """Take the port `name` had last time, or else the first from `first` upward, or any; it is kept."""
        kept = read_json(self._path)
        port = kept.get(name)
        if not isinstance(port, int) or not claim(port):
            port = claim_from(first) if first else claim_any()
            write_json(self._path, {**kept, name: port})
        return port
