"""The filters of the orders list; they live in the URL."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache, cached_property
from typing import Any
from urllib.parse import parse_qsl, urlencode

import django_filters
from django import forms
from django.core.validators import RegexValidator
from django.db.models import F, QuerySet
from django.db.models.functions import Reverse
from django.http import QueryDict
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy as _

from approvals.models import Approval, ApprovalState
from branches.filters import BranchFilter, InBranches
from catalogue.filters import brand_names, category_names
from catalogue.models import Product
from catalogue.rights import sees_cost
from core.filters import (
    AmountFilter,
    Chip,
    Choices,
    DaysFilter,
    KeyFilter,
    ListFilter,
    SearchFilter,
    SinceFilter,
    UntilFilter,
)
from core.keys import typed_key
from core.money import rupiah
from core.numbers import sees_whole_numbers
from core.periods import Period
from core.rights import Right
from core.search import MOST_SUMMED, found_by
from core.times import days_words
from credit.methods import method_choices
from customers.models import Customer, MergedCustomer, SavedNumber
from drawers.filters import drawer_names
from drawers.models import Payment
from purchases.fields import (
    ANYBODY,
    WAITING,
    ProductFilter,
    approvers,
    cashier_usernames,
    product_with,
    shift_choices,
    shift_in_words,
    tag_names,
)
from purchases.models import Order, OrderNote, Verdict
from purchases.models.orders import CUSTOMER_PAYS, SHOP_PAYS, OrderQuerySet
from purchases.names import LOSS, names_of, products_called_in, read_choices
from purchases.reading import AMOUNTS, Names, about, as_words, name_key, plain_price, read_line
from purchases.states import OPEN, UNFULFILLED, UNSOLD, Status
from staff.models import User

NEEDS_ATTENTION = "attention"
OPEN_ONES = "open"
ENDED_BY_PEOPLE = "ended"
NOT_THROUGH = "unsold"
NOTE, NOBODY = "note", "nobody"
# Choices of the status that stand for several.
_STATUSES = {OPEN_ONES: OPEN, ENDED_BY_PEOPLE: UNFULFILLED - UNSOLD, NOT_THROUGH: UNSOLD}
# Filters whose choices a typed line may name in words.
_NAMED = ("cashier", "status", "payment", "brand", "category", "tag", "profit", "drawer", "branch")
# No index finds these. Without one of `_NARROW`, such a search covers the last 30 days only.
_WIDE = ("amount_from", "amount_to", "payment", "drawer", "branch", "profit", "approved", "buyer")
# If fewer unfulfilled orders match, their keys are read first (`_of_products`); else the newest page is found soon.
_FEW = 500
_NARROW = ("q", "days", "since", "product", "shift", "customer")


class OfOrderFilter(ListFilter):
    """Rows that belong to one order each (`order`), searched by that order."""

    q = SearchFilter(label=_("ref_id, number or SN"))

    def search(self, rows: QuerySet[Any], _name: str, text: str) -> QuerySet[Any]:
        """The rows of orders with this ref_id, number or SN."""
        orders = Order.objects.matching(text, by_part=sees_whole_numbers())
        return rows.filter(order__in=orders.values("pk"))


def for_customer(orders: OrderQuerySet, customer: int) -> OrderQuerySet:
    """Those for a saved number or on the account of this customer; the newest, as many as a foot sums exactly."""
    numbers = SavedNumber.objects.filter(customer=customer).values("destination")
    sales = Payment.objects.filter(debt__account__customer=customer).values("pk")
    ways = (
        Order.objects.filter(destination__in=numbers, number_erased=False),
        Order.objects.filter(payment__in=sales),
    )
    return orders.filter(found_by(*ways, most=MOST_SUMMED + 1))


def sees_customers(person: User) -> bool:
    """Whether this person may see which orders are a customer's: whole numbers, and customers."""
    return person.has_perm(Right.VIEW_NUMBERS) and person.has_perm(Right.VIEW_CUSTOMERS)


def names_buyer(values: Mapping[str, str]) -> bool:
    """Whether these values of filters name a customer who bought: few orders share one."""
    return values.get("buyer", "") not in {"", NOBODY}


def _keys(products: QuerySet[Product]) -> list[int]:
    return list(products.values_list("pk", flat=True))


class OrderFilter(InBranches):
    """The filters of orders for `person`. They offer no digits of a masked number and no losses without the right.

    A search that no index helps covers the last 30 days, unless the URL names days or a filter that few orders match.
    """

    seldom = ("shift", "customer")
    of_few = ("product", "shift", "customer")
    is_compact = True
    example = _("Number, SN or “50k yesterday 02”")

    q = SearchFilter(label=_("ref_id, number or SN, or “50 thousand yesterday 02”"))
    status = django_filters.ChoiceFilter(
        method="with_status",
        label=_("Status"),
        empty_label=_("Every status"),
        choices=[
            (NEEDS_ATTENTION, _("Needs attention")),
            (OPEN_ONES, _("Open")),
            *Status.choices,
            (ENDED_BY_PEOPLE, _("Cancelled or closed")),
            (NOT_THROUGH, _("Did not go through")),
        ],
    )
    cashier = django_filters.ChoiceFilter(
        method="sold_by", label=_("Cashier"), empty_label=_("Everybody"), choices=cashier_usernames
    )
    category = django_filters.ChoiceFilter(
        method="of_category", label=_("Category"), empty_label=_("Every category"), choices=category_names
    )
    brand = django_filters.ChoiceFilter(
        method="of_brand", label=_("Brand"), empty_label=_("Every brand"), choices=brand_names
    )
    product = ProductFilter(method="of_product", label=_("Product"), max_length=100)
    payment = django_filters.ChoiceFilter(
        field_name="payment__method", label=_("Paid by"), empty_label=_("Every way to pay"), choices=method_choices
    )
    drawer = django_filters.ChoiceFilter(
        field_name="payment__sold_in__drawer", label=_("Drawer"), empty_label=_("Every drawer"), choices=drawer_names
    )
    shift = KeyFilter(field_name="payment__sold_in", label=_("Shift"))
    branch = BranchFilter(field_name="payment__branch")
    amount_from = AmountFilter(method="at_least", label=_("Price from"))
    amount_to = AmountFilter(method="at_most", label=_("Price to"))
    ends = django_filters.CharFilter(
        method="of_ending", label=_("Number ends in"), max_length=12, validators=[RegexValidator(r"^\d+$")]
    )
    profit = django_filters.ChoiceFilter(
        method="with_loss", label=_("Profit"), empty_label=_("Every profit"), choices=[(LOSS, _("Below zero"))]
    )
    tag = django_filters.ChoiceFilter(method="with_tag", label=_("Tag"), empty_label=_("Every tag"), choices=tag_names)
    approved = django_filters.ChoiceFilter(
        method="approved_by", label=_("Approved by"), empty_label=_("With and without"), choices=approvers
    )
    has = django_filters.ChoiceFilter(
        method="with_note", label=_("Note"), empty_label=_("With and without"), choices=[(NOTE, _("With a note"))]
    )
    buyer = django_filters.ChoiceFilter(
        method="bought_by",
        label=_("Bought by"),
        empty_label=_("Everybody"),
        choices=[(NOBODY, _("Nobody of the saved customers"))],
    )
    days = DaysFilter(field_name="created_at")
    since = SinceFilter(field_name="created_at", label=_("From"))
    until = UntilFilter(field_name="created_at", label=_("To"))
    customer = KeyFilter(method="of_customer", label=_("Customer"))

    class Meta:
        model = Order
        fields: list[str] = []

    def __init__(self, query: QueryDict, *, person: User, **kwargs: Any) -> None:
        self.person, self.sees_numbers = person, person.has_perm(Right.VIEW_NUMBERS)
        self._sellers: list[int] | None = None
        is_narrow = names_buyer(query) or any(query.get(name) for name in _NARROW)
        self.is_limited = any(query.get(name) for name in _WIDE) and not is_narrow
        super().__init__(query, **kwargs)
        self._take({}, cache(product_with))
        has_customers = sees_customers(person)
        allowed = {
            "ends": self.sees_numbers,
            "profit": sees_cost(person),
            "approved": person.has_perm(Right.VIEW_APPROVALS),
            "customer": has_customers,
            "buyer": has_customers,
        }
        for name in (name for name, is_allowed in allowed.items() if not is_allowed):
            del self.form.fields[name]
        if not self.sees_numbers:
            self.form.fields["q"].widget.attrs["placeholder"] = _("Full number, SN or “50k yesterday”")
        if has_customers and (buyer := typed_key(query.get("buyer", ""))) is not None:
            buyers = Customer.objects.filter(pk=buyer).values_list("pk", "name")
            self.form.fields["buyer"].choices = [*self.filters["buyer"].extra["choices"], *buyers]

    def read(self, text: str) -> tuple[dict[str, str], str]:
        """The filters that a typed line names, and the remaining words to search for."""
        words = as_words(text).split()
        names: dict[str, dict[str, str]] = {}
        has_letters = any(map(str.isalpha, "".join(words)))
        if has_letters and (len(words) > 1 or words[0].isalpha()):  # a single word with digits is a ref_id or SN
            self.read_choices()
            fields = {name: self.form.fields[name] for name in _NAMED if name in self.form.fields}
            names = {name: names_of(name, field.choices) for name, field in fields.items()}
            if "customer" in self.form.fields:
                names["customer"] = {name_key(name): str(key) for name, key in Customer.objects.called_in(text).items()}
            names["product"] = products_called_in(text)
        return read_line(text, Names(names), today=timezone.localdate(), with_endings=self.sees_numbers)

    def without(self, *names: str) -> dict[str, str]:
        """The chosen filters without these."""
        return dict(parse_qsl(self.url_without(*names)[1:]))

    def days_in_words(self) -> str:
        """The chosen days as people read them."""
        if self.data.get("days") in Period.values:
            return str(Period(self.data["days"]).label)
        if self.is_limited:
            return str(Period.DAYS_30.label)
        return days_words(self.data.get("since", ""), self.data.get("until", ""))

    def of(self, values: Mapping[str, str]) -> OrderFilter:
        """The same orders narrowed by these values alone, for the same person."""
        narrower = OrderFilter(QueryDict(urlencode(values)), person=self.person, queryset=self.queryset)
        narrower._take(self.choices_read, self.product_with)
        narrower._sellers = self._sellers if self.data.get("cashier") == values.get("cashier") else None
        return narrower

    def shown_fields(self) -> Iterator[forms.BoundField]:
        """The fields to show. The ones in `seldom` need a value; the shift is shown also when a drawer is chosen."""
        asked = {name: self.data.get(name, "") for name in ("drawer", "shift", "days", "since", "until")}
        shift = self.form.fields["shift"]
        if asked["drawer"] or asked["shift"]:
            shift.widget = Choices({"class": "form-select"}, list(shift_choices(asked, self.person)))
        for field in self.form:
            is_seldom = field.name in self.seldom and not (field.name == "shift" and asked["drawer"])
            if not field.is_hidden and (not is_seldom or field.value()):
                yield field

    def read_choices(self) -> None:
        """Read all choices that come from the database, in one query."""
        self._take(self.choices_read or read_choices(), self.product_with)

    def _take(self, choices: Mapping[str, list[tuple[Any, str]]], find: Callable[[str], Product | None]) -> None:
        """Use these choices, and `find` to read a product by its code."""
        self.choices_read, self.product_with = choices, find
        self.form.fields["product"].find = self.form.fields["product"].widget.find = find
        for name in choices.keys() & self.form.fields.keys():
            self.form.fields[name].choices = choices[name]

    @cached_property
    def all_days(self) -> str:
        """The URL query for all days, if this search covers only 30; "" if it covers all, or no order is older."""
        if not self.is_limited:
            return ""
        first = Order.objects.order_by("created_at").values_list("created_at", flat=True).first()
        earliest = Period.DAYS_30.days(timezone.localdate())[0]
        if first is None or timezone.localdate(first) >= earliest:
            return ""
        return self.url_without(since=timezone.localdate(first).isoformat())

    def filter_queryset(self, queryset: OrderQuerySet) -> OrderQuerySet:
        """The orders that match the filters; of the last 30 days only, if the search is limited to them."""
        orders: OrderQuerySet = super().filter_queryset(queryset)
        return self.filters["days"].filter(orders, Period.DAYS_30.value) if self.is_limited else orders

    def as_query(self) -> str:
        """The filters as a URL query, with the dates of the 30 days if the search is limited to them."""
        values = dict(parse_qsl(super().as_query()))
        if self.is_limited:
            since, until = (day.isoformat() for day in Period.DAYS_30.days(timezone.localdate()))
            values |= {"since": since, "until": min(values.get("until", until), until)}
        return urlencode(values)

    @property
    def instead(self) -> Chip | None:
        """The chip that reads digits of the last line as the end of a number, if they were taken for a price."""
        digits = self.data.get("digits", "")
        if "ends" not in self.form.fields or not digits or plain_price(digits, self.without()) != digits:
            return None
        words = gettext("Not a price: the number ends in %(digits)s") % {"digits": digits}
        return Chip("instead", words, self.url_without(*AMOUNTS, ends=digits), is_chosen=False)

    def periods(self) -> Iterator[Chip]:
        """The spans of days. If the search is limited, 30 days count as chosen, and "Every day" leads to all days."""
        for chip in super().periods():
            if self.is_limited and chip.name == "every":
                yield replace(chip, url=self.all_days or chip.url, is_chosen=False)
            elif self.is_limited and not self.data.get("until"):
                yield replace(chip, is_chosen=chip.name == Period.DAYS_30)
            else:
                yield chip

    def chips(self) -> Iterator[Chip]:
        """The valid filters; a price from and a price to share one chip."""
        has_both = self.form.errors.keys().isdisjoint(AMOUNTS) and all(map(self.form.cleaned_data.get, AMOUNTS))
        for chip in super().chips():
            if chip.name == "amount_from" and has_both:
                yield Chip(chip.name, self._price_in_words(), self.url_without(*AMOUNTS), field=chip.field)
            elif chip.name != "amount_to" or not has_both:
                yield chip

    def _price_in_words(self) -> str:
        """ "Price: about Rp50.000" for a range that one typed amount makes, else both ends."""
        low, high = (self.form.cleaned_data[name] for name in ("amount_from", "amount_to"))
        middle = (low + high) // 2
        if about(middle) == {"amount_from": str(low), "amount_to": str(high)}:
            return gettext("Price: about %(amount)s") % {"amount": rupiah(middle)}
        return gettext("Price: %(low)s to %(high)s") % {"low": rupiah(low), "high": rupiah(high)}

    def in_words(self, name: str, value: str) -> str:
        """The value of this filter as people read it; a customer and a product by name."""
        named: Customer | Product | None = None
        if name == "customer":
            named = Customer.objects.filter(pk=value).first()
        elif name == "product":
            named = self.product_with(value)
        elif name == "shift":
            return shift_in_words(value, self.person)
        return named.name if named else super().in_words(name, value)

    def search(self, orders: OrderQuerySet, _name: str, text: str) -> OrderQuerySet:
        """By ref_id, trx_id, destination, SN or the words of a note, which may hold a number."""
        noted = OrderNote.with_words(text) if self.sees_numbers else []
        return orders.matching(text, by_part=self.sees_numbers, noted=noted)

    def sold_by(self, orders: OrderQuerySet, _name: str, username: str) -> OrderQuerySet:
        """By the username of the person who placed them."""
        if self._sellers is None:
            self._sellers = list(User.objects.filter(username=username).values_list("pk", flat=True))
        return orders.filter(placed_by__in=self._sellers)

    def of_category(self, orders: OrderQuerySet, _name: str, category: str) -> OrderQuerySet:
        """By the code of a category."""
        return self._of_products(orders, _keys(Product.objects.filter(category__code=category)))

    def of_brand(self, orders: OrderQuerySet, _name: str, brand: str) -> OrderQuerySet:
        """By the name of a brand, in every category."""
        return self._of_products(orders, _keys(Product.objects.filter(brand__name=brand)))

    def of_product(self, orders: OrderQuerySet, _name: str, code: str) -> OrderQuerySet:
        """By the code of a product, which never changes."""
        product = self.product_with(code)
        return self._of_products(orders, [product.pk] if product else [])

    def _of_products(self, orders: OrderQuerySet, chosen: list[int]) -> OrderQuerySet:
        """Orders for the products with these keys. If only a few unfulfilled ones are wanted, their keys are read.

        PostgreSQL expects all brands to fail equally often, and would read all failed orders for a brand with few.
        """
        status = self.form.cleaned_data.get("status")
        statuses = _STATUSES.get(status, [status])
        if UNFULFILLED.issuperset(statuses):
            # In the order of the index: in any other, PostgreSQL would read all of them before it returns the first.
            ended = Order.objects.filter(product__in=chosen, status__in=statuses).values_list("pk", flat=True)
            keys = list(ended.order_by("product_id", "status", "-created_at", "-id")[:_FEW])
            if len(keys) < _FEW:
                return orders.filter(pk__in=keys)
        return orders.filter(product__in=chosen)

    def at_least(self, orders: OrderQuerySet, _name: str, amount: int) -> OrderQuerySet:
        """Orders for which the customer pays at least `amount` rupiah."""
        return orders.alias(pays=CUSTOMER_PAYS).filter(pays__gte=amount)

    def at_most(self, orders: OrderQuerySet, _name: str, amount: int) -> OrderQuerySet:
        """Orders for which the customer pays at most `amount` rupiah."""
        return orders.alias(pays=CUSTOMER_PAYS).filter(pays__lte=amount)

    def of_ending(self, orders: OrderQuerySet, _name: str, digits: str) -> OrderQuerySet:
        """Orders whose number ends in these digits; never those whose number was erased."""
        ending = orders.alias(backwards=Reverse("destination")).filter(backwards__startswith=digits[::-1])
        return ending.filter(number_erased=False)

    def with_loss(self, orders: OrderQuerySet, _name: str, _loss: str) -> OrderQuerySet:
        """Orders that the shop sold below cost."""
        return orders.alias(pays=CUSTOMER_PAYS, costs=SHOP_PAYS).filter(pays__lt=F("costs"))

    def approved_by(self, orders: OrderQuerySet, _name: str, username: str) -> OrderQuerySet:
        """Orders that this person, or anybody, approved; for `WAITING`, those whose verdict waits for approval."""
        if username == WAITING:
            return orders.filter(pk__in=Verdict.objects.filter(approval__in=Approval.objects.open()).values("order"))
        approvals = Approval.objects.filter(state=ApprovalState.APPROVED, result__gt="")
        if username != ANYBODY:
            approvals = approvals.filter(decided_by__username=username)
        return orders.filter(ref_id__in=approvals.values("result"))

    def with_tag(self, orders: OrderQuerySet, _name: str, tag: str) -> OrderQuerySet:
        return orders.filter(pk__in=Order.tags.through.objects.filter(tag__name=tag).values("order"))

    def with_note(self, orders: OrderQuerySet, _name: str, _note: str) -> OrderQuerySet:
        """Orders with a note."""
        return orders.filter(pk__in=OrderNote.objects.values("order"))

    def of_customer(self, orders: OrderQuerySet, _name: str, customer: int) -> OrderQuerySet:
        return for_customer(orders, customer)

    def bought_by(self, orders: OrderQuerySet, _name: str, buyer: str) -> OrderQuerySet:
        """Orders that count for this customer, with those of customers who were merged into this one.

        For `NOBODY` those without a known customer: no account owes them, and nobody had saved the number when they
        were sold.
        """
        if buyer == NOBODY:
            return orders.filter(payment__buyer=None)
        key = int(buyer)
        merged = MergedCustomer.objects.filter(kept=key).values_list("gone", flat=True)
        return orders.filter(payment__buyer__in=[key, *merged])

    def with_status(self, orders: OrderQuerySet, _name: str, status: str) -> OrderQuerySet:
        """By a status, or by one of the groups."""
        if status == NEEDS_ATTENTION:
            return orders.need_attention()
        return orders.filter(status__in=_STATUSES.get(status, [status]))
