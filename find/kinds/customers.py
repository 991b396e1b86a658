"""Customers by name, note or number, with their numbers and what they owe."""

from __future__ import annotations

from collections.abc import Iterator

from django.contrib.postgres.search import SearchQuery
from django.db.models import Case, When
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from core.money import rupiah
from core.rights import Right
from core.search import words_of
from core.times import day_words
from credit.models import CreditAccount
from customers.models import Customer
from customers.presenting import shown_number
from find.kinds.asked import Asked
from find.kinds.kind import Result

_SHOWN_NUMBERS = 2


def customers(asked: Asked) -> Iterator[Result]:
    """The customers whom it names: first those of exactly this name, then those with these whole words in it."""
    called = Case(
        When(name__iexact=asked.name, then=0),
        When(words=SearchQuery(asked.name, config="simple"), then=1),
        default=2,
    )
    found = Customer.objects.matching(asked.name, by_part=asked.by_part).alias(words=words_of("name"))
    matches = found.order_by(called, "name", "pk")
    rows = list(matches.prefetch_related("numbers__product")[: asked.most])
    accounts = {}
    if asked.person.has_perm(Right.USE_CREDIT) or asked.person.has_perm(Right.VIEW_CREDIT):
        accounts = {account.customer_id: account for account in CreditAccount.objects.filter(customer__in=rows)}
    for customer in rows:
        more = [_numbers(customer), _debt(accounts.get(customer.pk))]
        yield Result(
            url=customer.get_absolute_url(),
            words=customer.name,
            more=" · ".join(filter(None, more)),
            icon="address-book",
        )


def _numbers(customer: Customer) -> str:
    """The first numbers, as the viewer may see them, and how many more there are."""
    numbers = list(customer.numbers.all())
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
