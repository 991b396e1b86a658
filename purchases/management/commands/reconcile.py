"""`./run manage reconcile`: compare the books with the upstream now."""

import json
import sys
from typing import Any

from django.core.management.base import CommandParser

from backoffice.command import PlainCommand, waiting_seconds
from backoffice.money import rupiah
from balance import services as balance
from balance.models import Difference, ReconciliationRun
from purchases import services
from purchases.management.printing import EXIT_FAILED, EXIT_NOT_FINAL, EXIT_SUCCESS

_EXITS = {
    ReconciliationRun.State.BALANCED: EXIT_SUCCESS,
    ReconciliationRun.State.PROVISIONAL: EXIT_NOT_FINAL,
    ReconciliationRun.State.WAITING: EXIT_NOT_FINAL,
}


class Command(PlainCommand):
    """Read the balance, ask about the orders that it depends on, evaluate, print."""

    help = "Compare the books with the upstream. Exit 0: balanced, 3: not final or not read, 1: a difference is open."

    def add_arguments(self, parser: CommandParser) -> None:
        """How long to wait for open orders, and how to print."""
        parser.add_argument(
            "--wait", type=waiting_seconds, default=10, metavar="SECONDS", help="Follow open orders for so long."
        )
        parser.add_argument("--json", action="store_true", help="Print one JSON object.")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002
        """Reconcile, print, and exit with the state."""
        run, fault = services.reconcile_now(seconds=options["wait"])
        differences = [
            {"id": found.pk, "amount": found.amount, "label": found.label, "candidates": found.candidates}
            for found in Difference.objects.open()
        ]
        state = ReconciliationRun.State(run.state)
        if fault:
            self.stderr.write(f"The balance could not be read ({fault.rstrip('.')}); compared with the last one.")
            if state == ReconciliationRun.State.BALANCED:
                # What was so at the last reading proves nothing about now.
                state = ReconciliationRun.State.WAITING
        facts = {
            **balance.position().as_json(),
            "state": state.value,
            "readings_evaluated": run.readings_evaluated,
            "blocking": run.blocking,
            "differences": differences,
        }
        if options["json"]:
            self.stdout.write(json.dumps(facts))
        else:
            amount = "?" if run.difference is None else rupiah(run.difference)
            self.stdout.write(f"{state.value}: {amount}")
            for found in differences:
                self.stdout.write(f"  {rupiah(found['amount'])}  {found['label']}")
        sys.exit(_EXITS.get(state, EXIT_FAILED))
