"""Customers by name, note or number, with their numbers and debts."""

from collections.abc import Iterator
from urllib.parse import urlencode

from django.contrib.postgres.search import SearchQuery
from django.db.models import Case, Prefetch, When
from django.urls import reverse
from django.utils.translation import gettext as _, ngettext

from core.money import rupiah
from core.notation import has_digits
from core.rights import Right
from core.search import found_by, words_of
from core.times import day_words, short_time
from credit.models import CreditAccount
from customers.models import Customer, SavedNumber
from customers.presenting import shown_number
from find.kinds.asked import Asked
from find.kinds.kind import Result
from purchases.lists import orders_seen
from purchases.models import Order
from purchases.presenting import shown_destination
from purchases.states import Status

_SHOWN_NUMBERS, _MOST_NUMBERS = 2, 8


def customers(asked: Asked) -> Iterator[Result]:
    """The customers in the text: first those with exactly this name, then those with these whole words in the name.

    After a customer with exactly this name comes the customer's last sale, to be sold again.
    """
    called = Case(
        When(name__iexact=asked.name, then=0),
        When(words=SearchQuery(asked.name, config="simple"), then=1),
        default=2,
    )
    found = Customer.objects.matching(asked.name, by_part=asked.by_part).alias(words=words_of("name"))
    matches = found.order_by(called, "name", "pk")
    numbers = SavedNumber.objects.in_seen_order().prefetch_related("product")
    rows = list(matches.prefetch_related(Prefetch("numbers", queryset=numbers))[: asked.most])
    accounts = {}
    if asked.person.has_perm(Right.USE_CREDIT) or asked.person.has_perm(Right.VIEW_CREDIT):
        accounts = {account.customer_id: account for account in CreditAccount.objects.filter(customer__in=rows)}
    for at, customer in enumerate(rows):
        more = [_numbers(customer), _debt(accounts.get(customer.pk))]
        yield Result(
            url=customer.get_absolute_url(),
            words=customer.name,
            more=" · ".join(filter(None, more)),
            icon="address-book",
        )
        if at == 0 and (len(rows) == 1 or customer.name.casefold() == asked.text.casefold()):
            yield from _sell_again(asked, customer)


def _sell_again(asked: Asked, customer: Customer) -> Iterator[Result]:
    """The result that sells the last sale for one of the numbers again, at the present price.

    None for a typed number, for which `acts` sells.
    """
    may_sell = asked.person.has_perms((Right.BUY, Right.VIEW_PRODUCT, Right.VIEW_ORDERS))
    if not (may_sell and asked.by_part) or has_digits(asked.text):
        return
    bought = orders_seen().filter(status=Status.SUCCESS, kind=Order.Kind.PURCHASE, number_erased=False)
    ways = [bought.filter(destination=number.destination) for number in list(customer.numbers.all())[:_MOST_NUMBERS]]
    found = Order.objects.select_related("product").filter(found_by(*ways, most=1)) if ways else Order.objects.none()
    last = found.order_by("-created_at", "-pk").first()
    if last:
        yield Result(
            url=f"{reverse('counter_review')}?{urlencode({'again': last.ref_id})}",
            words=_("Sell again: %(product)s") % {"product": last.product_name},
            more=" · ".join([shown_destination(last), rupiah(last.product.sells_for), short_time(last.created_at)]),
            icon="repeat",
        )


def _numbers(customer: Customer) -> str:
    """The first numbers, as the viewer may see them, and how many more; a number for several products counts once."""
    numbers = list({number.destination: number for number in customer.numbers.all()}.values())
    shown = ", ".join(shown_number(number) for number in numbers[:_SHOWN_NUMBERS])
    further = len(numbers) - _SHOWN_NUMBERS
    return (
        shown if further < 1 else f"{shown} " + ngettext("and %(n)s more", "and %(n)s more", further) % {"n": further}
    )


def _debt(account: CreditAccount | None) -> str:
    if account is None or account.balance <= 0:
        return ""
    facts = {"amount": rupiah(account.balance), "day": day_words(account.oldest_due)}
    return _("owes %(amount)s, due %(day)s") % facts
