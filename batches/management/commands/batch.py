"""`./run manage batch`: checks a table of sales, releases it and follows it, by the same services as the pages."""

import json
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from batches import services
from batches.models import Batch, BatchRow
from batches.presenting import reason_of
from batches.states import BatchState
from branches.errors import BranchRefused
from core.commands import EXIT_USAGE, PlainCommand, waiting_seconds
from core.errors import Refused
from core.money import rupiah
from core.rights import Right
from core.sheets import SheetRefused, text_of
from drawers.services import PaymentFacts
from purchases.management.printing import EXIT_FAILED, EXIT_NOT_FINAL, EXIT_SUCCESS, print_why_it_waits
from staff.acting import acting_person, add_as
from staff.models import User


class Command(PlainCommand):
    """Check FILE, which sells nothing and prints a key; or sell exactly the rows of a key."""

    help = (
        "Check a table of sales and bills, or release it. Exit 0: checked without a fault, or all sold, "
        "3: not final yet, 1: some rows are wrong or not sold, or refused, 2: usage."
    )
    json_help = "Print one JSON object."

    def add_arguments(self, parser: CommandParser) -> None:
        """The file or the key, how long to wait."""
        parser.add_argument("file", nargs="?", metavar="FILE", help="CSV, XLSX or ODS; - for standard input.")
        parser.add_argument("--again", action="store_true", help="The same table is meant once more.")
        parser.add_argument("--release", metavar="KEY", help="Sell the rows of this key, as the check printed it.")
        parser.add_argument(
            "--wait",
            type=waiting_seconds,
            default=0,
            metavar="SECONDS",
            help="How long to follow the batch, or the checks of its bills.",
        )
        add_as(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        """Check or release, print; exit with the state of the batch."""
        if bool(options["file"]) == bool(options["release"]):
            raise CommandError("Name a FILE to check, or --release KEY.", returncode=EXIT_USAGE)
        if options["release"]:
            self._release(options)
        person = acting_person(options, Right.VIEW_PRODUCT, Right.BUY)
        try:
            batch, is_new = services.check_table(
                _text(options["file"]),
                name="" if options["file"] == "-" else Path(options["file"]).name,
                actor=person,
                meant_again=options["again"],
            )
        except SheetRefused as refusal:
            raise CommandError(str(refusal), returncode=EXIT_USAGE) from refusal
        except BranchRefused as refusal:
            raise CommandError(str(refusal)) from refusal
        if not is_new:
            self.stderr.write(f"This table was checked before, as batch {batch.pk}: it sells nothing a second time.")
        if batch.next_at:
            batch = services.follow(batch, seconds=options["wait"])
        self._print(batch, options)
        counts = BatchRow.objects.filter(batch=batch).counts()
        if counts["asking"] and not batch.is_released:
            self.stderr.write("Bills are still being checked. The same command again shows how far they are.")
            sys.exit(EXIT_NOT_FINAL)
        sys.exit(EXIT_FAILED if counts["wrong"] else EXIT_SUCCESS)

    def _release(self, options: dict[str, Any]) -> None:
        person = acting_person(options, Right.VIEW_PRODUCT, Right.BUY, Right.RELEASE_BATCHES)
        try:
            batch = self._released(options["release"], person)
        except Refused as refusal:
            raise CommandError(str(refusal)) from refusal
        batch = services.follow(batch, seconds=options["wait"])
        if batch.state == BatchState.PAUSED:
            self.stderr.write(f"It is paused. {batch.why_stopped}".strip())
        elif not services.is_over(batch):
            print_why_it_waits(self.stderr, "the batch waits")
        self._print(batch, options)
        counts = BatchRow.objects.filter(batch=batch).counts()
        if counts["waiting"] or counts["open"] or counts["asking"]:
            sys.exit(EXIT_NOT_FINAL)
        sys.exit(EXIT_FAILED if counts["failed"] else EXIT_SUCCESS)

    @staticmethod
    def _released(key: str, person: User | None) -> Batch:
        """The batch of this key, released now, or by an earlier call with the same key."""
        batch = services.batch_of_key(key)
        if not batch.is_released and services.release(
            batch, actor=person, seal=services.seal_of(batch), payment=PaymentFacts()
        ):
            raise CommandError("It is above the person's limit: a second person has to approve it first.")
        return batch

    def _print(self, batch: Batch, options: dict[str, Any]) -> None:
        rows = BatchRow.objects.for_table().filter(batch=batch).order_by("line")
        totals, counts = rows.totals(), rows.counts()
        key = None if batch.is_released or counts["asking"] else services.key_of(batch)
        if options["json"]:
            facts = {"batch": batch.pk, "state": batch.state, "key": key, "counts": counts, "totals": totals}
            if batch.is_released:
                facts |= {"sold": rows.sold(), "never_ordered": rows.never_ordered()}
            self.stdout.write(json.dumps({**facts, "rows": [_as_json(row) for row in rows]}))
            return
        for row in rows:
            status = row.order.status if row.order else row.state
            code = row.product.code if row.product else row.what
            said = (row.order and row.order.sn) or reason_of(row)
            self.stdout.write(f"{row.line:>5}  {status:<12}  {code}  {row.destination or row.typed}  {said}".rstrip())
        if batch.is_released:
            self.stdout.write(
                f"{counts['done']} sold, {counts['open']} open, {counts['failed']} failed,"
                f" {counts['waiting']} not sent yet, {counts['wrong'] + counts['left']} left out."
            )
        else:
            self.stdout.write(
                f"{totals['count']} rows to sell, {rupiah(totals['pays'])}; {counts['wrong']} to be corrected."
            )
        if key:
            self.stdout.write(f"key: {key}")


def _text(file: str) -> str:
    try:
        content = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as fault:
        raise CommandError(f"{file} cannot be read: {fault.strerror}.", returncode=EXIT_USAGE) from fault
    return text_of(content)


def _as_json(row: BatchRow) -> dict[str, Any]:
    """A row as the command prints it; prices in whole rupiah, `None` where nothing is known."""
    return {
        "line": row.line,
        "state": row.state,
        "fault": row.fault or None,
        "words": reason_of(row) or None,
        "number": row.destination or row.typed,
        "product_code": row.product.code if row.product else None,
        "name": row.name,
        "reference": row.reference,
        "kind": row.kind,
        "customer_name": row.bill_check.customer_name if row.bill_check else None,
        "period": row.bill_check.period if row.bill_check else None,
        "total": row.max_price if row.is_bill else None,
        "fee": row.fee if row.is_bill else None,
        "price": row.selling_price,
        "ref_id": row.order.ref_id if row.order else row.ref_id,
        "status": row.order.status if row.order else None,
        "sn": (row.order.sn or None) if row.order else None,
    }
