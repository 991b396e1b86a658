"""`./run manage sync_catalogue`: fetch the upstream's catalogue now."""

import sys
from typing import Any

from django.core.management.base import CommandError, CommandParser

from catalogue.errors import CatalogueFault
from catalogue.models import Product
from catalogue.services import sync_catalogue
from core.commands import EXIT_NOT_YET, PlainCommand
from core.times import time_of_day
from gateway.services import first_request_at, upstream_account


def _not_yet(time: str) -> str:
    if first_request_at():
        return f"The first minute: the catalogue is fetched from {time} on, for nobody knows what was sent before."
    return f"The rate limits leave no room now: the catalogue can be fetched from {time} on."


def _refused(code: str) -> str:
    """The words at a start: only the balance request, within a minute, shows whether a correction was right."""
    return (
        f"The provider refused this shop when it was last asked ({code}). If you have not corrected "
        "UPSTREAM_SECRET_ID, UPSTREAM_SECRET_KEY or the account: do so, and start again. Else it goes on by itself."
    )


class Command(PlainCommand):
    """The same service as the button and beat."""

    help = "Fetch the upstream's catalogue now. The last good catalogue stays in place on any fault."
    json_help = "Print one JSON object."

    def add_arguments(self, parser: CommandParser) -> None:
        """`--if-empty` for the first start."""
        parser.add_argument("--if-empty", action="store_true", help="Do nothing when there are products already.")

    def handle(self, *args: Any, **options: Any) -> None:
        """Exit 0 when the catalogue is in place, 3 when the rate limits do not allow it yet, 1 for any other fault."""
        if options["if_empty"] and Product.objects.exists():
            return
        try:
            sync = sync_catalogue()
        except CatalogueFault as fault:
            if options["if_empty"] and (code := upstream_account().refused_code):
                self.stderr.write(_refused(code), lambda text: text)
                sys.exit(EXIT_NOT_YET)
            if fault.not_before is not None:
                self.stderr.write(_not_yet(time_of_day(fault.not_before)), lambda text: text)  # not in red: no fault
                sys.exit(EXIT_NOT_YET)
            reason = str(fault).rstrip(".")
            raise CommandError(f"The catalogue was not fetched: {reason}. The last good one is unchanged.") from fault
        counts = {
            "products": sync.products,
            "added": sync.added,
            "vanished": sync.delisted,
            "price_changes": sync.price_changes,
            "left_out": sync.left_out or [],
        }
        line = f"{sync.products} products: {sync.added} new, {sync.delisted} delisted, {sync.price_changes} repriced."
        if names := sync.left_out_names:
            line += f" Left out, because they cannot be used: {', '.join(names)}."
        self.answer(counts, line, as_json=options["json"])
