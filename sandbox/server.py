"""The sandbox's HTTP server: a thread per connection, keep-alive, and views can cut their connection."""

import select
import socket
import socketserver
import time
from collections.abc import Callable
from typing import Any, cast

from django.core.servers.basehttp import ThreadedWSGIServer, WSGIRequestHandler

IDLE_SECONDS = 75


class Wire:
    """The connection of a request; views get it as environ["sandbox.wire"]."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection

    def cut(self) -> None:
        """Close the connection both ways without a byte of answer; later writes are lost."""
        self.connection.shutdown(socket.SHUT_RDWR)

    def wait(self, seconds: float) -> None:
        """Wait these seconds, or until the client hangs up."""
        ends = time.monotonic() + seconds
        while (left := ends - time.monotonic()) > 0:
            readable, _, _ = select.select([self.connection], [], [], left)
            if not readable:
                return
            if not self.connection.recv(1, socket.MSG_PEEK):
                return
            # the next request has arrived already, so the socket does not show any more whether the client hangs up
            time.sleep(max(0.0, ends - time.monotonic()))


class CuttingHandler(WSGIRequestHandler):
    """Django's handler with an idle time limit, no delay for small packets, and the wire in the environ."""

    timeout = IDLE_SECONDS
    disable_nagle_algorithm = True

    def get_environ(self) -> dict[str, Any]:
        """The WSGI environ of the request, with its connection."""
        environ: dict[str, Any] = super().get_environ()
        environ["sandbox.wire"] = Wire(cast("socket.socket", self.connection))
        return environ

    def handle(self) -> None:
        """Serve the connection until one side ends it."""
        try:
            super().handle()
        except (ConnectionError, TimeoutError):
            self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the parent's name
        """Log nothing: every request of the wire is a row, which the dashboard shows."""


class CuttingServer(ThreadedWSGIServer):
    """Serves the sandbox. Connections that are open when it stops end with the process."""

    request_queue_size = 128
    block_on_close = False

    def __init__(self, host: str, port: int, application: Callable[..., Any]) -> None:
        super().__init__((host, port), CuttingHandler)
        self.set_app(application)

    def server_bind(self) -> None:
        """Bind without asking a name server for this machine's name."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])
        self.setup_environ()
