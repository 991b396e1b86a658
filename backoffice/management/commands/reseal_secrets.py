"""`./run manage reseal_secrets`: seals again, with the present SECRET_KEY, what a former key sealed."""

import json
from typing import Any

from django.core.management.base import CommandError

from core.commands import EXIT_NOT_YET, PlainCommand
from core.resealing import SealedRows, sealed_rows


class Command(PlainCommand):
    """Covers every kind of sealed rows. A second run changes nothing."""

    help = "Seal all that needs a key of SECRET_KEY_FALLBACKS with SECRET_KEY again, and say what still needs one."
    json_help = "Print one JSON object."

    def handle(self, *args: Any, **options: Any) -> None:
        """Exit 0 when nothing needs a former key, 3 when PINs still do, 1 when something opens with no known key."""
        report, former, none = {}, 0, 0
        for kind in sealed_rows():
            resealed, keys = kind.reseal(), kind.keys()
            former, none = former + len(keys.former), none + len(keys.none)
            report[kind.name] = {
                "resealed": resealed,
                "present": keys.present,
                "former": keys.former,
                "none": keys.none,
            }
            if not options["json"]:
                self._print(kind, resealed, len(keys.former), len(keys.none))
        if options["json"]:
            self.stdout.write(json.dumps(report))
        if none:
            raise CommandError(
                f"{none} open with no key that we know. Add the missing key to SECRET_KEY_FALLBACKS; without it "
                "reset the factor (reset_factor NAME), add the way of alerts again, let the person set a new PIN."
            )
        if former:
            raise CommandError(
                "Some still need a key of SECRET_KEY_FALLBACKS: keep it until ./run doctor says that none does.",
                returncode=EXIT_NOT_YET,
            )

    def _print(self, kind: SealedRows, resealed: int, former: int, none: int) -> None:
        done = "" if kind.moves_at_use else f"{resealed} sealed again, "
        moves = " (each moves when its person uses it)" if kind.moves_at_use and former else ""
        self.stdout.write(f"{kind.words}: {done}{former} need a former key{moves}, {none} open with no key")
