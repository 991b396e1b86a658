"""Fields of the filters of orders and their choices: a product by its name, a shift by its drawer and day."""

import datetime as dt
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import django_filters
from django import forms
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.urls import reverse_lazy
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from branches.seeing import narrowed
from catalogue.models import Product
from catalogue.services import search_products
from core.keys import typed_key
from core.periods import Period
from core.rights import Right
from core.times import shop_day, short_time, start_of_day
from drawers.models import Shift
from purchases.models import Tag
from staff.models import User

NAMES_OFFERED, _MOST_SHIFTS = 20, 50
ANYBODY, WAITING = "*", "?"  # a username is never one of these


def cashier_usernames() -> list[tuple[str, str]]:
    """The usernames and names of all people whom the reader may see, for a list's filter."""
    return [
        (person.username, person.shown_name)
        for person in narrowed(User.objects.all()).order_by("username").only("username", "first_name", "last_name")
    ]


def approvers() -> list[tuple[str, Any]]:
    """Choices: waits for approval, anybody, and each person by username."""
    return [*approvers_besides(), *cashier_usernames()]


def approvers_besides() -> list[tuple[str, Any]]:
    """The choices that name no person: waits for approval, and anybody."""
    return [(WAITING, _("Waits for approval")), (ANYBODY, _("Anybody"))]


def tag_names() -> list[tuple[str, str]]:
    """Every tag, for a list's filter."""
    return [(name, name) for name in Tag.objects.values_list("name", flat=True)]


def product_with(code: str) -> Product | None:
    """The product with this code. Its `alike` is the number of products with the same name."""
    alike = Product.objects.filter(name=OuterRef("name")).order_by().values("name").annotate(n=Count("pk"))
    return Product.objects.annotate(alike=Subquery(alike.values("n"))).filter(code=code).first()


class ProductInput(forms.TextInput):
    """A text that suggests product names while one types. It shows a code as the name, if no other product has it."""

    find: Callable[[str], Product | None] = staticmethod(product_with)

    def __init__(self) -> None:
        names = "product-names"
        asks = {"hx-get": reverse_lazy("order_products"), "hx-trigger": "input changed delay:150ms, focus once"}
        super().__init__({"list": names, "hx-target": f"#{names}", "autocomplete": "off", **asks})

    def format_value(self, value: Any) -> str | None:
        """The product's name, or the text as it is."""
        product = self.find(value) if value else None
        is_only = product is not None and product.alike == 1  # type: ignore[attr-defined] # by `product_with`
        return product.name if product and is_only else super().format_value(value)


class ProductField(forms.CharField):
    """The code of a product. The list's view turns a typed name into the code (`product_code`).

    `find`: reads a product by its code; `OrderFilter` sets one that caches.
    """

    widget = ProductInput
    default_error_messages = {"unknown": _("Choose one of the names: no product, or several, are called so.")}
    find: Callable[[str], Product | None] = staticmethod(product_with)

    def clean(self, value: Any) -> str:
        """The code."""
        code: str = super().clean(value)
        if code and self.find(code) is None:
            raise forms.ValidationError(self.error_messages["unknown"], code="unknown")
        return code


class ProductFilter(django_filters.CharFilter):  # type: ignore[misc]
    """Orders of one product."""

    field_class = ProductField


def product_code(text: str) -> str:
    """The code of the one product that the text means by code, name, first words or words of the trade; else ""."""
    is_called = Q(code=text) | Q(name__iexact=text) | Q(name__istartswith=f"{text} ")
    named = list(Product.objects.filter(is_called).order_by().values_list("code", "name")) if text else []
    for called in ([text], [name for _code, name in named if name.casefold() == text.casefold()], None):
        codes = [code for code, name in named if called is None or code in called or name in called]
        if codes:
            return codes[0] if len(codes) == 1 else ""
    asked = search_products(text) if text else None
    is_one = asked and asked.keys and (asked.is_exact or len(asked.keys) == 1) and not asked.lacking
    return Product.objects.get(pk=asked.keys[0]).code if asked and is_one else ""


def products_offered(text: str) -> list[tuple[str, str]]:
    """Products to suggest for a typed text, delisted ones too: pairs of the text to send and the text beside it.

    Products with each typed word in their name; if there are none, those that the search of the catalogue finds.
    """
    words = Q()
    for word in text.split():
        words &= Q(name__icontains=word)
    keys = list(Product.objects.filter(words).order_by("name", "pk").values_list("pk", flat=True)[:NAMES_OFFERED])
    keys = keys or search_products(text).keys[:NAMES_OFFERED]
    rows = Product.objects.select_related("category").order_by().in_bulk(keys)
    names = [rows[key].name for key in keys]
    return [
        (row.code, f"{row.name} · {row.category.name}") if names.count(row.name) > 1 else (row.name, row.category.name)
        for row in (rows[key] for key in keys)
    ]


def shift_in_words(key: str, person: User) -> str:
    """The shift with this key in words (`_words`); the key itself if the person may not see the shift."""
    shift = _seen_by(person).filter(pk=typed_key(key) or 0).first()
    return _words(shift) if shift else key


def _seen_by(person: User) -> QuerySet[Shift]:
    """The shifts that the person may open: their own, or with the right all that their branch lets them see."""
    seen = narrowed(Shift.objects.select_related("drawer", "cashier"), "drawer__branch")
    return seen if person.has_perm(Right.VIEW_SHIFTS) else seen.filter(cashier=person)


def _words(shift: Shift) -> str:
    """ "Laci 1 · 26 Nov, 08:02 · Sari"."""
    return f"{shift.drawer.name} · {short_time(shift.opened_at)} · {shift.cashier.shown_name}"


def shift_choices(asked: Mapping[str, str], person: User) -> Iterator[tuple[str, str]]:
    """The shifts of the chosen drawer in the chosen days, newest first; the chosen shift among them."""
    seen = _seen_by(person)
    drawer, chosen = typed_key(asked.get("drawer", "")), typed_key(asked.get("shift", ""))
    shifts = seen.filter(drawer=drawer) if drawer else seen.none()
    first, last = _days(asked)
    if first:
        shifts = shifts.filter(Q(closed_at=None) | Q(closed_at__gte=start_of_day(first)))
    if last:
        shifts = shifts.filter(opened_at__lt=start_of_day(last + dt.timedelta(days=1)))
    keys = list(shifts.order_by("-opened_at", "-pk").values_list("pk", flat=True)[:_MOST_SHIFTS])
    yield "", str(_("Every shift"))
    for shift in seen.filter(Q(pk__in=keys) | Q(pk=chosen)).order_by("-opened_at", "-pk"):
        yield str(shift.pk), _words(shift)


def _days(asked: Mapping[str, str]) -> tuple[dt.date | None, dt.date | None]:
    if asked.get("days") in Period.values:
        return Period(asked["days"]).days(timezone.localdate())
    days: list[dt.date | None] = []
    for name in ("since", "until"):
        try:
            days.append(shop_day(asked.get(name, "")))
        except ValueError:
            days.append(None)
    return days[0], days[1]
