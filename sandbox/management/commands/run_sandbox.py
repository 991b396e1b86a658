"""`manage.py run_sandbox`: the sandbox's one process: wire, dashboard, and the clock thread."""

import os
import signal
import sys
import threading
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from sandbox import delivery
from sandbox.clock import Clock
from sandbox.engine import settlement
from sandbox.server import CuttingServer
from sandbox.wsgi import application

# how long a stop waits for the clock's job in hand; all in all a stop takes less than 2 s
PATIENCE = 1.0


class Command(BaseCommand):
    """Serve until SIGTERM or Ctrl-C."""

    help = "Run the sandbox: HTTP server and clock in one process."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """--host and --port; port 0 takes a free one."""
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8100)

    def handle(self, *_args: Any, **options: Any) -> None:
        """Start, say where, wait for the signal, stop within 2 s."""
        try:
            server = CuttingServer(options["host"], options["port"], application)
        except OSError as fault:
            raise CommandError(f"cannot listen on {options['host']}:{options['port']}: {fault.strerror}") from fault
        delivery.release_all()
        clock = Clock([settlement.settle_due, settlement.arrive_due, delivery.send_due])
        clock.start()
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True).start()
        self.stdout.write(f"sandbox: http://{options['host']}:{server.server_port}")
        self.stdout.flush()
        _wait_for_a_signal()
        server.shutdown()
        server.server_close()
        clock.stop(PATIENCE)
        sys.stdout.flush()
        # A hanging answer or a slow merchant would hold the interpreter; all that counts is in the database.
        os._exit(0)


def _wait_for_a_signal() -> None:
    told = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: told.set())
    # a bare wait() cannot be interrupted by a signal on every platform
    while not told.wait(0.5):
        pass
