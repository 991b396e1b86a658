"""Customers whom the shop knows by name, and their numbers."""

from __future__ import annotations

import re

from django.conf import settings
from django.db import models
from django.db.models import Count, Q
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from catalogue.destinations import DestinationKind
from catalogue.models import Product, ProductType


def kinds() -> type[DestinationKind]:
    """What a number can be; a new kind needs no migration."""
    return DestinationKind


class SavedNumberQuerySet(models.QuerySet["SavedNumber"]):
    def matching(self, text: str) -> SavedNumberQuerySet:
        """Numbers that begin with what is typed (`+62 812` finds 0812…), or whose customer or note holds it."""
        digits = "".join(c for c in text if c.isalnum())
        found = Q(customer__name__icontains=text) | Q(note__icontains=text)
        if digits:
            at_home = re.sub(r"^(00)?620?(?=8)", "0", digits)
            found |= Q(destination__startswith=digits) | Q(destination__startswith=at_home)
        return self.filter(found)

    def bills(self) -> SavedNumberQuerySet:
        """Numbers at a biller."""
        return self.filter(product__type="postpaid", product__is_listed=True)


class CustomerQuerySet(models.QuerySet["Customer"]):
    def with_counts(self) -> CustomerQuerySet:
        """Annotate `count` (saved numbers) and `bills` (those at a biller)."""
        at_biller = Q(numbers__product__type=ProductType.POSTPAID)
        return self.annotate(
            count=Count("numbers", distinct=True), bills=Count("numbers", filter=at_biller, distinct=True)
        )


class Customer(models.Model):
    """A person whose numbers are kept."""

    name = models.CharField(_("name"), max_length=120)
    note = models.CharField(_("note"), max_length=300, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    objects = CustomerQuerySet.as_manager()

    class Meta:
        ordering = ["name", "pk"]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("customer_detail", args=[self.pk])


class SavedNumber(models.Model):
    """A phone, meter or customer number of a customer, with the product usually bought for it, or its biller."""

    customer = models.ForeignKey(Customer, on_delete=models.CASCADE, related_name="numbers")
    destination = models.CharField(_("number"), max_length=64)
    kind = models.CharField(max_length=10, choices=kinds)
    product = models.ForeignKey(Product, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    note = models.CharField(_("note"), max_length=120, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    objects = SavedNumberQuerySet.as_manager()

    class Meta:
        ordering = ["customer__name", "destination"]
        constraints = [
            models.UniqueConstraint(
                fields=["customer", "destination", "product"], nulls_distinct=False, name="number_saved_once"
            )
        ]
        indexes = [models.Index(fields=["destination"], name="saved_number_by_destination")]

    def __str__(self) -> str:
        return f"{self.destination} ({self.customer})"

    @property
    def is_bill(self) -> bool:
        """Whether it is a number at a biller."""
        return self.product is not None and self.product.type == ProductType.POSTPAID
