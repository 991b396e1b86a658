"""`./run restore` calls this as its last step: the restored database says so, and nothing that spends is sent."""

import datetime as dt
from typing import Any

from django.core.management import call_command
from django.core.management.base import CommandParser

from audit.services import is_restored
from core.commands import PlainCommand
from gateway.services import hold_restored
from purchases.services import doubt_queued


class Command(PlainCommand):
    """Also after a dump was restored into a PostgreSQL of your own: before the shop starts."""

    help = "After a restore: send nothing that spends until a person opens the shop, and poll what was queued."

    def add_arguments(self, parser: CommandParser) -> None:
        """The time."""
        parser.add_argument(
            "--to", type=dt.datetime.fromisoformat, required=True, help="The database knows until then."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Let transactions count on first, if this is a dump: what is written here shall be sealed."""
        if is_restored():
            call_command("restart_audit")
        doubt_queued()
        hold_restored(to=options["to"].astimezone(dt.UTC))
        self.stdout.write("Nothing that spends is sent until somebody opens the shop on the page Backups.")
