"""`./run manage reconcile`: compare the books with the upstream now."""

import json
import sys
from typing import Any

from django.core.management.base import CommandParser

from core.commands import PlainCommand, waiting_seconds
from core.money import rupiah
from purchases.management.printing import EXIT_FAILED, EXIT_NOT_FINAL, EXIT_SUCCESS
from reconciliation import services
from reconciliation.models import Difference, ReconciliationRun
from reconciliation.services.on_demand import reconcile_now

_EXITS = {
    ReconciliationRun.Result.BALANCED: EXIT_SUCCESS,
    ReconciliationRun.Result.PROVISIONAL: EXIT_NOT_FINAL,
    ReconciliationRun.Result.WAITING: EXIT_NOT_FINAL,
}


class Command(PlainCommand):
    """Read the balance, poll the orders that it depends on, evaluate, print."""

    help = "Compare the books with the upstream. Exit 0: balanced, 3: not final or not read, 1: a difference is open."
    json_help = "Print one JSON object."

    def add_arguments(self, parser: CommandParser) -> None:
        """The time to wait for open orders."""
        parser.add_argument(
            "--wait", type=waiting_seconds, default=10, metavar="SECONDS", help="How long to follow open orders."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Reconcile, print, and exit with the state."""
        run, fault = reconcile_now(seconds=options["wait"])
        differences = [
            {
                "id": difference.pk,
                "amount": difference.amount,
                "label": difference.label,
                "candidates": difference.candidates,
            }
            for difference in Difference.objects.open()
        ]
        state = ReconciliationRun.Result(run.state)
        if fault:
            self.stderr.write(f"The balance could not be read ({fault.rstrip('.')}); compared with the last one.")
            if state == ReconciliationRun.Result.BALANCED:
                # The state at the last reading proves nothing about now.
                state = ReconciliationRun.Result.WAITING
        position = services.position()
        flaw = str(position.proof) if position.proof.flaw else ""
        facts = {
            **position.as_json(),
            "state": state.value,
            "readings_evaluated": run.readings_evaluated,
            "blocking": run.blocking,
            "flaw": flaw,
            "differences": differences,
        }
        if options["json"]:
            self.stdout.write(json.dumps(facts))
        else:
            amount = "?" if run.difference is None else rupiah(run.difference)
            self.stdout.write(f"{state.value}: {amount}")
            if flaw:
                self.stdout.write(f"  {rupiah(position.proof.flaw_amount)}  {flaw}")
            for difference in differences:
                self.stdout.write(f"  {rupiah(difference['amount'])}  {difference['label']}")
        sys.exit(_EXITS.get(state, EXIT_FAILED))
