"""The products that stand first among a till's tiles."""

from django.db import models
from django.db.models import Q

from catalogue.models import Product
from tills.models import Till

#: As many as one page of tiles has.
MOST_FIRST = 8


class FirstTile(models.Model):
    """A product in the first places of a till's tiles. Only `counter.services.first_tiles` writes it.

    A till that is switched off keeps its rows; a till that replaces it gets the same.
    """

    till = models.ForeignKey(Till, on_delete=models.PROTECT, related_name="+", db_index=False)
    product = models.ForeignKey(Product, on_delete=models.PROTECT, related_name="+", db_index=False)
    place = models.PositiveSmallIntegerField(help_text="From 1.")

    class Meta:
        default_permissions = ()
        ordering = ["till", "place"]
        constraints = [
            models.UniqueConstraint(fields=["till", "place"], name="first_tile_place_once"),
            models.UniqueConstraint(fields=["till", "product"], name="first_tile_product_once"),
            models.CheckConstraint(condition=Q(place__gte=1, place__lte=MOST_FIRST), name="first_tile_place_in_row"),
        ]

    def __str__(self) -> str:
        return f"{self.place} of till {self.till_id}: product {self.product_id}"
