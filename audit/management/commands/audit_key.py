"""`./run manage audit_key`: the public key of the checkpoints, or a new private one."""

import base64
import os
from typing import Any

from django.core.management.base import CommandParser

from audit.services.publishing import public_key
from core.commands import PlainCommand


class Command(PlainCommand):
    """Everybody may know the public key; the private one stays with the people who run the server."""

    help = "Print the public key of the checkpoints; --new: print a new value for AUDIT_KEY."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--new", action="store_true", help="Print a new private key; nothing is changed.")

    def handle(self, *args: Any, **options: Any) -> None:
        key = os.urandom(32) if options["new"] else public_key()
        self.stdout.write(base64.b64encode(key).decode())
