"""`manage.py declare_fresh_budget`: notes in a new, empty Redis that no request was ever sent."""

from typing import Any

from core.commands import PlainCommand
from upstream.client import get_client


class Command(PlainCommand):
    """Called when the sandbox is the upstream, so that the first sync need not wait a rate window."""

    help = "Declare that no upstream request was sent in the last minute. Only for a new installation."

    def handle(self, *args: Any, **options: Any) -> None:
        """Start the rate budget at once instead of after one window."""
        get_client().budget.declare_fresh()
