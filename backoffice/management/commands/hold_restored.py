"""`./run restore` calls this as its last step: it marks the database as restored, so that nothing is spent."""

import datetime as dt
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandParser

from audit.services import is_restored
from batches.services import pause_restored
from bills.services import take_in_lost
from core.commands import PlainCommand
from gateway.services import hold_restored
from purchases.services import doubt_queued, find_lost, wait_no_longer


class Command(PlainCommand):
    """Call it also after restoring a dump into a PostgreSQL of your own, before the shop starts."""

    help = "After a restore: take in and poll what was sent since; spend nothing until a person opens the shop."

    def add_arguments(self, parser: CommandParser) -> None:
        """The time of the backup, and the folder of the journal."""
        parser.add_argument(
            "--to", type=dt.datetime.fromisoformat, required=True, help="The database knows until then."
        )
        parser.add_argument(
            "--sent", type=Path, default=settings.SENT_FOLDER, help="The folder with the journal of what is sent."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """If this is a dump, restart the audit first, so that what is written here can be sealed."""
        if is_restored():
            call_command("restart_audit")
        lost = find_lost(options["sent"])
        waiting = take_in_lost()
        doubt_queued()
        wait_no_longer()
        pause_restored()
        hold_restored(to=options["to"].astimezone(dt.UTC))
        self.stdout.write(f"{lost} orders of the journal were not known here; {waiting} of them wait to be taken in.")
        self.stdout.write("Nothing that spends is sent until somebody opens the shop on the page Backups.")
