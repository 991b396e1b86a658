"""Sends and prints orders for the commands, and gives the exit code for their state."""

import json
import sys
from typing import Any, NoReturn

from django.core.management.base import BaseCommand, OutputWrapper

from core.money import rupiah
from gateway.services import upstream_account
from purchases.models import Order
from purchases.services import submit
from purchases.services.polling import follow
from purchases.states import Status
from upstream.budget import CallClass

EXIT_SUCCESS, EXIT_FAILED, EXIT_NOT_FINAL = 0, 1, 3


def exit_code(order: Order) -> int:
    """0 success · 3 not final yet · 1 any other end."""
    if order.status == Status.SUCCESS:
        return EXIT_SUCCESS
    return EXIT_FAILED if order.is_final else EXIT_NOT_FINAL


def print_why_it_waits(err: OutputWrapper, what: str) -> None:
    """Say in one sentence why `what` ("the order stays queued"), if it is the upstream that cannot be used."""
    account = upstream_account()
    if account.refused_since:
        err.write(f"The upstream refuses our account ({account.refused_code}): {what} until it lets us in.")
    elif account.unreachable_since:
        err.write(f"The upstream cannot be reached: {what} until it can.")


def send_and_exit(command: BaseCommand, order: Order, options: dict[str, Any]) -> NoReturn:
    """Send the order, follow it for `--wait` seconds and print it; exit with its state."""
    submit(order.pk, call_class=CallClass.INTERACTIVE)
    order = follow(order, seconds=options["wait"])
    if order.status == Status.QUEUED:
        if upstream_account().is_held:
            command.stderr.write(
                "This shop was restored from a backup: the order waits until somebody opens the shop on the page "
                "Backups (docs/backup.md)."
            )
        print_why_it_waits(command.stderr, "the order stays queued")
    print_order(command.stdout, order, as_json=options["json"])
    sys.exit(exit_code(order))


def print_order(out: OutputWrapper, order: Order, *, as_json: bool, with_time: bool = False) -> None:
    """Write the order as one JSON object on one line, or as one line for people."""
    facts = order.as_json()
    if with_time:
        facts["created_at"] = order.created_at.isoformat()
    if as_json:
        out.write(json.dumps(facts))
        return
    out.write(
        f"{order.ref_id}  {order.status:<9}  {order.product_code}  {order.destination}  {rupiah(order.shown_price)}"
        f"  {order.sn or order.action_reason or order.message}".rstrip()
    )
