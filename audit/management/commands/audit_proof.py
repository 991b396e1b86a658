"""`./run manage audit_proof REF_ID`: a proof of one order that others verify without us."""

import json
from typing import Any

from django.core.management.base import CommandError, CommandParser

from audit.services import NotSealed, proof_of
from core.commands import PlainCommand


class Command(PlainCommand):
    """Reads only."""

    help = "Print the proof of an order as JSON; docs/verify_proof.py verifies it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("ref_id")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the proof. Exit 1 while no row of the order is in a signed tree."""
        try:
            proof = proof_of(options["ref_id"])
        except NotSealed as error:
            raise CommandError("There is no such order, or it is not sealed yet: try again in two minutes.") from error
        self.stdout.write(json.dumps(proof, indent=1))
