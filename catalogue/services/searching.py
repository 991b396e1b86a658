"""Finds products by the trade's words: "tsel 10", "10rb simpati", "mlbb 86", "pulsa", TSEL10."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from itertools import islice, product
from typing import Any

from catalogue.destinations import PHONE, DestinationKind
from catalogue.models import Brand, Category, Product, ProductHealth
from catalogue.operators import Operator, is_brand_of
from catalogue.services.amounts import EXACT, EXACT_COUNT, Amount, amount_of, fit, validity_of
from catalogue.services.index import BusyCategory, Index, Ranks, current_index
from catalogue.services.words import chunks_of, fold, has_one_typo, joined, says_bill, search_words
from core.bulk import read_rows

_LETTERS_THEN_NUMBER = re.compile(r"([a-z]+)(\d.*)")
# "3 tri10 xl5" can be understood in many ways; at most this many are tried.
_MOST_READINGS = 8
_LONGEST_NAME = 4
_MOST_WORDS = 12
_NAMES = "(SELECT ARRAY[code, name] FROM {} WHERE id = {})"
_BRAND = _NAMES.format("catalogue_brand", "brand_id")
_CATEGORY = _NAMES.format("catalogue_category", "catalogue_product.category_id")
_HEALTH = "(SELECT to_jsonb(one) FROM catalogue_producthealth one WHERE one.product_id = catalogue_product.id)"
_MORE = {"of_brand": _BRAND, "of_category": _CATEGORY, "of_health": _HEALTH}


@dataclass(frozen=True)
class Found:
    """The products found, best first, by their keys.

    `lacking`: the typed text if no product has exactly that denomination; all matches are larger then. `is_exact`: a
    denomination was typed, and only the first product is exactly that. `alike`: the products that fit it equally well,
    if there are several. `of_operator`: the products are of the operator of the customer's number. `busy_categories`:
    all that are not empty, prepaid before bills, the most used first.
    """

    keys: list[int]
    lacking: str = ""
    is_exact: bool = False
    alike: Sequence[int] = ()
    of_operator: bool = False
    busy_categories: Sequence[BusyCategory] = ()


@dataclass(frozen=True)
class _Reading:
    """One way to understand what was typed; one with `last` counts only when the others find nothing."""

    words: tuple[str, ...] = ()
    amounts: tuple[Amount, ...] = ()
    last: bool = False


# How well the amount of a product fits, as `fit` returns it.
_Fit = tuple[int, Decimal]
# The weights of the parts of a sort key, each with more room than it needs: a sum of ints sorts faster than a tuple.
_PER_READING, _PER_RANK, _PER_BILL, _PER_BEGINNING, _PER_UNNAMED = 1 << 48, 1 << 40, 1 << 39, 1 << 38, 1 << 32


def search_products(text: str, *, operator: Operator | None = None, category: str = "", brand: str = "") -> Found:
    """The listed products that match `text`, best first; without a text all of them, in their usual order.

    With an operator only its own products; if none of them matches, products that take no phone number. `category`,
    `brand`: the codes that narrow the list.
    """
    index = current_index()
    matches = search_index(index, text, operator=operator, category=category, brand=brand)
    return replace(matches, busy_categories=index.busy_categories)


def knows_words(text: str) -> bool:
    """Whether each typed word begins a word or code of the catalogue; else only letters inside words, or words with a
    typing error, can match. Numbers count as known.
    """
    index = current_index()
    # "tsel10" is a word and a number, unless it is a code.
    words = [joined(chunk) for chunk in chunks_of(text) if not chunk[0].isdigit()]
    return all(index.has_beginning(word) or index.has_beginning(word.rstrip("0123456789")) for word in words)


def read_products(keys: Sequence[int]) -> list[Product]:
    """The products of these keys with their brands, categories and health, in this order."""
    products = Product.objects.select_related("brand", "category", "health").order_by().in_bulk(list(keys))
    return [products[key] for key in keys if key in products]


def search_index(
    index: Index,
    text: str,
    *,
    operator: Operator | None = None,
    kind: str = "",
    category: str = "",
    brand: str = "",
    called: str = "",
    takes: Collection[DestinationKind] = (),
) -> Found:
    """The result of `search_products` in this index.

    `kind`: the type of the products; `called`: a word that people call its category by; `takes`: the kinds of
    destination. Each narrows the list.
    """
    narrow = partial(search_index, operator=operator, category=category, brand=brand, called=called, takes=takes)
    if not kind and says_bill(text) and (bills := narrow(index, text, kind="postpaid")).keys:
        return bills
    among = frozenset(range(len(index.products)))
    narrowed = (
        (index.types, kind),
        (index.categories, category),
        (index.brands, brand),
        (index.called_categories, called),
    )
    for groups, wanted in narrowed:
        if wanted:
            among &= groups.get(wanted, set())
    if takes:
        among &= set().union(*(index.kinds.get(kind_taken, set()) for kind_taken in takes))
    if not text and operator is None:
        return Found([index.keys[at] for at in sorted(among)])
    if operator is None:
        return _search(index, text, among)
    phones = index.kinds.get(PHONE, set())
    names = [name for name in index.brand_names if is_brand_of(operator, name)]
    own = among & phones & set().union(*(index.brand_names[name] for name in names))
    # A number of by.U may also be Telkomsel's.
    first = own & set().union(
        *(index.brand_names[name] for name in names if fold(name).startswith(fold(operator.name)))
    )
    matches = _search(index, text, own, first=first)
    is_narrowed = bool(category or brand or any(reading.words for reading in _readings(index, text)))
    return (
        replace(matches, of_operator=True) if matches.keys or not is_narrowed else _search(index, text, among - phones)
    )


def _search(index: Index, text: str, among: frozenset[int], first: frozenset[int] = frozenset()) -> Found:
    """The matches `among` these entries; those in `first` come before others that fit equally well."""
    readings = _readings(index, text)
    for with_typos in (False, True):
        matches: dict[_Fit, list[int]] = defaultdict(list)
        for number, reading in enumerate(readings):
            if not (reading.last and matches):
                _add_hits(index, reading, among, matches, place=number * _PER_READING, with_typos=with_typos)
        if matches:
            lacks_exact = min(matches)[0] > EXACT_COUNT
            ordered: list[int] = []
            for how in sorted(matches):
                places = [place % _PER_UNNAMED for place in sorted(matches[how])]
                ordered += sorted(places, key=lambda at: at not in first) if first else places
            is_exact = bool(readings[min(matches[min(matches)]) // _PER_READING].amounts) and not lacks_exact
            best = _best(matches[min(matches)], first) if is_exact else []
            return Found(
                [index.keys[at] for at in dict.fromkeys(ordered)],
                text.strip() if lacks_exact else "",
                len(best) == 1,
                [index.keys[at] for at in best] if len(best) > 1 else [],
            )
    return Found([])


def _best(places: list[int], first: frozenset[int]) -> list[int]:
    """The entries that fit the best reading equally well; only those in `first`, if there are any."""
    own = sorted(place for place in places if place % _PER_UNNAMED in first) or sorted(places)
    return [*dict.fromkeys(place % _PER_UNNAMED for place in own if place // _PER_RANK == own[0] // _PER_RANK)]


def _add_hits(
    index: Index,
    reading: _Reading,
    among: frozenset[int],
    matches: dict[_Fit, list[int]],
    *,
    place: int,
    with_typos: bool,
) -> None:
    """Add the entries that fit this reading to `matches`: how the amount fits → their sort keys, from `place` on."""
    wanted, little = _split(index, reading.words, with_typos=with_typos)
    hits = among
    for ranks in wanted:
        hits = hits & frozenset().union(*ranks)
    fits = _fits(index, reading)
    begins = reading.words[0] if reading.words else ""
    for at in hits:
        how = fits[index.sold_in[at]]
        if how is None:
            continue
        own = place + at
        if begins:
            sold = index.products[at]
            rank = sum(_rank(ranks, at) for ranks in wanted) + sum(_rank(ranks, at) > 1 for ranks in little)
            own += rank * _PER_RANK + (sold.type == "postpaid") * _PER_BILL
            own += (not sold.name.startswith(begins)) * _PER_BEGINNING
            own += sum(not sold.is_named(word) for word in reading.words) * _PER_UNNAMED
        matches[how].append(own)


def _fits(index: Index, reading: _Reading) -> list[_Fit | None]:
    """The fit of each denomination in the index with the reading."""
    if reading.amounts:
        return [fit(denominations, reading.amounts) for denominations in index.denominations]
    return [(EXACT, Decimal(0))] * len(index.denominations)


def _rank(ranks: Ranks, at: int) -> int:
    return next((rank for rank, entries in enumerate(ranks) if at in entries), len(ranks))


def _split(index: Index, words: Sequence[str], *, with_typos: bool) -> tuple[list[Ranks], list[Ranks]]:
    """The matches of the words that a product must have, and those of the words that say little."""
    wanted: list[Ranks] = []
    little: list[Ranks] = []
    few = search_words().little
    for word in words:
        ranks = index.find(word, with_typos=with_typos)
        says_little = word in few or (not index.knows(word) and any(has_one_typo(word, known) for known in few))
        (little if says_little else wanted).append(ranks)
    if not wanted:
        return [ranks for ranks in little if any(ranks)], []
    return wanted, little


def _readings(index: Index, text: str) -> list[_Reading]:
    """The ways to understand a text, the likeliest first."""
    chunks = chunks_of(text)[:_MOST_WORDS]
    choices: list[list[_Reading]] = []
    has_amount, both = False, -1
    periods: dict[int, str] = {}
    at = 0
    while at < len(chunks):
        if taken := _longest_name(index, chunks[at:]):
            choices.append([_Reading(words=(joined("".join(chunks[at : at + taken])),))])
            at += taken
            continue
        chunk, after = chunks[at], chunks[at + 1] if at + 1 < len(chunks) else ""
        if amount_read := amount_of(chunk, after):
            amount, with_next = amount_read
            number = _Reading(amounts=(amount,))
            if both < 0 and not with_next and index.is_called(chunk):
                both = len(choices)  # "3" is a brand and a number
            else:
                has_amount = True
            choices.append([number])
            at += 2 if with_next else 1
            continue
        if validity := validity_of(chunk, after):
            days, with_next = validity
            periods[len(choices)] = "" if with_next else chunk
            choices.append([_Reading(amounts=(days,))])
            at += 2 if with_next else 1
            continue
        choices.append(_readings_of_word(index, joined(chunk), chunk))
        at += 1
    for place, word in periods.items():
        # "Weekly Pass" is also a name. "bulanan" says little about a bill, but says which product beside "3 GB".
        if index.knows(word) or (word in search_words().little and not has_amount):
            choices[place].append(_Reading(words=(word,), last=True))
    has_amount |= bool(periods)
    if both >= 0:
        number = choices[both][0]
        brand = _Reading(words=(str(number.amounts[0].shown),))
        choices[both] = [brand, number] if has_amount else [_joined(brand, number), number, replace(brand, last=True)]
    readings = [_joined(*parts) for parts in islice(product(*choices), _MOST_READINGS)]
    return sorted(readings, key=lambda reading: reading.last)


def _longest_name(index: Index, chunks: Sequence[str]) -> int:
    """The number of next words that are one name that people use ("kartu as", "free fire"); 0 for none."""
    lengths = range(min(_LONGEST_NAME, len(chunks)), 1, -1)
    return next((length for length in lengths if index.is_called(joined("".join(chunks[:length])))), 0)


def _readings_of_word(index: Index, word: str, chunk: str) -> list[_Reading]:
    """The readings of a word; "tsel10" also as a word and a number, but first as one word if the catalogue has it."""
    as_one = _Reading(words=(word,))
    parts = _LETTERS_THEN_NUMBER.fullmatch(chunk)
    amount_read = amount_of(parts[2]) if parts else None
    if not parts or not amount_read:
        return [as_one]
    apart = _Reading(words=(parts[1],), amounts=(amount_read[0],))
    return [as_one, apart] if index.knows(word) else [apart, as_one]


def _joined(*parts: _Reading) -> _Reading:
    words, amounts = (tuple(value for part in parts for value in getattr(part, name)) for name in ("words", "amounts"))
    return _Reading(words, amounts, any(part.last for part in parts))


def note_bought(counts: Mapping[int, int]) -> None:
    """Store how many of the last orders were for each product (by pk; 0 if not named), and for each category."""
    in_category: Counter[int] = Counter()
    changed = []
    for row in Product.objects.only("bought", "category"):
        bought = counts.get(row.pk, 0)
        in_category[row.category_id] += bought
        if row.bought != bought:
            row.bought = bought
            changed.append(row)
    Product.objects.bulk_update(changed, ["bought"], batch_size=500)
    categories = [row for row in Category.objects.only("bought") if row.bought != in_category[row.pk]]
    for category in categories:
        category.bought = in_category[category.pk]
    Category.objects.bulk_update(categories, ["bought"])


def find_product(code: str, product_type: str) -> Product | None:
    """The product of this code and type, with its health, and code and name of its brand and category; else None."""
    where = "WHERE code = %s AND type = %s"
    for row in read_rows(Product, where, [code, product_type], **_MORE):
        alias, columns = row._state.db, row.__dict__
        names = ["id", "code", "name"]
        row.brand = Brand.from_db(alias, names, [row.brand_id, *columns.pop("of_brand")])
        row.category = Category.from_db(alias, names, [row.category_id, *columns.pop("of_category")])
        health = columns.pop("of_health")
        row._state.fields_cache["health"] = _health(json.loads(health)) if health else None
        return row
    return None


def _health(health_columns: dict[str, Any]) -> ProductHealth:
    """The row that PostgreSQL wrote as JSON."""
    columns = [field for field in ProductHealth._meta.concrete_fields if field.attname in health_columns]
    return ProductHealth(**{field.attname: field.to_python(health_columns[field.attname]) for field in columns})
