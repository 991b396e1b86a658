"""The possible meanings of a typed text: products as tiles, saved numbers, and the one that Enter takes."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.db.models import QuerySet
from django.db.models.functions import Upper

from branches.seeing import narrowed
from catalogue.destinations import GAME_ZONE, KINDS, METER, DestinationKind
from catalogue.models import Product, ProductType
from catalogue.operators import Operator, operator_of
from catalogue.services import Found, read_products
from catalogue.services.index import Index, current_index
from catalogue.services.searching import search_index
from catalogue.services.words import fold, joined, says_bill
from core.together import read_together
from counter.services.typed import Shelf, Typed
from customers.models import Customer, SavedNumber, SavedNumberQuerySet
from purchases.models import Order
from purchases.states import Status

TILES = 8
# At most this many of an operator's products are considered for the tiles.
_MOST_WEIGHED = 60
_MOST_NAMES = 4
_MOST_ALIKE = 3
_LEAST_LETTERS = 2
# The most wanted amounts in rupiah, until our own orders show them.
_USUAL = (10_000, 5_000, 20_000, 50_000, 25_000, 100_000, 15_000, 75_000, 200_000, 500_000)
_GENERAL = [kind for kind in KINDS.values() if kind.is_general]
_PREPAID, _POSTPAID = ProductType.PREPAID.value, ProductType.POSTPAID.value
# People's names for the categories of a shelf.
_CALLED = {Shelf.CREDIT: "pulsa", Shelf.DATA: "data", Shelf.CALLS: "telepon"}


@dataclass(frozen=True)
class Past:
    """The number's last sale: the product, and the time."""

    product_id: int
    at: dt.datetime


@dataclass
class Choice:
    """The offers for the text. `picked`: the tile that Enter takes; None: nothing is certain.

    `lacking`: the denomination that no product has exactly. `alike`: the words mean one of these products. `pages`: the
    number of pages of tiles. `sells_below_cost`: whether the person may do so. `customers`: those with the typed name
    and no saved number. `off`: the meant product that cannot be sold now. `elsewhere`: the text that finds exactly this
    amount among all brands, if no token has it. `amount`: what was typed after the name of the customers in `numbers`.
    """

    typed: Typed
    sells_below_cost: bool = False
    operator: Operator | None = None
    shelf: Shelf | None = None
    shelves: list[Shelf] = field(default_factory=list)
    products: list[Product] = field(default_factory=list)
    numbers: list[SavedNumber] = field(default_factory=list)
    customers: list[Customer] = field(default_factory=list)
    picked: Product | None = None
    off: Product | None = None
    past: Past | None = None
    known: SavedNumber | None = None
    lacking: str = ""
    alike: list[Product] = field(default_factory=list)
    page: int = 0
    pages: int = 0
    elsewhere: str = ""
    amount: str = ""

    @property
    def is_nameless(self) -> bool:
        """Whether an amount follows the number of an account, and nothing says which game, wallet or biller is meant.

        Only the digits of a phone number or a meter say it: for all others no product is picked by its amount.
        """
        typed = self.typed
        is_open = (not typed.may_be_meter and self.shelf is not Shelf.BILL) or typed.shelf is Shelf.ALL
        return bool(typed.bare) and not typed.is_phone and typed.has_amount_alone and is_open

    @property
    def named_customers(self) -> list[Customer]:
        """The customers whose pages a typed name leads to: the only one of the numbers, or those without a number."""
        owners = {number.customer_id: number.customer for number in self.numbers}
        return [*owners.values()] if len(owners) == 1 else [] if owners else self.customers

    def text_of(self, number: SavedNumber) -> str:
        """The text that is typed for a saved number: an amount stays, a bill opens its tab.

        "" for the account of a game, which means nothing without its product.
        """
        if number.product and number.product.kind.needs_product:
            return ""
        if self.amount:
            return f"{number.destination} {self.amount}"
        return f"{number.destination} {Shelf.BILL.value if number.is_bill else ''}".rstrip() + " "

    @property
    def text_of_name(self) -> str:
        """The text of the only saved number that a name means; "" when the words mean several, or a product."""
        texts = {self.text_of(number) for number in self.numbers}
        is_certain = len(texts) == 1 and len(self.numbers) < _MOST_NAMES and not self.products
        return texts.pop() if is_certain else ""


def can_be_sold(product: Product, *, below_cost: bool) -> bool:
    """Whether the product's tile can be chosen now. `below_cost`: the person may sell below cost."""
    is_open = product.is_available and not (product.type == _PREPAID and product.in_cut_off())
    return is_open and (below_cost or product.sells_for >= product.price)


def read_choice(
    text: str,
    *,
    pick: str = "",
    page: int = 0,
    first_keys: Sequence[int] = (),
    sees_names: bool,
    sees_orders: bool,
    sells_below_cost: bool,
) -> Choice:
    """The offers for the text. `pick`: the code of the product that was picked; `page`: the page of tiles, from 0.

    `first_keys`: keys of the products that stand first at this till, in order. `sees_names`, `sees_orders`,
    `sells_below_cost`: whether the person may see saved numbers, see what a number bought, and sell below cost.
    """
    if not text.strip():
        return Choice(Typed.read(text), sells_below_cost, page=page)
    index = current_index()
    choice = Choice(_read(index, text), sells_below_cost, page=page)
    _add_what_is_known(index, choice, sees_names=sees_names, sees_orders=sees_orders)
    usual, matches = _find(index, choice)
    _add_tiles(choice, usual, matches, pick, first_keys)
    return choice


def meant_products(index: Index, text: str) -> tuple[Typed, Found]:
    """The meaning of one line of a table, which nobody watches. `keys` has one product if that is certain.

    It sends the database no query. Without a number, or without words, nothing is found.
    """
    choice = Choice(_read(index, text))
    if not choice.typed.number or not choice.typed.words:
        return choice.typed, Found([])
    _usual, matches = _find(index, choice)
    is_certain = matches.is_exact and not choice.is_nameless
    return choice.typed, replace(matches, keys=matches.keys[:1]) if is_certain else matches


def _read(index: Index, text: str) -> Typed:
    """The text, with one word as the zone of its account if the other words mean only products that need a zone.

    Without brackets, a word is a zone only next to an amount: "12345678 2001 mlbb" may be 2001 of something.
    """
    typed = Typed.read(text)
    others = [other for other in typed.with_zones if _need_zone(index, other.words)]
    if others and f"({others[0].zone})" not in typed.words.split():
        exact = search_index(index, typed.words, kind=_PREPAID, takes=[GAME_ZONE])
        has_amount = any(letter.isdigit() for letter in others[0].words)
        others = others if has_amount and not (exact.is_exact or exact.alike) else []
    return others[0] if len(others) == 1 else typed


def _need_zone(index: Index, words: str) -> bool:
    """Whether words with letters find products for an account with a zone, and no others."""
    if not any(letter.isalpha() for letter in words):
        return False
    found = search_index(index, words, kind=_PREPAID)
    return bool(found.keys) and set(found.keys) == set(search_index(index, words, takes=[GAME_ZONE]).keys)


def _add_what_is_known(index: Index, choice: Choice, *, sees_names: bool, sees_orders: bool) -> None:
    """Add the number's customer and its last sale, or the customers of the typed name."""
    typed, saved = choice.typed, SavedNumber.objects.select_related("customer", "product__category", "product__brand")
    if typed.bare:
        seen = narrowed(Order.objects.all(), "payment__branch")
        bought = seen.filter(destination=typed.bare, status=Status.SUCCESS, number_erased=False).order_by("-created_at")
        questions: list[QuerySet[Any, Any]] = []
        if sees_orders:
            questions.append(bought.values_list("product_id", "created_at")[:1])
        if sees_names:
            questions.append(saved.filter(destination=typed.bare).order_by("-created_at")[:1])
        answers = read_together(*questions) if questions else []
        if sees_names and (known := answers.pop()):
            choice.known = known[0]
        if sees_orders and (past := answers.pop()):
            choice.past = Past(*past[0])
    elif not typed.number and sees_names and len(typed.words) >= _LEAST_LETTERS:
        choice.numbers = _numbers_of(typed.words, saved)
        name, amount = typed.name_and_amount
        if name and not choice.numbers and not _are_of_products(index, name):
            choice.amount = amount
            # An amount fits neither a bill nor the account of a game.
            numbers = (
                saved.matching(name).exclude(product__type=_POSTPAID).order_by("customer__name", "pk")[:_MOST_NAMES]
            )
            choice.numbers = [number for number in numbers if choice.text_of(number)]
        if not choice.numbers and not _are_of_products(index, typed.words):
            choice.customers = list(Customer.objects.named(typed.words).order_by("name", "pk")[:_MOST_NAMES])


def _numbers_of(words: str, saved: SavedNumberQuerySet) -> list[SavedNumber]:
    """The numbers of customers whose name begins with the words, by name; then of others that the words may mean.

    Many customers have the same first name: an index has them in order, so that only the shown ones are read.
    """
    named = saved.filter(customer__name__istartswith=words).order_by(Upper("customer__name"), "pk")
    numbers = list(named[:_MOST_NAMES])
    if len(numbers) < _MOST_NAMES:
        others = saved.matching(words).exclude(pk__in=[number.pk for number in numbers])
        numbers += others.order_by("customer__name", "pk")[: _MOST_NAMES - len(numbers)]
    return numbers


def _find(index: Index, choice: Choice) -> tuple[list[int], Found]:
    """Set the keys of the products that are usual for the number, and the results of the words."""
    typed = choice.typed
    if not typed.number:
        # If a customer has that name, no product is offered that merely resembles it.
        is_name = (choice.numbers or choice.customers) and not _are_of_products(index, typed.words)
        return [], Found([]) if is_name else search_index(index, typed.words)
    if not typed.is_phone and not typed.bare:
        return [], Found([])
    choice.operator = operator_of(typed.number) if typed.is_phone else None
    choice.shelves = _shelves(typed)
    means_bill = Shelf.BILL if says_bill(typed.words) else None
    is_of_first = not typed.words or (typed.has_amount_alone and (typed.is_phone or typed.may_be_meter))
    choice.shelf = typed.shelf or means_bill or (choice.shelves[0] if is_of_first else None)
    usual = _on(index, choice, choice.shelf or choice.shelves[0], "").keys
    if not typed.words:
        return usual, Found(usual)
    if choice.shelf:
        matches = _on(index, choice, choice.shelf, typed.words)
        if choice.shelf is Shelf.POWER and typed.has_amount_alone and (matches.lacking or not matches.keys):
            others = _on(index, choice, Shelf.ALL, typed.words)
            choice.elsewhere = f"{typed.on(Shelf.ALL)}{typed.words}" if others.is_exact or others.alike else ""
        return usual, matches
    matches = search_index(index, typed.words, operator=choice.operator) if typed.is_phone else Found([])
    if not matches.keys:
        matches = _on(index, choice, Shelf.ALL, typed.words)
    if not matches.keys:
        matches = _on(index, choice, Shelf.BILL, typed.words)
    return usual, matches


def _are_of_products(index: Index, words: str) -> bool:
    return all(index.has_beginning(joined(word)) for word in words.split())


def _shelves(typed: Typed) -> list[Shelf]:
    """The tabs for a number, the usual tab first."""
    if typed.zone:
        return [Shelf.ALL]
    if typed.is_phone:
        power = [Shelf.POWER] if typed.may_be_meter else []
        return [Shelf.CREDIT, Shelf.DATA, Shelf.CALLS, Shelf.BILL, *power, Shelf.ALL]
    if typed.may_be_meter:
        return [Shelf.POWER, Shelf.BILL, Shelf.ALL]
    return [Shelf.BILL, *([Shelf.POWER] if typed.offers_power else []), Shelf.ALL]


def _on(index: Index, choice: Choice, shelf: Shelf, words: str) -> Found:
    """The products of a tab for the number."""
    typed, operator = choice.typed, choice.operator
    if shelf in _CALLED:
        matches = search_index(index, words, operator=operator, kind=_PREPAID, called=_CALLED[shelf])
        if shelf is Shelf.CREDIT and not matches.keys and not words:  # the catalogue has another word for it
            matches = search_index(index, words, operator=operator, kind=_PREPAID)
        return matches
    if shelf is Shelf.POWER:
        return search_index(index, words, kind=_PREPAID, takes=[METER])
    if shelf is Shelf.BILL:
        return _bills(index, typed, operator, words)
    takes = [kind for kind in KINDS.values() if _takes(kind, typed)]
    return search_index(index, words, kind=_PREPAID, takes=takes)


def _takes(kind: DestinationKind, typed: Typed) -> bool:
    """Whether products of this kind may take the number; a game's account is completed once its product is known."""
    if typed.zone:
        return kind is GAME_ZONE
    if typed.is_phone:
        return kind.takes_phone
    return not kind.is_phone and (kind.needs_product or not typed.bare or bool(kind.read(typed.bare)))


def _bills(index: Index, typed: Typed, operator: Operator | None, words: str) -> Found:
    """The billers that take the number, those of electricity first."""
    if typed.zone:
        return Found([])
    own = search_index(index, words, operator=operator, kind=_POSTPAID) if typed.is_phone else Found([])
    power = search_index(index, words, kind=_POSTPAID, takes=[METER]) if typed.offers_power else Found([])
    others = Found([]) if typed.is_phone else search_index(index, words, kind=_POSTPAID, takes=_GENERAL)
    return Found([*dict.fromkeys([*own.keys, *power.keys, *others.keys])])


def _add_tiles(choice: Choice, usual: list[int], matches: Found, pick: str, first_keys: Sequence[int]) -> None:
    """The page of tiles, and the picked one."""
    typed = choice.typed
    suggested = choice.past.product_id if choice.past else choice.known.product_id if choice.known else None
    from_, until = choice.page * TILES, (choice.page + 1) * TILES
    fitting = set(usual)
    usual = [*dict.fromkeys([*(key for key in first_keys if key in fitting), *usual[:_MOST_WEIGHED]])]
    # One more row than the page shows tells whether there is another page.
    wanted = [*usual, *matches.keys[: max(until + 1, _MOST_WEIGHED)], *([suggested] if suggested else [])]
    rows = {row.pk: row for row in read_products([*dict.fromkeys(wanted)])}
    own = [rows[key] for key in usual if key in rows]
    first = rows.get(suggested) if suggested else None
    arranged = _arranged(own, choice, first, first_keys)
    asked = [rows[key] for key in matches.keys if key in rows]
    exact = asked[0] if matches.is_exact and asked else None
    # The tiles stay where they are if the typed denomination is one of the first and picks it.
    stays = exact in arranged[:TILES] and not choice.is_nameless
    listed = arranged if not typed.words or stays else asked
    choice.lacking = matches.lacking
    choice.alike = [rows[key] for key in matches.alike if key in rows][:_MOST_ALIKE]
    choice.products = listed[from_:until]
    choice.pages = -(-len(listed) // TILES)
    if not choice.shelf and typed.number and choice.products:
        choice.shelf = _shelf_of(choice.products[0])
    meant = _meant(choice, listed, exact, first, pick)
    is_on = meant is not None and can_be_sold(meant, below_cost=choice.sells_below_cost)
    choice.picked, choice.off = (meant, None) if is_on else (None, meant)


def _arranged(
    own: Sequence[Product], choice: Choice, first: Product | None, first_keys: Sequence[int]
) -> list[Product]:
    """The number's last sale, the till's first tiles that can be sold, the best sellers by price, then the others."""
    if choice.operator:
        name = fold(choice.operator.name)
        own = [row for row in own if fold(row.brand.name).startswith(name)] or own
    head = [first] if first else []
    of_till = [row for row in own if row.pk in first_keys and row not in head]
    # A product that cannot be sold now gives its first place to the others.
    sold = [row for row in of_till if can_be_sold(row, below_cost=choice.sells_below_cost)]
    head += sorted(sold, key=lambda row: first_keys.index(row.pk))
    own = [row for row in own if row not in head]
    if own and own[0].type == _PREPAID:
        weighed = sorted(own, key=lambda row: (-row.bought, _place(row)))
        most = max(TILES - len(head), 0)
        own = [*sorted(weighed[:most], key=_by_price), *sorted(weighed[most:], key=_by_price)]
    return [*head, *own]


def _by_price(product: Product) -> tuple[int, str]:
    return product.sells_for, product.name


def _place(product: Product) -> int:
    """The rank of its amount: the place in `_USUAL` of the nearest amount below its cost; others come last."""
    near = [amount for amount in _USUAL if amount <= product.price < amount + max(2_000, amount // 10)]
    return _USUAL.index(max(near)) if near else len(_USUAL)


def _meant(
    choice: Choice, listed: Sequence[Product], exact: Product | None, first: Product | None, pick: str
) -> Product | None:
    typed = choice.typed
    if pick:
        return next((row for row in listed if row.code == pick), None)
    if choice.is_nameless:
        return None
    if typed.words:
        return exact or (listed[0] if len(listed) == 1 and not choice.lacking else None)
    return (first or _only_one(choice, listed)) if typed.bare else None


def _only_one(choice: Choice, listed: Sequence[Product]) -> Product | None:
    """The only product of a tab; on the tab of bills also the only biller for meters."""
    if len(listed) != 1 and choice.shelf is Shelf.BILL:
        listed = [row for row in listed if row.type == _POSTPAID and row.kind is METER]
    return listed[0] if len(listed) == 1 else None


def _shelf_of(product: Product) -> Shelf | None:
    if product.type == _POSTPAID:
        return Shelf.BILL
    if product.kind is METER:
        return Shelf.POWER
    words = fold(f"{product.category.code} {product.category.name}")
    if not product.kind.is_phone:
        return Shelf.ALL
    called = {Shelf.CREDIT: ("pulsa",), Shelf.DATA: ("data",), Shelf.CALLS: ("telepon", "sms")}
    return next((shelf for shelf, names in called.items() if any(name in words for name in names)), Shelf.ALL)
