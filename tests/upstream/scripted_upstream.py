"""An upstream on a raw socket that misbehaves as a test sets it, and the types of the fixtures' values."""

import hashlib
import json
import socket
import ssl
import struct
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from upstream.client import Client
from upstream.config import Config

CERTIFICATE = Path(__file__).parent / "localhost.pem"  # self-signed, made for these tests, protects nothing


@dataclass
class Received:
    """One request as the scripted upstream saw it."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    connection: int


Behaviour = Callable[[socket.socket, Received], bool]  # answers; returns whether the connection stays open


@dataclass
class ScriptedUpstream:
    """Listens on loopback and treats every request as `behaviour` says."""

    behaviour: Behaviour = lambda _connection, _received: False
    on_connect: Callable[[socket.socket], bool] = lambda _connection: True  # False: go no further
    requests: list[Received] = field(default_factory=list)
    connections: int = 0
    tls: ssl.SSLContext | None = None

    def __post_init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.stopping = threading.Event()
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}"

    def stop(self) -> None:
        self.stopping.set()
        self._listener.close()

    def answers(self, status: int, payload: Any, *, headers: str = "", keep: bool = True) -> None:
        """Answer every request with this HTTP status and JSON (or raw bytes).

        It keeps the connection. Without `keep` it closes it and does not say so: the next request on it may get lost.
        """
        body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()

        def behave(connection: socket.socket, received: Received) -> bool:
            head = f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\n{headers}\r\n"
            connection.sendall(head.encode() + body)
            return keep

        self.behaviour = behave

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(connection, self.connections), daemon=True).start()

    def _serve(self, connection: socket.socket, number: int) -> None:
        try:
            with connection:
                if not self.on_connect(connection):
                    return
                if self.tls:
                    connection = self.tls.wrap_socket(connection, server_side=True)
                with connection, connection.makefile("rb") as stream:
                    while (received := _read_request(stream, number)) is not None:
                        self.requests.append(received)
                        if not self.behaviour(connection, received):
                            return
        except OSError:  # the client hung up, as it may
            return


def _read_request(stream: Any, number: int) -> Received | None:
    start = stream.readline().decode()
    if not start:
        return None
    headers = {}
    while (line := stream.readline().decode().strip()) != "":
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    body = json.loads(stream.read(int(headers["content-length"])))
    return Received(path=start.split()[1], headers=headers, body=body, connection=number)


def cut(connection: socket.socket) -> None:
    """Cut the connection hard, so that the other side gets a reset."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def tls_context() -> ssl.SSLContext:
    """A server's side of TLS with the certificate of these tests."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    return context


def signature_of(client: Client, ref_id: str | None) -> str:
    """The signature by the document's formula, computed here."""
    parts = [client.config.secret_id, client.config.secret_key, *([ref_id] if ref_id else [])]
    return hashlib.md5(":".join(parts).encode()).hexdigest()  # noqa: S324 (the upstream's formula)


MakeUpstream = Callable[..., ScriptedUpstream]
MakeConfig = Callable[..., Config]
MakeClient = Callable[..., Client]
