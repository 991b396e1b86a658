"""People's names for the values of the orders' filters, in every language, for a typed line (`purchases.reading`)."""

import re
from collections import defaultdict
from collections.abc import Iterable
from functools import reduce
from itertools import pairwise
from operator import or_
from typing import Any

from django.conf import settings
from django.db.models import Q, Value
from django.db.models.functions import Lower
from django.utils.translation import override

from branches.seeing import narrowed
from catalogue.models import Brand, Category, Product
from catalogue.services.words import brand_called, category_called, fold
from core.together import read_together
from drawers.models import Drawer
from purchases.fields import approvers_besides
from purchases.models import Tag
from purchases.reading import as_words, name_key
from purchases.states import Status
from staff.models import User

LOSS = "loss"
# In these filters people also type the keys: a username, the code of a status.
_KEYS_ARE_WORDS = frozenset({"cashier", "status", "payment", "category", "tag", "profit"})
_IN_OUR_WORDS = frozenset({"status", "payment", "profit"})
# How many words of a line are searched for products, and how many words the beginning of a name may have.
_MOST_WORDS, _BEGINNINGS = 12, range(2, 6)

# Other words that people use for a choice.
_CALLED: dict[str, dict[str, tuple[str, ...]]] = {
    "status": {
        Status.QUEUED: ("antri",),
        Status.PENDING: ("proses", "processing"),
        Status.UNKNOWN: ("belum pasti", "tidak pasti", "not known"),
        Status.NEEDS_ACTION: ("dicek", "perlu cek"),
        Status.SUCCESS: ("berhasil", "succeeded"),
        Status.CANCELLED: ("batal", "canceled"),
    },
    "payment": {"cash": ("kontan",), "card": ("debit",), "credit": ("bon", "utang", "hutang")},
    "profit": {LOSS: ("rugi", "at a loss")},
}


def read_choices() -> dict[str, list[tuple[Any, str]]]:
    """The choices of filters that come from the database, read in one query."""
    people, brands, categories, tags, drawers = read_together(
        narrowed(User.objects.all()).order_by("username").only("username", "first_name", "last_name"),
        Brand.objects.order_by("name").values_list("name").distinct(),
        Category.objects.order_by("name").values_list("code", "name"),
        Tag.objects.values_list("name"),
        narrowed(Drawer.objects.all()).order_by("name").values_list("pk", "name"),
    )
    cashiers = [(person.username, person.shown_name) for person in people]
    return {
        "cashier": cashiers,
        "approved": [*approvers_besides(), *cashiers],
        "brand": [(name, name) for (name,) in brands],
        "category": categories,
        "tag": [(name, name) for (name,) in tags],
        "drawer": drawers,
    }


def names_of(name: str, choices: Iterable[tuple[Any, Any]]) -> dict[str, str]:
    """People's names for the choices of the filter `name`, each with its value; a person also by first and user name.

    Each part of "Card (EDC)" counts, and each word that people use for one choice only. `choices` in our own words are
    read again in each language.
    """
    choices = choices if name in _IN_OUR_WORDS else list(choices)
    names: dict[str, str] = {}
    also: dict[str, dict[str, bool]] = {}
    for language, _words in settings.LANGUAGES:
        with override(language):
            for key, words in choices:
                value = str(key)
                called = [str(words), *([value] if name in _KEYS_ARE_WORDS else [])]
                called += str(words).split()[:1] if name == "cashier" else []
                names |= {name_key(call): value for call in called if value}
                for call, is_own in _called(name, value, str(words)) if value else ():
                    also.setdefault(name_key(call), {})[value] = is_own
    if name == "brand":
        also |= {call: {value: True} for call, value in _begun((value, value) for value in names.values()).items()}
    return {call: meant for call, values in also.items() if call and (meant := _meant(values))} | names


def products_called_in(text: str) -> dict[str, str]:
    """The names in the text, or beginnings of names, that mean exactly one product, each with its code.

    A name with its amount ("GoPay 20.000") is not a price: it sells for more. A beginning has two words or more.
    """
    words = as_words(text).lower().split()[:_MOST_WORDS]
    pairs = [Q(name__istartswith=f"{first} {second}") for first, second in pairwise(words)]
    is_named = reduce(or_, pairs, Q(text__contains=Lower("name")))
    rows = list(Product.objects.alias(text=Value(text.lower())).filter(is_named).values_list("name", "code"))
    whole: dict[str, set[str]] = defaultdict(set)
    for name, code in rows:
        whole[name_key(name)].add(code)
    return _begun(rows) | {name: codes.pop() for name, codes in whole.items() if len(codes) == 1}


def _begun(rows: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Beginnings of two to five words that only one of these names has, each with its value."""
    begins: dict[str, set[str]] = defaultdict(set)
    for name, value in rows:
        words = as_words(name).lower().split()
        for count in _BEGINNINGS:
            begins["".join(words[:count])].add(value)
    return {name: values.pop() for name, values in begins.items() if len(values) == 1}


def _called(name: str, value: str, words: str) -> Iterable[tuple[str, bool]]:
    """The words for a choice, and whether each is its own: "tsel" is Telkomsel's own, but not Telkomsel Halo's."""
    if name in {"brand", "category"}:
        for entry in (brand_called if name == "brand" else category_called)(words):
            yield from ((call, fold(words) in entry.names) for call in entry.called)
        return
    yield from ((call, True) for call in re.split(r"[()]", words))
    yield from ((call, True) for call in _CALLED.get(name, {}).get(value, ()))


def _meant(choices: dict[str, bool]) -> str:
    """The only choice whose own word it is, else the only choice that it may mean; "" for several."""
    values = [value for value, is_own in choices.items() if is_own] or [*choices]
    return values[0] if len(values) == 1 else ""
