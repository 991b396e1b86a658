"""The upstream's catalogue as we last knew it: it stays after every fault, and no row is ever deleted."""

from __future__ import annotations

import pgtrigger
from django.db import models
from django.db.models import Count, F, Q
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _, pgettext_lazy

from audit.history import history_of
from catalogue.destinations import KindField
from core.looks import LookChoices
from core.rights import Right
from core.transactions import TRANSACTION_NUMBER
from core.triggers import append_only, never_truncated, own_transaction


class ProductType(models.TextChoices):
    PREPAID = "prepaid", _("Prepaid")
    POSTPAID = "postpaid", _("Postpaid")


class CategoryQuerySet(models.QuerySet["Category"]):
    def asking(self) -> CategoryQuerySet:
        """Categories with listed products whose kind of number the shop has to set; `asking` is how many products."""
        products = Q(products__is_listed=True, products__kind_source__in=[KindSource.KEPT, KindSource.UNKNOWN])
        return self.filter(products).annotate(asking=Count("products"))


class Category(models.Model):
    """A category of products (pulsa, data, electricity tokens, …)."""

    code = models.CharField(max_length=100, unique=True)
    name = models.CharField(max_length=1000)
    type = models.CharField(max_length=8, choices=ProductType.choices)
    is_listed = models.BooleanField(default=True, help_text="Was in the upstream's last catalogue.")
    bought = models.IntegerField(default=0, help_text="How many of the last orders were for it; counted now and then.")

    objects = CategoryQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        verbose_name_plural = "categories"

    def __str__(self) -> str:
        return self.name


class BrandQuerySet(models.QuerySet["Brand"]):
    def sold_in(self, category: str) -> BrandQuerySet:
        """The brands with something to sell in the category of this code."""
        return self.filter(is_listed=True, products__is_listed=True, category__code=category).distinct()


class Brand(models.Model):
    """A brand within a category; the same brand may be in several categories, a row each."""

    category = models.ForeignKey(Category, on_delete=models.PROTECT, related_name="brands")
    code = models.CharField(max_length=100)
    name = models.CharField(max_length=1000)
    is_listed = models.BooleanField(default=True, help_text="Was in the upstream's last catalogue.")

    objects = BrandQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["category", "code"], name="brand_once_per_category")]

    def __str__(self) -> str:
        return self.name


class ProductQuerySet(models.QuerySet["Product"]):
    def listed(self) -> ProductQuerySet:
        """Products in the upstream's last catalogue, available or not."""
        return self.filter(is_listed=True)

    def prepaid(self) -> ProductQuerySet:
        """Products that are bought; postpaid ones are bills to check first."""
        return self.filter(type=ProductType.PREPAID)

    def in_price_list(self) -> ProductQuerySet:
        """Available prepaid products whose price follows from a rule and covers the cost."""
        active = self.listed().prepaid().filter(availability=Availability.ACTIVE)
        return active.filter(selling_price__gte=F("price"))

    def at_cost(self) -> ProductQuerySet:
        """Listed products without a price rule: they sell at cost."""
        return self.listed().prepaid().filter(selling_price=None)

    def below_cost(self) -> ProductQuerySet:
        """Listed products that sell for less than they cost, the largest loss first."""
        return self.listed().filter(selling_price__lt=F("price")).order_by(F("selling_price") - F("price"), "name")


class KindSource(models.TextChoices):
    """The source that says which kind of number a product takes."""

    NAMES = "names", _("its name, brand or category")
    SHOP = "shop", _("the shop")
    KEPT = "kept", _("kept from before: its names no longer say so")
    UNKNOWN = "unknown", _("nobody yet")


class Availability(LookChoices):
    """Whether the provider sells a product at the moment."""

    ACTIVE = "active", "circle-check", "good", _("Available")
    INACTIVE = "inactive", "alert-triangle", "warn", pgettext_lazy("product", "Unavailable")


class Product(models.Model):
    """A product as the upstream last listed it. Prices in whole rupiah."""

    code = models.CharField(max_length=100, unique=True)
    name = models.CharField(max_length=1000)
    category = models.ForeignKey(Category, on_delete=models.PROTECT, related_name="products")
    brand = models.ForeignKey(Brand, on_delete=models.PROTECT, related_name="products")
    type = models.CharField(max_length=8, choices=ProductType.choices)
    # `catalogue.services.kinds` writes it, with each catalogue and when the shop corrects it.
    kind = KindField(help_text="The kind of its destinations.")
    kind_source = models.CharField(max_length=8, choices=KindSource.choices, default=KindSource.UNKNOWN)
    price = models.BigIntegerField(help_text="Rupiah: the cost, what the upstream charges.")
    admin_fee = models.BigIntegerField(default=0, help_text="Rupiah.")
    # Both follow from the rules. `catalogue.services.pricing` writes them, so that a sale reads only this row.
    selling_price = models.BigIntegerField(
        null=True, help_text="Rupiah: what the customer pays, by the price rules; empty without one: the cost."
    )
    fee = models.BigIntegerField(default=0, help_text="Rupiah: the shop's own, on top of a bill's total.")
    availability = models.CharField(max_length=8, choices=Availability.choices)
    description = models.TextField(blank=True)
    cut_off_start = models.TimeField(null=True, blank=True, help_text="Asia/Jakarta; daily.")
    cut_off_end = models.TimeField(null=True, blank=True, help_text="Asia/Jakarta; daily.")
    is_listed = models.BooleanField(default=True, help_text="Was in the upstream's last catalogue.")
    bought = models.IntegerField(default=0, help_text="How many of the last orders were for it; counted now and then.")
    updated_at = models.DateTimeField(auto_now=True)

    objects = ProductQuerySet.as_manager()

    class Meta:
        default_permissions = ()
        permissions = Right.of("catalogue.product")
        ordering = ["category__name", "brand__name", "price", "name"]
        constraints = [
            models.CheckConstraint(condition=Q(price__gte=0), name="product_price_not_negative"),
            models.CheckConstraint(condition=Q(admin_fee__gte=0), name="product_admin_fee_not_negative"),
            models.CheckConstraint(condition=Q(kind_source__in=KindSource.values), name="product_kind_source_known"),
            models.CheckConstraint(
                condition=Q(selling_price__isnull=True) | Q(selling_price__gt=0, type=ProductType.PREPAID),
                name="product_selling_price_positive",
            ),
            models.CheckConstraint(
                condition=Q(fee=0) | Q(fee__gt=0, type=ProductType.POSTPAID), name="product_fee_of_a_bill"
            ),
        ]
        indexes = [models.Index(fields=["brand", "price"], name="product_by_brand_price")]

    def __str__(self) -> str:
        return self.name

    @property
    def sells_for(self) -> int:
        """Rupiah that the customer pays; the cost if there is no rule. For a bill only an inquiry gives the amount."""
        return self.price if self.selling_price is None else self.selling_price

    @property
    def margin(self) -> int:
        """Rupiah that the shop earns with a sale; below zero if it sells below cost."""
        return self.sells_for - self.price

    @property
    def is_kind_known(self) -> bool:
        """Whether the kind of its numbers is known; else they are hardly checked."""
        return self.kind_source != KindSource.UNKNOWN

    @property
    def names(self) -> tuple[str, str, str]:
        """Code and name of the product, of its brand and of its category; its kind follows from them."""
        product, brand, category = (f"{row.code} {row.name}" for row in (self, self.brand, self.category))
        return product, brand, category

    @property
    def availability_badge(self) -> SafeString:
        """Whether the provider sells it, for a page."""
        return Availability(self.availability).badge

    @property
    def is_available(self) -> bool:
        """Whether it can be sold at all: listed and available (for the cut-off see `in_cut_off`)."""
        return self.is_listed and self.availability == Availability.ACTIVE

    def in_cut_off(self) -> bool:
        """Whether it is now in its daily closed hours, which may pass midnight."""
        start, end = self.cut_off_start, self.cut_off_end
        if start is None or end is None:
            return False
        now = timezone.localtime().time()
        passes_midnight = start > end
        return now >= start or now < end if passes_midnight else start <= now < end


class PriceChange(models.Model):
    """A price that a product had from this moment on, in rupiah. Append-only."""

    product = models.ForeignKey(Product, on_delete=models.CASCADE, related_name="price_changes")
    at = models.DateTimeField(default=timezone.now)
    price_before = models.BigIntegerField(null=True, help_text="Rupiah; empty when the product was new.")
    price = models.BigIntegerField(help_text="Rupiah.")
    admin_fee = models.BigIntegerField(default=0, help_text="Rupiah.")
    txid = models.BigIntegerField(db_default=TRANSACTION_NUMBER, editable=False)

    class Meta:
        default_permissions = ()
        permissions = Right.of("catalogue.pricechange")
        ordering = ["-at"]
        indexes = [
            models.Index(fields=["product", "-at"], name="price_change_of_product"),
            models.Index(fields=["-at", "-id"], name="price_change_newest"),
            models.Index(fields=["txid", "id"], name="price_change_to_seal"),
        ]
        triggers = [*append_only(), own_transaction()]

    def __str__(self) -> str:
        return f"{self.product_id}: {self.price_before} → {self.price}"


class PriceRuleKind(models.TextChoices):
    """The way in which a rule makes the selling price. For bills there is only `PLUS`: the shop's fee."""

    FIXED = "fixed", _("Fixed price")
    PERCENT = "percent", _("Percent on top of the cost")
    PLUS = "plus", _("Rupiah on top of the cost")


# In rupiah, hundredths of a percent, and rupiah.
MOST_RUPIAH = 1_000_000_000
MOST_PERCENT = 100_000
ROUNDINGS = (1, 100, 500, 1_000)


class PriceRule(models.Model):
    """The price of a product, a brand, a category or everything of a type; the most specific rule counts.

    It is active until it is ended. Only `catalogue.services` writes it, and the products' prices with it.
    """

    type = models.CharField(max_length=8, choices=ProductType.choices, help_text="The type of its products.")
    category = models.ForeignKey(Category, null=True, on_delete=models.PROTECT, related_name="price_rules")
    brand = models.ForeignKey(Brand, null=True, on_delete=models.PROTECT, related_name="price_rules")
    product = models.ForeignKey(Product, null=True, on_delete=models.PROTECT, related_name="price_rules")
    kind = models.CharField(max_length=8, choices=PriceRuleKind.choices)
    value = models.BigIntegerField(help_text="Rupiah; of a percentage: hundredths of a percent.")
    # NULL and not 0, because the sealed copies of older rows do not have this column (docs/audit.md).
    at_least = models.BigIntegerField(
        null=True, help_text="Rupiah that a percentage adds at least, before the price is rounded up; empty: none."
    )
    round_to = models.IntegerField(default=1, help_text="Rupiah: the selling price is rounded up to a multiple of it.")
    created_at = models.DateTimeField(default=timezone.now)
    changed_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True, help_text="Empty while it is active.")

    class Meta:
        default_permissions = ()
        permissions = Right.of("catalogue.pricerule")
        ordering = ["type", "category", "brand", "product"]
        constraints = [
            models.CheckConstraint(
                condition=Q(brand=None, product=None) | Q(category=None, product=None) | Q(category=None, brand=None),
                name="price_rule_for_one_thing",
            ),
            models.CheckConstraint(
                condition=Q(kind="fixed", value__range=(1, MOST_RUPIAH))
                | Q(kind="plus", value__range=(0, MOST_RUPIAH))
                | Q(kind="percent", value__range=(0, MOST_PERCENT)),
                name="price_rule_value_makes_sense",
            ),
            models.CheckConstraint(
                condition=Q(at_least=None) | Q(kind="percent") & Q(at_least__range=(1, MOST_RUPIAH)),
                name="price_rule_least_of_a_percentage",
            ),
            models.CheckConstraint(condition=Q(round_to__in=ROUNDINGS), name="price_rule_rounding_known"),
            models.CheckConstraint(
                condition=Q(type="prepaid") | Q(type="postpaid", kind="plus", round_to=1),
                name="price_rule_of_bills_is_a_fee",
            ),
            *(
                models.UniqueConstraint(
                    fields=[field], condition=Q(ended_at=None), name=f"price_rule_once_for_each_{field}"
                )
                for field in ("category", "brand", "product")
            ),
            models.UniqueConstraint(
                fields=["type"],
                condition=Q(ended_at=None, category=None, brand=None, product=None),
                name="price_rule_once_for_everything",
            ),
        ]
        triggers = [
            pgtrigger.ReadOnly(
                name="target_never_changes", fields=["type", "category", "brand", "product", "created_at"]
            ),
            pgtrigger.Protect(
                name="ended_once", operation=pgtrigger.Update, condition=pgtrigger.Q(old__ended_at__isnull=False)
            ),
            pgtrigger.Protect(name="never_deleted", operation=pgtrigger.Delete),
            never_truncated(),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.value}"


PriceRuleHistory = history_of(PriceRule)


class KindCorrection(models.Model):
    """The kind of number that the shop has set for a category or a product. Only `catalogue.services` writes it."""

    category = models.OneToOneField(Category, null=True, on_delete=models.PROTECT, related_name="kind_correction")
    product = models.OneToOneField(Product, null=True, on_delete=models.PROTECT, related_name="kind_correction")
    kind = KindField()
    changed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        default_permissions = ()
        constraints = [
            models.CheckConstraint(
                condition=Q(category=None, product__isnull=False) | Q(category__isnull=False, product=None),
                name="kind_correction_of_one_thing",
            )
        ]
        triggers = [never_truncated()]

    def __str__(self) -> str:
        return f"{self.category or self.product}: {self.kind}"


KindCorrectionHistory = history_of(KindCorrection)


class SyncFault(models.TextChoices):
    """The reason why the catalogue was not fetched."""

    RATE_LIMIT = "rate_limit", _("The rate limit leaves no room now.")
    UNREACHABLE = "unreachable", _("The provider cannot be reached.")
    EMPTY = "empty", _("The provider listed no products at all.")
    LISTED_TWICE = "listed_twice", _("The provider listed a product twice.")
    OVERTAKEN = "overtaken", _("A newer catalogue was applied meanwhile.")
    OTHER = "other", _("The provider's answer cannot be used.")


class CatalogueSync(models.Model):
    """One attempt to fetch the catalogue, and its result."""

    class Result(models.TextChoices):
        RUNNING = "running", _("Running")
        DONE = "done", _("Done")
        FAULT = "fault", _("Fault")

    started_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True)
    result = models.CharField(max_length=8, choices=Result.choices, default=Result.RUNNING)
    products = models.IntegerField(default=0)
    added = models.IntegerField(default=0)
    delisted = models.IntegerField(default=0)
    price_changes = models.IntegerField(default=0)
    fault = models.CharField(max_length=20, blank=True, choices=SyncFault.choices)
    fault_detail = models.CharField(max_length=300, blank=True)
    left_out = models.JSONField(
        null=True, help_text="The products whose rows could not be read: code, name and field at fault; empty: none."
    )

    class Meta:
        default_permissions = ()
        permissions = Right.of("catalogue.cataloguesync")
        ordering = ["-started_at"]
        indexes = [models.Index(fields=["-started_at"], name="catalogue_sync_newest")]

    def __str__(self) -> str:
        return f"{self.started_at:%Y-%m-%d %H:%M} {self.result}"

    @property
    def left_out_names(self) -> list[str]:
        """The products that were left out, each as "name (code): the field at fault", as far as they are known."""
        names = []
        for row in self.left_out or []:
            code = f" ({row['code']})" if row["code"] else ""
            names.append(f"{row['name'] or '?'}{code}: {row['field'] or '?'}")
        return names
