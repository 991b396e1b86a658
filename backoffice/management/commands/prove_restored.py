"""`./run drill` calls this in the copy that it has restored: the proofs of every night, and nothing else."""

from typing import Any

from django.core.management.base import CommandError

from audit.services import verify
from core.commands import PlainCommand
from reconciliation.services import prove


class Command(PlainCommand):
    """Neither proof sends anything."""

    help = "Prove every entry and the audit of a restored copy."

    def handle(self, *args: Any, **options: Any) -> None:
        """Exit 1 with the first flaw."""
        proof = prove(everything=True)
        if proof.flaw:
            raise CommandError(f"The books have a flaw: {proof.get_flaw_display()}, Rp{proof.flaw_amount}.")
        result = verify()
        if not result.is_sound:
            raise CommandError(f"The audit is broken: {result.flaws[0]}")
        self.stdout.write(f"{proof.upto} entries and {result.rows} rows of the audit are proved.")
