"""The health of products by our own orders."""

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from catalogue.models.products import Product

LAST_ORDERS = 10  # how many count for a product's health


class ProductHealth(models.Model):
    """The health of a product by our own last orders. The background writes a row if it fares badly, or did."""

    product = models.OneToOneField(Product, on_delete=models.CASCADE, primary_key=True, related_name="health")
    ended = models.SmallIntegerField(help_text="How many of its last orders count.")
    failed = models.SmallIntegerField(help_text="How many of these failed.")
    failing_until = models.DateTimeField(null=True, help_text="Until when that is worth a warning.")
    slow_until = models.DateTimeField(null=True, help_text="Until when it is called slow.")
    counted_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(failed__gte=0, failed__lte=F("ended"), ended__lte=LAST_ORDERS), name="health_counts_add_up"
            )
        ]

    def __str__(self) -> str:
        return f"{self.product_id}: {self.failed}/{self.ended}"

    @property
    def is_failing(self) -> bool:
        """Whether enough of its last orders failed to warn the seller."""
        return self.failing_until is not None and self.failing_until > timezone.now()

    @property
    def is_slow(self) -> bool:
        """Whether its orders take long at the moment."""
        return self.slow_until is not None and self.slow_until > timezone.now()
