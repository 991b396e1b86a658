"""The catalogue's products by their words, kept in the memory of each process until the catalogue changes."""

import threading
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from django.db import connection

from catalogue.destinations import DestinationKind, kind_called
from catalogue.services.amounts import MONEY, Denominations, denominations_of, ends_with
from catalogue.services.words import (
    Called,
    brand_called,
    category_called,
    chunks_of,
    code_in,
    fold,
    has_amount_apart,
    has_one_typo,
    joined,
    words_in,
)

# Every inserted or changed row has a new xmin (in the same transaction, a new cmin): equal sums mean an equal
# catalogue.
_VERSION = "SELECT {}".format(
    ", ".join(
        f"(SELECT (count(*), sum(xmin::text::bigint), sum(cmin::text::bigint))::text FROM {table})"  # noqa: S608 - our names
        for table in ("catalogue_product", "catalogue_brand", "catalogue_category")
    )
)
_ROWS = """
    SELECT p.id, p.bought, c.bought, COALESCE(p.selling_price, p.price), p.kind,
           p.code, p.name, p.type, b.code, b.name, c.code, c.name
    FROM catalogue_product p
    JOIN catalogue_brand b ON b.id = p.brand_id
    JOIN catalogue_category c ON c.id = p.category_id
    WHERE p.is_listed
"""
_LAST = 1_000  # after all entries of `search_words.toml`
_LETTERS_INSIDE = 3

# The entries that a word finds, in groups, the best first.
Ranks = list[frozenset[int]]


@dataclass(frozen=True)
class Product:
    """The search's facts about a product."""

    code: str
    name: str
    type: str
    category: str
    brand: str
    brand_name: str
    kind: DestinationKind
    sold_in: Denominations
    sells_for: int
    category_place: tuple[int, str]
    brand_place: tuple[int, str]
    name_words: frozenset[str]
    brand_words: frozenset[str]
    brand_called: tuple[Called, ...]
    category_called: tuple[Called, ...]

    def is_named(self, word: str) -> bool:
        """Whether a word of its name begins with `word`."""
        return any(own.startswith(word) for own in self.name_words)


@dataclass
class _Posting:
    """The entries of a word: it is in their brand's or category's name, among people's words for it, in their name."""

    own: set[int] = field(default_factory=set)
    called: set[int] = field(default_factory=set)
    named: set[int] = field(default_factory=set)


class BusyCategory(NamedTuple):
    """A category with something in it; `bought`: the number of the last orders for it."""

    code: str
    name: str
    type: str
    bought: int


class Row(NamedTuple):
    """A product with its key, and the number of the last orders for it and for its category."""

    key: int
    bought: int
    category_bought: int
    product: Product

    @property
    def busy_category(self) -> BusyCategory:
        _place, name = self.product.category_place
        return BusyCategory(self.product.category, name, self.product.type, self.category_bought)

    @property
    def place(self) -> tuple[Any, ...]:
        """Its sort key in lists: prepaid before bills, by category, then brand and selling price; bills by use."""
        sold = self.product
        is_bill = sold.type == "postpaid"
        within = (-self.bought,) if is_bill else (sold.brand_place, sold.sells_for, -self.bought)
        return is_bill, -self.category_bought, sold.category_place, within, sold.name, self.key


class Index:
    """The products in the order of lists, and the entries (their places in that order) that each word finds."""

    def __init__(self, rows: Iterable[Row]) -> None:
        ordered = sorted(rows, key=lambda row: row.place)
        self.keys = [row.key for row in ordered]
        self.products = [row.product for row in ordered]
        self.busy_categories = list(dict.fromkeys(row.busy_category for row in ordered))
        self.denominations = list(dict.fromkeys(product.sold_in for product in self.products))
        number = {denominations: at for at, denominations in enumerate(self.denominations)}
        self.sold_in = [number[product.sold_in] for product in self.products]
        self.types: dict[str, set[int]] = defaultdict(set)
        self.categories: dict[str, set[int]] = defaultdict(set)
        self.called_categories: dict[str, set[int]] = defaultdict(set)
        self.brands: dict[str, set[int]] = defaultdict(set)
        self.brand_names: dict[str, set[int]] = defaultdict(set)
        self.kinds: dict[DestinationKind, set[int]] = defaultdict(set)
        self.codes: defaultdict[str, set[int]] = defaultdict(set)
        self._words: defaultdict[str, _Posting] = defaultdict(_Posting)
        self._of_brands: set[str] = set()
        self._of_categories: set[str] = set()
        self._in_called_brand: set[int] = set()
        for at, product in enumerate(self.products):
            self._add(at, product)
        self._words.default_factory = self.codes.default_factory = None

    def _add(self, at: int, product: Product) -> None:
        self.types[product.type].add(at)
        self.categories[product.category].add(at)
        self.brands[product.brand].add(at)
        self.brand_names[product.brand_name].add(at)
        self.kinds[product.kind].add(at)
        self.codes[joined(product.code)].add(at)
        for word in product.brand_words:
            self._words[word].own.add(at)
        for word in product.name_words:
            self._words[word].named.add(at)
        for called in product.brand_called:
            self._of_brands |= called.called
        for called in product.category_called:
            self._of_categories |= called.called
            for word in called.called:
                self.called_categories[word].add(at)
        for called in (*product.brand_called, *product.category_called):
            for word in called.called:
                self._words[word].called.add(at)
        if product.brand_called:
            self._in_called_brand.add(at)

    def is_called(self, word: str) -> bool:
        """Whether people call a brand or category of this catalogue by this word."""
        return word in self._of_brands or word in self._of_categories

    def knows(self, word: str) -> bool:
        """Whether it is a whole word, or a code, of this catalogue."""
        return word in self._words or word in self.codes

    def of_code(self, text: str) -> int | None:
        """The only entry with this code (`code_in`); None without one. "tsel 1000" is not TSEL1000 of Rp1.000.000."""
        alike = [at for at in self.codes.get(joined(text), ()) if code_in(self.products[at].code) == code_in(text)]
        exact = [at for at in alike if fold(self.products[at].code) == fold(text)]
        if not exact and has_amount_apart(text):
            alike = [at for at in alike if self._is_rupiah_of(text, at)]
        found = exact or alike
        return found[0] if len(found) == 1 else None

    def _is_rupiah_of(self, text: str, at: int) -> bool:
        main = self.products[at].sold_in.main
        return main is not None and main.unit == MONEY and ends_with(text, main)

    def has_beginning(self, word: str) -> bool:
        """Whether a word or a code of this catalogue begins with `word`."""
        return any(known.startswith(word) for names in (self._words, self.codes) for known in names)

    def find(self, word: str, *, with_typos: bool = False) -> Ranks:
        """The entries that a (joined) word finds: as a whole, in a name, as a beginning, inside; else with a typo.

        A word that people use for a brand or category finds only that. `with_typos`: search with a typo even if there
        are other matches.
        """
        if self.is_called(word):
            posting = self._words[word]
            named = posting.named - self._in_called_brand if word in self._of_brands else posting.named
            return [frozenset(posting.own), frozenset(posting.called | named)]
        whole = self._words.get(word, _Posting())
        code = self.codes.get(word, set())
        ranks = [
            whole.own | code,
            whole.named,
            self._union(known for known in self._words if known.startswith(word)) | self._codes_from(word),
            self._union(known for known in self._words if word in known) if len(word) >= _LETTERS_INSIDE else set(),
        ]
        if not self.knows(word) and (with_typos or not any(ranks)):
            # A letter too many makes no amount: "s-10.000,00" is not 1.000.000.
            words = (known for known in self._words if not known.isdecimal())
            ranks.append(self._union(known for known in words if has_one_typo(word, known)))
        return [frozenset(rank) for rank in ranks]

    def _union(self, words: Iterable[str]) -> set[int]:
        keys: set[int] = set()
        for word in words:
            posting = self._words[word]
            keys |= posting.own | posting.called | posting.named
        return keys

    def _codes_from(self, beginning: str) -> set[int]:
        return {at for code, entries in self.codes.items() if code.startswith(beginning) for at in entries}


@lru_cache(maxsize=50_000)
def describe(names: tuple[str, ...], sells_for: int, number_kind: str) -> Product:
    """The search's facts about a product with this selling price (rupiah). It does not know the cost.

    `number_kind`: the code of its destinations' kind. `names`: its code, name and type, then code and name of its brand
    and of its category.
    """
    code, name, kind, brand, brand_name, category, category_name = names
    of_brand, of_category = brand_called(brand_name), category_called(category_name)
    sold_in = denominations_of(chunks_of(name), sells_for)
    return Product(
        code=code,
        name=fold(name),
        type=kind,
        category=category,
        brand=brand,
        brand_name=brand_name,
        kind=kind_called(number_kind),
        sold_in=sold_in,
        sells_for=sells_for,
        category_place=(of_category[0].place if of_category else _LAST, category_name),
        brand_place=(of_brand[0].place if of_brand else _LAST, brand_name),
        name_words=frozenset(words_in(name)),
        brand_words=frozenset(
            [*words_in(brand_name), *words_in(category_name), joined(brand_name), joined(category_name)]
        ),
        brand_called=of_brand,
        category_called=of_category,
    )


_lock = threading.Lock()
_kept: tuple[tuple[str, ...], Index] | None = None


def current_index() -> Index:
    """The index of the present catalogue: one short query, and all rows only after a change."""
    global _kept  # noqa: PLW0603 - one a process
    version = _read_version()
    kept = _kept
    if kept and kept[0] == version:
        return kept[1]
    with _lock:
        version = _read_version()
        if _kept is None or _kept[0] != version:
            _kept = version, Index(_read_rows())
        return _kept[1]


def _read_version() -> tuple[str, ...]:
    with connection.cursor() as cursor:
        cursor.execute(_VERSION)
        version: tuple[str, ...] = cursor.fetchone()
    return version


def _read_rows() -> list[Row]:
    with connection.cursor() as cursor:
        cursor.execute(_ROWS)
        return [
            Row(key, bought, of_category, describe(tuple(names), sells_for, number_kind))
            for key, bought, of_category, sells_for, number_kind, *names in cursor.fetchall()
        ]
