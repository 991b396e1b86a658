"""`python -m backoffice.web --port 8000`: the web process, on 127.0.0.1 until SIGTERM or Ctrl-C.

Several serve one socket: the launcher listens and hands it to each (`--fd`). A client that connects
while one of them ends, or while all are started again, waits in the socket's queue for the next.

A thread gets a request when all of it has arrived, its body too. A client that sends half a request holds a connection,
never a thread of the pages; `connections.py` limits how many and how long.
"""

import argparse
import gc
import logging
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any

from waitress import create_server, wasyncore

from backoffice.connections import HalfSent, SharedChannel
from backoffice.starting import load_templates, make_ready
from backoffice.wsgi import application
from core import heartbeats

log = logging.getLogger(__name__)

HOST = "127.0.0.1"
THREADS = 4
# A connection that is silent for this long (seconds) is closed; checked every few seconds.
SILENCE_SECONDS, LOOK_SECONDS = 20, 5
# Seconds between two searches for half-sent requests that take too long, or are too many.
TIDY_SECONDS = 0.25
# Each connection is a file descriptor, and a process usually has 1024.
MOST_CONNECTIONS = 500
# The largest form is a statement of the bank, of 5,000 rows and more; callbacks.api has a limit of its own below this.
MOST_BODY_BYTES, MOST_HEADER_BYTES = 1024 * 1024, 64 * 1024
# Seconds for which a stop waits for the requests in hand; `./run` waits a little longer.
PATIENCE = 4.0
# A connection that was active less than this (seconds) ago may be about to send a request.
QUIET_SECONDS = 0.3
# A process whose loop has not turned for this long (seconds) serves nobody.
STUCK_SECONDS = 10.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until stopped: 0; 1 with a sentence when the port is taken. `make_ready` may end it before."""
    parser = argparse.ArgumentParser(prog="python -m backoffice.web", description="Serve the pages and the callbacks.")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--fd", type=int, help="a listening socket that the starter holds, instead of a port")
    options = parser.parse_args(arguments)
    try:
        listener = listening(options.port) if options.fd is None else socket.socket(fileno=options.fd)
    except OSError as error:
        print(f"cannot listen on {HOST}:{options.port}: {error.strerror}", file=sys.stderr)
        return 1
    make_ready()
    load_templates()
    connections: dict[int, Any] = {}
    server = create_server(
        application,
        map=connections,
        sockets=[listener],
        threads=THREADS,
        connection_limit=MOST_CONNECTIONS,
        channel_timeout=SILENCE_SECONDS,
        cleanup_interval=LOOK_SECONDS,
        max_request_body_size=MOST_BODY_BYTES,
        max_request_header_size=MOST_HEADER_BYTES,
        # the settings TRUSTED_PROXY_COUNT and BEHIND_TLS_PROXY decide which of a proxy's headers count
        clear_untrusted_proxy_headers=False,
        ident="",
        log_socket_errors=False,  # a browser that goes away is not a fault
        asyncore_use_poll=True,
    )
    server.channel_class = SharedChannel
    # The loaded code stays: a search through it for garbage would delay a page by 0.15 s now and then.
    gc.collect()
    gc.freeze()
    log.info("listening on %s:%s", *listener.getsockname()[:2])
    Web(server, connections).serve()
    return 0


def listening(port: int) -> socket.socket:
    """A socket on this port of the loopback interface. Raises OSError when it is taken."""
    listener = socket.socket()
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
    except OSError:
        listener.close()
        raise
    return listener


class Web:
    """waitress' server and its loop; `connections` is the map in which waitress keeps its sockets."""

    def __init__(self, server: Any, connections: dict[int, Any]) -> None:
        self._server = server
        self._connections = connections
        self._is_stopping = False
        self._turned_at = time.monotonic()
        self._tidy_at = 0.0
        self._half_sent = HalfSent()
        self._name = heartbeats.process_name("web")

    def serve(self) -> None:
        """Serve until SIGTERM or SIGINT, then finish the requests in hand, within `PATIENCE`."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)
        threading.Thread(target=self._beat, daemon=True).start()
        while not self._is_stopping:
            self._turn(TIDY_SECONDS if self._server.active_channels else 1.0)
            self._tidy()
        began = time.monotonic()
        deadline = began + PATIENCE
        while self._somebody_waits() and time.monotonic() < began + QUIET_SECONDS:  # accepted by the kernel
            self._turn(0.0)
        self._server.del_channel()
        self._server.socket.close()
        while time.monotonic() < deadline and any(map(is_busy, self._server.active_channels.values())):
            self._turn(0.1)
        heartbeats.end(self._name)

    def _turn(self, seconds: float) -> None:
        self._turned_at = time.monotonic()
        wasyncore.loop(timeout=seconds, use_poll=True, map=self._connections, count=1)

    def _tidy(self) -> None:
        """Close the connections of half-sent requests that are overdue, or too many from one address."""
        now = time.monotonic()
        if now < self._tidy_at:
            return
        self._tidy_at = now + TIDY_SECONDS
        for channel in self._half_sent.overdue(self._server.active_channels.values()):
            channel.will_close = True

    def _stop(self, _number: int, _frame: object) -> None:
        self._is_stopping = True
        self._server.pull_trigger()  # wakes the poll

    def _beat(self) -> None:
        """Give heartbeats while the loop turns, in a thread of its own, so that a frozen Redis holds up no page."""
        while not self._is_stopping:
            if time.monotonic() - self._turned_at < STUCK_SECONDS:
                heartbeats.record(self._name)
            time.sleep(1)

    def _somebody_waits(self) -> bool:
        return bool(select.select([self._server.socket], [], [], 0)[0])


def is_busy(channel: Any) -> bool:
    """Whether a connection has a request in hand, or may be about to send one."""
    is_quiet = time.time() - channel.last_activity > QUIET_SECONDS
    return bool(channel.requests or channel.total_outbufs_len or not is_quiet)


if __name__ == "__main__":
    sys.exit(main())
