"""`./run manage switch_off_till ID`: end a till without a page."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from core.commands import PlainCommand
from tills.models import Till
from tills.services import switch_off


class Command(PlainCommand):
    """The same service as the page."""

    help = "Switch a till off: the person there by PIN is out at the next request."
    json_help = "Print one JSON object."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("id", type=int, help="As list_tills prints it.")

    def handle(self, *args: Any, **options: Any) -> None:
        """Exit 0 when it is off, 1 when there is no such till."""
        till = Till.objects.filter(pk=options["id"]).first()
        if till is None:
            raise CommandError(f"There is no till {options['id']}.")
        switch_off(till, actor=None)
        facts = {"id": till.pk, "name": till.name, "on": False}
        self.answer(facts, f"{till.name} is switched off.", as_json=options["json"])
