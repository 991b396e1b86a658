"""`python -m backoffice.web --port 8000`: the web process, on 127.0.0.1 until SIGTERM or Ctrl-C.

A thread gets a request when all of it is there, its body too: whoever sends half of one and then nothing holds a
connection, never one of the threads that serve the pages.
"""

from __future__ import annotations

import argparse
import logging
import signal
import sys
import time
from collections.abc import Sequence
from typing import Any

from waitress import create_server, wasyncore

from backoffice.wsgi import application

log = logging.getLogger(__name__)

HOST = "127.0.0.1"
THREADS = 8
# A connection that is silent for this long (seconds) is closed; checked every few seconds.
SILENCE_SECONDS, LOOK_SECONDS = 20, 5
# Each is a file descriptor, of which a process usually has 1024.
MOST_CONNECTIONS = 500
# The largest form is a page of bills; callbacks.api has a limit of its own below this.
MOST_BODY_BYTES, MOST_HEADER_BYTES = 256 * 1024, 64 * 1024
# How long (seconds) a stop waits for the requests in hand; `./run` waits a little longer than that.
PATIENCE = 4.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until stopped: 0; 1 with a sentence when the port is taken."""
    parser = argparse.ArgumentParser(prog="python -m backoffice.web", description="Serve the pages and the callbacks.")
    parser.add_argument("--port", type=int, default=8000)
    port = parser.parse_args(arguments).port
    connections: dict[int, Any] = {}
    try:
        server = create_server(
            application,
            map=connections,
            host=HOST,
            port=port,
            threads=THREADS,
            connection_limit=MOST_CONNECTIONS,
            channel_timeout=SILENCE_SECONDS,
            cleanup_interval=LOOK_SECONDS,
            max_request_body_size=MOST_BODY_BYTES,
            max_request_header_size=MOST_HEADER_BYTES,
            # which of a proxy's headers count is for the settings: TRUSTED_PROXY_COUNT, BEHIND_TLS_PROXY
            clear_untrusted_proxy_headers=False,
            ident="",
            log_socket_errors=False,  # a browser that goes away is no fault
            asyncore_use_poll=True,
        )
    except OSError as error:
        print(f"cannot listen on {HOST}:{port}: {error.strerror}", file=sys.stderr)
        return 1
    log.info("listening on http://%s:%s", HOST, port)
    serve(server, connections)
    return 0


def serve(server: Any, connections: dict[int, Any]) -> None:
    """Serve until SIGTERM or SIGINT, then finish the requests in hand, within `PATIENCE`."""
    is_stopping = False

    def stop(_number: int, _frame: object) -> None:
        nonlocal is_stopping
        is_stopping = True
        server.pull_trigger()  # wakes the poll below

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    while not is_stopping:
        wasyncore.loop(timeout=1, use_poll=True, map=connections, count=1)
    server.del_channel()
    server.socket.close()
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and any(
        channel.requests or channel.total_outbufs_len for channel in server.active_channels.values()
    ):
        wasyncore.loop(timeout=0.1, use_poll=True, map=connections, count=1)


if __name__ == "__main__":
    sys.exit(main())
