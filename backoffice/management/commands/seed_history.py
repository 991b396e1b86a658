"""`manage.py seed_history`: a year of made-up business, for measuring the pages with many orders."""

from __future__ import annotations

import argparse
import time
from typing import Any
from urllib.parse import parse_qs, urlsplit

import requests
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError, CommandParser

from backoffice.history.seeding import seed_history
from catalogue.models import Product
from core.commands import PlainCommand
from core.errors import Refused
from core.money import rupiah

_MOST = 100_000_000


def how_many(text: str) -> int:
    """The type of `--orders`."""
    if not (text.isascii() and text.isdecimal() and 0 < int(text) <= _MOST):
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number from 1 to {_MOST}")
    return int(text)


def sandbox_token() -> str:
    """What opens the sandbox's dashboard, and its control API; "" where `./run` did not start it."""
    return parse_qs(urlsplit(settings.SANDBOX_DASHBOARD_URL).query).get("token", [""])[0]


class Command(PlainCommand):
    """Writes rows that the services would have written; a proof of all entries at its end must find no flaw."""

    help = "Fill the sandbox's database with a year of made-up orders. Refused with a real upstream account."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--orders", type=how_many, required=True, help="how many orders")
        parser.add_argument("--more", action="store_true", help="go on with the history that is there")
        parser.add_argument("--seed", type=int, default=1, help="another number makes another history")

    def handle(self, *args: Any, **options: Any) -> None:
        started, orders = time.monotonic(), options["orders"]

        def progress(done: int) -> None:
            seconds = time.monotonic() - started
            self.stderr.write(f"\r  {done} of {orders} orders, {seconds:.0f} s", ending="")
            if done == orders:
                self.stderr.write("\n  Making indexes and checking the rows")

        try:
            if settings.SANDBOX and not Product.objects.listed().exists():
                call_command("sync_catalogue", stdout=self.stderr)
            balance = seed_history(orders, more=options["more"], seed=options["seed"], progress=progress)
        except Refused as refusal:
            raise CommandError(str(refusal)) from refusal
        self.stdout.write(f"{orders} orders in {time.monotonic() - started:.0f} s. The balance is {rupiah(balance)}.")
        self._tell_sandbox(balance)

    def _tell_sandbox(self, balance: int) -> None:
        """Give the sandbox's account the balance of the books, or say what follows when that is not possible."""
        try:
            address, token = f"{settings.SANDBOX_URL}/control/account", sandbox_token()
            bearer = {"Authorization": f"Bearer {token}"} if token else {}
            reply = requests.post(address, json={"balance": balance}, headers=bearer, timeout=10)
            reply.raise_for_status()
        except requests.RequestException:
            self.stdout.write(
                "The sandbox does not answer, so that its account keeps another balance: the next comparison finds a "
                f'difference. Set it yourself: POST {{"balance": {balance}}} to /control/account of the sandbox.'
            )
        else:
            self.stdout.write("The sandbox's account has the same balance.")
