"""The shop as its customers know it: one row, with the facts on receipts."""

from django.db import models
from django.db.models import F, Func, Q, Value
from django.db.models.lookups import Exact, LessThanOrEqual
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from audit.history import history_of
from core.rights import Right
from core.triggers import append_only

# Bytes of a logo
MOST_LOGO_BYTES = 256 * 1024


class Paper(models.TextChoices):
    """The paper of the shop's printer."""

    MM58 = "58", _("58 mm")
    MM80 = "80", _("80 mm")
    A5 = "a5", _("A5")


class LogoType(models.TextChoices):
    """The formats of a logo, as browsers name them. SVG is missing because it can hold a script."""

    PNG = "image/png"
    JPEG = "image/jpeg"
    WEBP = "image/webp"


class Logo(models.Model):
    """A picture, named by its content's hash, which the database checks. It is never deleted: old receipts show it."""

    digest = models.CharField(primary_key=True, max_length=64, help_text="SHA-256 of the content.")
    content = models.BinaryField()
    content_type = models.CharField(max_length=10, choices=LogoType.choices)
    width = models.PositiveSmallIntegerField(help_text="Pixels.")
    height = models.PositiveSmallIntegerField(help_text="Pixels.")

    class Meta:
        default_permissions = ()
        constraints = [
            models.CheckConstraint(
                condition=Exact(
                    F("digest"),
                    Func(Func(F("content"), function="sha256"), Value("hex"), function="encode"),
                ),
                name="logo_named_by_its_content",
            ),
            models.CheckConstraint(
                condition=LessThanOrEqual(Func(F("content"), function="octet_length"), Value(MOST_LOGO_BYTES)),
                name="logo_is_small",
            ),
            models.CheckConstraint(condition=Q(content_type__in=LogoType.values), name="logo_type_is_known"),
        ]
        triggers = append_only()

    def __str__(self) -> str:
        return self.digest[:12]

    def get_absolute_url(self) -> str:
        return reverse("shop_logo", args=[self.digest])


class Shop(models.Model):
    """The one shop. Texts of several lines are kept with "\\n" between them."""

    only = models.BooleanField(primary_key=True, default=True, editable=False)
    name = models.CharField(_("name"), max_length=60)
    address = models.CharField(_("address"), max_length=200, blank=True)
    phone = models.CharField(_("phone or WhatsApp"), max_length=20, blank=True)
    footer = models.CharField(_("footer"), max_length=400, blank=True)
    logo = models.ForeignKey(Logo, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    paper = models.CharField(max_length=2, choices=Paper.choices, default=Paper.MM58)
    language = models.CharField(
        max_length=10, blank=True, help_text="The language of receipts and messages; empty: the printing person's."
    )
    saved_at = models.DateTimeField(null=True, help_text="When a person last saved it; until then SHOP_NAME names it.")

    set_up_at = models.DateTimeField(null=True, help_text="When the list of first steps was closed permanently.")

    class Meta:
        default_permissions = ()
        permissions = Right.of("shop.shop")
        constraints = [
            models.CheckConstraint(condition=Q(only=True), name="shop_is_one_row"),
            models.CheckConstraint(condition=~Q(name=""), name="shop_has_a_name"),
            models.CheckConstraint(condition=Q(paper__in=Paper.values), name="shop_paper_is_known"),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("shop_settings")


# Every state of the row. A print names a state, so that its receipt never changes.
ShopHistory = history_of(Shop)
