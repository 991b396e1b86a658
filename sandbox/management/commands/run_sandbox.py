"""`manage.py run_sandbox`: the sandbox's one process, with wire, dashboard, and the scheduler's thread."""

import os
import signal
import sys
import threading
from argparse import ArgumentParser
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.core.wsgi import get_wsgi_application
from django.db import OperationalError, connection

from sandbox.api import limits
from sandbox.server import CuttingServer
from sandbox.services import delivery, settlement
from sandbox.services.scheduler import Scheduler

# seconds that a stop waits for the scheduler's present job; a whole stop takes less than 2 s
PATIENCE = 1.0
ENDINGS = {signal.SIGTERM, signal.SIGINT}


class Command(BaseCommand):
    """Serve until SIGTERM or Ctrl-C."""

    help = "Run the sandbox: HTTP server and scheduler in one process."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """--host and --port (0 takes a free one); --prepare for a database that may be empty."""
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8100)
        parser.add_argument("--prepare", action="store_true", help="migrate and seed the database first")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Start, print the address, wait for the signal, stop within 2 s."""
        # before any thread starts, so that every thread leaves the signals to sigwait below
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDINGS)
        try:
            server = CuttingServer(options["host"], options["port"], get_wsgi_application())
        except OSError as fault:
            raise CommandError(f"cannot listen on {options['host']}:{options['port']}: {fault.strerror}") from fault
        try:
            if options["prepare"]:
                call_command("migrate", verbosity=0)
                call_command("seed_sandbox", stdout=self.stdout)
            connection.ensure_connection()
        except OperationalError as fault:
            raise CommandError(f"cannot use the database of SANDBOX_DATABASE_URL: {fault}") from fault
        scheduler = Scheduler([settlement.settle_due, settlement.arrive_due, delivery.send_due, limits.forget_old])
        scheduler.start()
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True).start()
        self.stdout.write(f"sandbox: http://{options['host']}:{server.server_port}")
        self.stdout.flush()
        signal.sigwait(ENDINGS)
        server.shutdown()
        server.server_close()
        scheduler.stop(PATIENCE)
        sys.stdout.flush()
        # A hanging answer or a slow merchant would keep the process alive; all state is in the database.
        os._exit(0)
