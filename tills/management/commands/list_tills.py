"""`./run manage list_tills`: every till, the person there, and whether its PINs are locked."""

from typing import Any

from core.commands import PlainCommand
from tills.models import Till
from tills.services.guessing import seconds_locked


class Command(PlainCommand):
    """The same as the page."""

    help = "List the tills."
    json_help = "Print one JSON object for each till."

    def handle(self, *args: Any, **options: Any) -> None:
        """One line for each till; exit 0."""
        for till in Till.objects.select_related("held_by").order_by("pk"):
            facts = {
                "id": till.pk,
                "name": till.name,
                "on": till.is_on,
                "held_by": till.held_by.username if till.held_by else None,
                "locked_seconds": seconds_locked(till),
            }
            state = "off" if not till.is_on else "locked" if facts["locked_seconds"] else "on"
            line = f"{till.pk}\t{state}\t{facts['held_by'] or '-'}\t{till.name}"
            self.answer(facts, line, as_json=options["json"])
