"""Customers whom the shop knows by name, and their numbers."""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.expressions import ArraySubquery
from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import models
from django.db.models import Count, Min, OuterRef, Subquery
from django.db.models.functions import Coalesce, JSONObject, Reverse, Upper
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from audit.history import history_of
from catalogue.destinations import KINDS, KindField, spellings
from catalogue.models import Product, ProductType
from core.notation import bare, has_digits
from core.numbers import sees_whole_numbers
from core.rights import Right
from core.search import found_by, words_of, words_that_begin
from core.triggers import never_truncated

# At least this many digits at the end of a number find it.
LEAST_END = 4
# The most words of a text that is searched for names, and of a name.
_MOST_WORDS, _LONGEST_NAME = 12, 5


class SavedNumberQuerySet(models.QuerySet["SavedNumber"]):
    def matching(self, text: str, *, by_part: bool = True) -> SavedNumberQuerySet:
        """Numbers that begin with the typed text (`+62 812` finds 0812…), or whose customer or note has words that do.

        The last digits (`LEAST_END` or more) find a number, too.

        Not `by_part`: only a full number matches, for people who may not see it and could try digit after digit. A text
        with digits then does not match notes, either.
        """
        every = SavedNumber.objects.alias(words=words_of("note"), backwards=Reverse("destination"))
        ways = [every.filter(customer__in=Customer.objects.named(text, by_part=by_part))]
        if by_part or not has_digits(text):
            ways.append(every.filter(words=words_that_begin(text)))
        how = "destination__startswith" if by_part else "destination"
        ways += [every.filter(**{how: number}) for number in sorted(spellings(text))]
        if by_part and len(bare(text)) >= LEAST_END:
            ways.append(every.filter(backwards__startswith=bare(text)[::-1]))
        return self.filter(found_by(*ways))

    def owner(self) -> Subquery:
        """For `annotate`: the customer of the first of these, by name, as {pk, name}; null without one."""
        named = self.order_by("customer__name", "customer")
        return Subquery(named.values(json=JSONObject(pk="customer", name="customer__name"))[:1])

    def in_seen_order(self) -> SavedNumberQuerySet:
        """By name and number; for a viewer of masked numbers the oldest first: their order would give digits away."""
        return self if sees_whole_numbers() else self.order_by("customer__name", "customer", "pk")

    def phones(self) -> SavedNumberQuerySet:
        """Mobile numbers, to which a message can be sent. A meter's or a biller's number may begin with 08, too."""
        kinds = [kind for kind in KINDS.values() if kind.takes_phone]
        return self.filter(destination__startswith="08", kind__in=kinds)

    def bills(self) -> SavedNumberQuerySet:
        """Numbers at a biller."""
        return self.filter(product__type="postpaid", product__is_listed=True)


class CustomerQuerySet(models.QuerySet["Customer"]):
    def with_counts(self) -> CustomerQuerySet:
        """Annotate `count` (saved numbers), `bills` (those at a biller) and `debt` (rupiah).

        The debt is in an account of a room above, whose row points here; below zero the shop owes.
        """
        own = SavedNumber.objects.filter(customer=OuterRef("pk")).order_by().values("customer")
        at_biller = own.filter(product__type=ProductType.POSTPAID)
        count, bills = (
            Coalesce(Subquery(numbers.annotate(n=Count("pk")).values("n")), 0) for numbers in (own, at_biller)
        )
        return self.annotate(count=count, bills=bills, debt=Coalesce("credit__balance", 0))

    def for_file(self) -> CustomerQuerySet:
        """`with_counts`, and with the saved numbers as `own_numbers`."""
        numbers = SavedNumber.objects.filter(customer=OuterRef("pk")).order_by("pk").values("destination")
        return self.with_counts().annotate(own_numbers=ArraySubquery(numbers))

    def named(self, text: str, *, by_part: bool = True) -> CustomerQuerySet:
        """Customers with words in the name or note that begin like the words of `text`.

        Not `by_part`: a text with digits is searched only in names, because a note may hold a number.
        """
        named = self.alias(words=words_of("name", "note")).filter(words=words_that_begin(text))
        if by_part or not has_digits(text):
            return named
        return named.alias(in_name=words_of("name")).filter(in_name=words_that_begin(text))

    def called_in(self, text: str) -> dict[str, int]:
        """The names in `text`, of up to 5 words, that exactly one customer has, each with this customer's key.

        Case does not count. Only the first 12 words are read; the index of names finds each name.
        """
        words = [word.strip(",;") for word in text.upper().split()[:_MOST_WORDS]]
        spans = {" ".join(words[at : at + n]) for at in range(len(words)) for n in range(1, _LONGEST_NAME + 1)}
        named = self.alias(upper=Upper("name")).filter(upper__in=[name for name in spans if bare(name)])
        once = named.order_by().values(called=Upper("name")).annotate(n=Count("pk"), key=Min("pk")).filter(n=1)
        return {row["called"]: row["key"] for row in once}

    def matching(self, text: str, *, by_part: bool = True) -> CustomerQuerySet:
        """Customers by a part of name or note, or the beginning of a number (not `by_part`: a full number).

        Their keys are read first: in a subquery PostgreSQL would expect many, and read all customers by name.
        """
        numbers = SavedNumber.objects.matching(text, by_part=by_part)
        by_number = Customer.objects.filter(pk__in=numbers.values("customer"))
        found = Customer.objects.filter(found_by(Customer.objects.named(text, by_part=by_part), by_number)).order_by()
        return self.filter(pk__in=list(found.values_list("pk", flat=True)))


class Customer(models.Model):
    """A person whose numbers are kept."""

    NAME_LETTERS, NOTE_LETTERS = 120, 300

    name = models.CharField(_("name"), max_length=NAME_LETTERS)
    note = models.CharField(_("note"), max_length=NOTE_LETTERS, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    objects = CustomerQuerySet.as_manager()

    class Meta:
        default_permissions = ()
        permissions = Right.of("customers.customer")
        ordering = ["name", "pk"]
        indexes = [
            models.Index(fields=["name", "id"], name="customer_by_name"),
            models.Index(Upper("name"), name="customer_by_any_name"),
            GinIndex(words_of("name", "note"), name="customer_by_words"),
        ]
        triggers = [never_truncated()]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("customer_detail", args=[self.pk])


CustomerHistory = history_of(Customer)


class MergedCustomer(models.Model):
    """The customer that a merged one has become: sales keep the key of their buyer."""

    gone = models.BigIntegerField(
        primary_key=True, help_text="The key of the customer who was merged; no customer has it any more."
    )
    kept = models.ForeignKey(Customer, on_delete=models.CASCADE, related_name="+")

    class Meta:
        default_permissions = ()
        triggers = [never_truncated()]

    def __str__(self) -> str:
        return f"{self.gone} is {self.kept_id}"


class SavedNumber(models.Model):
    """A phone, meter or customer number of a customer, with the product usually bought for it, or its biller."""

    NOTE_LETTERS = 120

    customer = models.ForeignKey(Customer, on_delete=models.CASCADE, related_name="numbers")
    destination = models.CharField(_("number"), max_length=64)
    kind = KindField()
    product = models.ForeignKey(Product, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    note = models.CharField(_("note"), max_length=NOTE_LETTERS, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    objects = SavedNumberQuerySet.as_manager()

    class Meta:
        ordering = ["customer__name", "destination"]
        constraints = [
            models.UniqueConstraint(
                fields=["customer", "destination", "product"], nulls_distinct=False, name="number_saved_once"
            )
        ]
        indexes = [
            # The index alone finds the newest number with this beginning.
            models.Index(
                fields=["destination", "-created_at", "-id"],
                opclasses=["varchar_pattern_ops", "timestamptz_ops", "int8_ops"],
                name="saved_number_begins",
            ),
            models.Index(OpClass(Reverse("destination"), "text_pattern_ops"), name="saved_number_ends"),
            GinIndex(words_of("note"), name="saved_number_by_words"),
        ]
        triggers = [never_truncated()]

    def __str__(self) -> str:
        return f"{self.destination} ({self.customer})"

    @property
    def is_bill(self) -> bool:
        """Whether it is a number at a biller."""
        return self.product is not None and self.product.type == ProductType.POSTPAID


SavedNumberHistory = history_of(SavedNumber)
