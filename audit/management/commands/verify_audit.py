"""`./run manage verify_audit`: has anybody changed an audited row?"""

import argparse
import base64
import json
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from audit.models import Sealing
from audit.services import verify
from core.commands import PlainCommand

_KEY_BYTES = 32  # of Ed25519


class Command(PlainCommand):
    """Compare rows with leaves, tree and checkpoints; the shop may sell meanwhile."""

    help = "Verify that no audited row was changed; --checkpoint: also against checkpoints that left the database."
    json_help = "Print one JSON object."

    def add_arguments(self, parser: CommandParser) -> None:
        """The checkpoints to compare with, and the format."""
        parser.add_argument("--checkpoint", type=Path, metavar="FILE", help="A file of AUDIT_CHECKPOINT_FILE.")
        parser.add_argument("--recent", type=_count, metavar="N", help="Only the newest N rows.")
        parser.add_argument(
            "--public-key", type=_key, metavar="KEY", help="The key of the signatures, base64 (default: our own)."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Exit 0 when nothing is wrong, else 1: the first flaw is the oldest row's."""
        try:
            lines = (
                options["checkpoint"].read_text(encoding="utf-8", errors="replace").splitlines()
                if options["checkpoint"]
                else []
            )
        except OSError as error:
            raise CommandError(f"{options['checkpoint']} cannot be read: {error.strerror}.", returncode=2) from error
        result = verify(recent=options["recent"], outside=lines, key=options["public_key"])
        if result.is_sound and options["recent"] is None:
            Sealing.objects.exclude(flaw=None).update(flaw=None)
        if options["json"]:
            self.stdout.write(json.dumps(result.as_json()))
        elif result.is_sound:
            self.stdout.write(
                f"{result.rows} rows, {result.checkpoints + result.outside} checkpoints: nothing is wrong."
            )
        else:
            self.stdout.write("\n".join(map(str, result.flaws)))
        if not result.is_sound:
            raise CommandError(f"The audit is broken: {result.flaws[0]}")


def _key(text: str) -> bytes:
    try:
        key = base64.b64decode(text, validate=True)
    except ValueError:
        key = b""
    if len(key) != _KEY_BYTES:
        raise argparse.ArgumentTypeError(f"{text!r} must be a key as audit_key prints it")
    return key


def _count(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and int(text)):
        raise argparse.ArgumentTypeError(f"{text!r} must be a number of rows")
    return int(text)
