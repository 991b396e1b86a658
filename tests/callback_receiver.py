"""A merchant's callback address for tests: it keeps each callback and answers as a test sets it."""

import json
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Received:
    """One callback as it arrived. `at` in seconds of time.monotonic()."""

    headers: dict[str, str]
    raw: bytes
    at: float

    @property
    def body(self) -> dict[str, Any]:
        """The JSON of the body."""
        parsed: dict[str, Any] = json.loads(self.raw)
        return parsed


class CallbackReceiver:
    """Listens on 127.0.0.1. `answers`: statuses for the next callbacks, 200 after them; `slow`: ref_id → seconds.

    `refuses`: the callbacks that are answered 403, whatever `answers` says.
    """

    def __init__(self) -> None:
        self.received: list[Received] = []
        self.answers: deque[int] = deque()
        self.slow: dict[str, float] = {}
        self.refuses: Callable[[Received], bool] = lambda received: False
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers["Content-Length"]))
                received = Received(dict(self.headers.items()), raw, time.monotonic())
                receiver.received.append(received)
                time.sleep(receiver.slow.get(received.body["data"]["ref_id"], 0))
                if receiver.refuses(received):
                    self.send_response(403)
                else:
                    self.send_response(receiver.answers.popleft() if receiver.answers else 200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *args: Any) -> None:
                """Keep the tests' output clean."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    @property
    def url(self) -> str:
        """The address to give to the sandbox."""
        return f"http://127.0.0.1:{self.server.server_port}/callbacks/upstream/"

    def of(self, ref_id: str) -> list[Received]:
        """The callbacks about a ref_id, in the order of their arrival."""
        return [received for received in list(self.received) if received.body["data"]["ref_id"] == ref_id]

    def close(self) -> None:
        """Stop listening."""
        self.server.shutdown()
        self.server.server_close()
