"""`manage.py seed_sandbox`: the account and the catalogue, ready for use. Run it as often as you like."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from sandbox import account_settings, catalogue
from sandbox.models import Product


class Command(BaseCommand):
    """Make the account from SANDBOX_SECRET_ID and its siblings, and the catalogue unless it is there."""

    help = "Make the sandbox's account and catalogue; idempotent."

    def handle(self, *_args: Any, **_options: Any) -> None:
        """Seed, and say what there is."""
        account = account_settings.seed(
            secret_id=settings.SANDBOX_SECRET_ID,
            secret_key=settings.SANDBOX_SECRET_KEY_UPSTREAM,
            callback_url=settings.SANDBOX_CALLBACK_URL,
            opening_balance=settings.SANDBOX_OPENING_BALANCE,
        )
        # a price changed by hand stays changed over a restart
        products = Product.objects.count() or catalogue.load()
        self.stdout.write(f"sandbox: account {account.secret_id}, {products} products")
