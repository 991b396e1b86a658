"""`manage.py seed_sandbox`: create the account and the catalogue. It may run at every start."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from sandbox.models import Product
from sandbox.services import account, catalogue


class Command(BaseCommand):
    """Create the account from the SANDBOX_ settings, and a missing catalogue."""

    help = "Create the sandbox's account and catalogue; idempotent."

    def handle(self, *_args: Any, **_options: Any) -> None:
        """Seed, and print the account and the number of products."""
        seeded = account.seed(
            secret_id=settings.SANDBOX_SECRET_ID,
            secret_key=settings.SANDBOX_SECRET_KEY_UPSTREAM,
            callback_url=settings.SANDBOX_CALLBACK_URL,
            opening_balance=settings.SANDBOX_OPENING_BALANCE,
        )
        # a price that a person changed stays changed
        products = Product.objects.count() or catalogue.load()
        self.stdout.write(f"sandbox: account {seeded.secret_id}, {products} products")
