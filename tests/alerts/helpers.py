"""Alerts for tests, and the servers to which they are sent."""

import datetime as dt
import json
import socketserver
import threading
from http.server import BaseHTTPRequestHandler
from typing import Any

from django.db import connections
from django.utils import timezone

from alerts.kinds.kind import Facts, Reason
from alerts.models import Alert, Severity
from alerts.services.evaluating import evaluate_alerts, keep_alerts
from core import heartbeats
from core.stores import patient

LOW = Reason(facts={"available": 100_000, "threshold": 500_000, "hours_left": 1.5})
MISSING = Reason(key="7", severity=Severity.CRITICAL, facts={"difference": 7, "amount": -1})


def ago(**time: float) -> dt.datetime:
    """The time so long before now."""
    return timezone.now() - dt.timedelta(**time)


def give_heartbeats() -> None:
    """Give a heartbeat of every process of ours now; no process is starting."""
    patient().delete(heartbeats._STARTING)
    heartbeats._recorded.clear()
    for name in heartbeats.ROLES:
        heartbeats.record(name)


def open_alerts() -> list[tuple[str, str]]:
    """Kind and key of the alerts that are open after an evaluation, the gravest first."""
    evaluate_alerts()
    return list(Alert.objects.open().values_list("kind", "key"))


def low_balance() -> Alert:
    """An open alert."""
    keep_alerts("low_balance", [LOW])
    return Alert.objects.get(closed_at=None, kind="low_balance")


def unknown(number: int, **facts: Any) -> Reason:
    """The reason for an alert about the order `B-{number}`."""
    known: Facts = {"ref_id": f"B-{number}", "amount": 10_500, "since": timezone.now().isoformat(), "status": "unknown"}
    return Reason(key=f"B-{number}", facts=known | facts)


class Receiver(socketserver.ThreadingTCPServer):
    """A server on this machine that keeps each message; with `is_silent` it takes messages and never answers."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, handler: type[socketserver.BaseRequestHandler], url: str) -> None:
        super().__init__(("127.0.0.1", 0), handler)
        self.url = url.format(port=self.server_address[1])
        self.taken: list[Any] = []
        self.answer = 200
        self.is_silent = False
        self.during: Any = None
        self._released = threading.Event()
        threading.Thread(target=self.serve_forever, args=[0.01], daemon=True).start()

    def take(self, message: Any) -> bool:
        """Keep the message; returns whether to answer it."""
        if self.during:
            self.during()
            connections.close_all()
        self.taken.append(message)
        if self.is_silent:
            self._released.wait(30)
        return not self.is_silent

    def stop(self) -> None:
        """Release every thread that waits for an answer, and stop."""
        self._released.set()
        self.shutdown()
        self.server_close()


class Webhook(BaseHTTPRequestHandler):
    """Takes JSON by POST."""

    server: Receiver

    def do_POST(self) -> None:
        """Answer as the server is set to; a redirect leads to the same server."""
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.server.take(message):
            self.send_response(self.server.answer)
            self.send_header("Location", "/elsewhere")
            self.end_headers()

    def log_message(self, *args: object) -> None:
        """Nothing."""


class MailServer(socketserver.StreamRequestHandler):
    """A server with the few words of SMTP that a message needs; `answer` 550 refuses the recipient."""

    server: Receiver

    def handle(self) -> None:
        """Serve one connection."""
        self._say("220 ready")
        while line := self.rfile.readline():
            match line[:4].upper():
                case b"RCPT":
                    self._say("550 nobody here" if self.server.answer == 550 else "250 ok")
                case b"DATA":
                    self._say("354 go on")
                    lines = list(iter(self.rfile.readline, b".\r\n"))
                    if not self.server.take(b"".join(lines)):
                        return
                    self._say("250 ok")
                case b"QUIT":
                    self._say("221 bye")
                    return
                case _:
                    self._say("250 ok")

    def _say(self, line: str) -> None:
        self.wfile.write(f"{line}\r\n".encode())
