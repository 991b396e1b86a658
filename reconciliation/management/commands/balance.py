"""`./run manage balance`: the state of the account."""

import json
from typing import Any

from core.commands import PlainCommand
from core.money import rupiah, signed_rupiah
from reconciliation import services


class Command(PlainCommand):
    """Print the newest balance, the books' expected one, and whether they agree; it only reads."""

    help = "Show the balance that the upstream reported, and what the books say."
    json_help = "Print one JSON object."

    def handle(self, *args: Any, **options: Any) -> None:
        facts = services.position().as_json()
        if options["json"]:
            self.stdout.write(json.dumps(facts))
            return
        for name, value in facts.items():
            self.stdout.write(f"{name:<12} {_shown(value)}")


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return " … ".join(signed_rupiah(amount) for amount in value)
    return rupiah(value) if isinstance(value, int) else str(value or "–")
