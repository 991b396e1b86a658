"""`manage.py open_demo`: the last step of a start with the sandbox, in the place of `sync_catalogue --if-empty`."""

from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError

from backoffice.demo import furnish_demo
from core.commands import PlainCommand


class Command(PlainCommand):
    """Safe to run at every start: existing rows stay."""

    help = "Sandbox only: fetch the catalogue if there is none; give a new demo a drawer and selling prices."

    def handle(self, *args: Any, **options: Any) -> None:
        """Exit as `sync_catalogue` does when there is no catalogue yet."""
        if not settings.SANDBOX:
            raise CommandError("This is for the sandbox: a real shop sets its own prices.")
        call_command("sync_catalogue", "--if-empty", stdout=self.stdout)
        furnish_demo()
