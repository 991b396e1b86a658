"""The public page of the price list."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from core.rights import Right
from staff.models import User


class PublicPriceList(models.Model):
    """The only public page: its link, and the brands that it lists. Only `catalogue.services.price_list` writes it."""

    only = models.BooleanField(primary_key=True, default=True, editable=False)
    digest = models.CharField(
        max_length=64, blank=True, help_text="SHA-256 of the token in the link; empty: switched off."
    )
    brands = ArrayField(
        models.BigIntegerField(), default=list, help_text="Keys of brands; none: all, also those to come."
    )
    changed_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+", db_index=False)
    changed_at = models.DateTimeField()

    class Meta:
        default_permissions = ()
        permissions = Right.of("catalogue.publicpricelist")
        constraints = [models.CheckConstraint(condition=Q(only=True), name="public_list_is_one_row")]

    def __str__(self) -> str:
        return "on" if self.is_on else "off"

    @property
    def is_on(self) -> bool:
        """Whether its link works."""
        return self.digest != ""
