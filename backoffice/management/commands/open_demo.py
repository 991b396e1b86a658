"""`manage.py open_demo`: makes a new demo's shop; the launcher calls it before anybody can use the pages."""

from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError

from backoffice.demo import live_a_month
from core import heartbeats
from core.commands import PlainCommand


class Command(PlainCommand):
    """Safe to run at every start: if the shop has any data, it only fetches a missing catalogue."""

    help = "Sandbox only: let a new demo live through a month; fetch the catalogue if there is none."

    def handle(self, *args: Any, **options: Any) -> None:
        """Exit as `sync_catalogue` does when there is no catalogue yet."""
        if not settings.SANDBOX:
            raise CommandError("This is for the sandbox: a real shop begins empty.")
        heartbeats.record_start()  # the month takes a while, and the processes begin after it
        if not live_a_month():
            call_command("sync_catalogue", "--if-empty", stdout=self.stdout)
        heartbeats.record_start()
