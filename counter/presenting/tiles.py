"""The offers of the counter's field: tabs, and tiles of products and numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy, pgettext_lazy

from branches.seeing import narrowed
from catalogue.marks import mark_of
from catalogue.models import Product, ProductType
from core import clock
from core.notation import in_groups
from core.numbers import sees_whole_numbers
from core.rights import Right
from core.times import start_of_day
from counter.services import Choice, Shelf
from counter.services.choosing import can_be_sold
from customers.models import SavedNumber
from customers.presenting import shown_number
from purchases.models import Order
from staff.models import User

_SHELVES: dict[Shelf, str | Promise] = {
    Shelf.CREDIT: pgettext_lazy("phone", "Airtime"),
    Shelf.DATA: pgettext_lazy("phone", "Data"),
    Shelf.CALLS: pgettext_lazy("phone", "Calls"),
    Shelf.POWER: gettext_lazy("PLN token"),
    Shelf.BILL: gettext_lazy("Postpaid bill"),
    Shelf.ALL: gettext_lazy("All brands"),
}
# The large tiles of the empty field: icon, words, and the word that each types, in the person's language. The field
# knows the words of all languages (catalogue/search_words.toml). "bills", because "bill" begins the name of a Billy;
# "pulsa" in English, too, because only this word stands in the names of products and categories.
STARTS: list[tuple[str, str | Promise, str | Promise]] = [
    ("device-mobile", _SHELVES[Shelf.CREDIT], "pulsa"),
    ("world", _SHELVES[Shelf.DATA], "data"),
    ("bolt", _SHELVES[Shelf.POWER], "token"),
    ("device-gamepad-2", gettext_lazy("Games"), "game"),
    ("file-invoice", _SHELVES[Shelf.BILL], pgettext_lazy("typed into the field", "bills")),
]
# The number of the day's last orders that are read, and of their numbers that the empty field offers.
_LOOKED_AT, _NUMBERS_OF_TODAY = 20, 4


@dataclass(frozen=True)
class Tab:
    """A tab with its letter; `address` opens it."""

    shelf: Shelf
    words: str | Promise
    text: str
    is_current: bool

    @property
    def address(self) -> str:
        """Its link without a script."""
        return f"{reverse('counter')}?{urlencode({'q': self.text})}"


@dataclass(frozen=True)
class Tile:
    """A product, or a saved number (`number`), that can be picked by `at`, from 1."""

    at: int
    label: str
    address: str
    product: Product | None = None
    number: SavedNumber | None = None
    shown: str = ""
    fills: str = ""
    is_picked: bool = False
    is_last: bool = False
    is_for_sale: bool = True
    has_mark: bool = False

    @property
    def mark(self) -> SafeString | None:
        """The mark of its brand, unless all tiles are of the number's operator."""
        return mark_of(self.product.brand.name) if self.has_mark and self.product else None

    @property
    def is_bill(self) -> bool:
        """Whether it is a biller, whose total comes by an inquiry."""
        return self.product is not None and self.product.type == ProductType.POSTPAID


def tabs_of(choice: Choice) -> list[Tab]:
    """The tabs for the number that was typed."""
    current = choice.shelf
    texts = [(shelf, choice.typed.on(shelf)) for shelf in choice.shelves]
    return [Tab(shelf, _SHELVES[shelf], text, shelf is current) for shelf, text in texts]


def tiles_of(choice: Choice) -> list[Tile]:
    """Saved numbers first, then the products of the page."""
    tiles = [_of_number(at, number, choice.text_of(number)) for at, number in enumerate(choice.numbers, 1)]
    last = choice.past.product_id if choice.past else None
    has_marks = choice.operator is None or len({product.brand.name for product in choice.products}) > 1
    for at, product in enumerate(choice.products, len(tiles) + 1):
        step = reverse("counter_review") if choice.typed.number else reverse("counter")
        name = "pick" if choice.typed.number else "product"
        query = {"q": choice.typed.text, name: product.code} if choice.typed.number else {name: product.code}
        tiles.append(
            Tile(
                at=at,
                label=_label(product, choice),
                address=f"{step}?{urlencode(query)}",
                product=product,
                is_picked=choice.picked is not None and product.pk == choice.picked.pk,
                is_last=product.pk == last,
                has_mark=has_marks,
                is_for_sale=can_be_sold(product, below_cost=choice.sells_below_cost),
            )
        )
    return tiles


def first_tiles(products: Sequence[Product]) -> list[Tile]:
    """The first tiles of a till, for the empty field: each keeps its product and asks for the number."""
    return [
        Tile(at, product.name, f"{reverse('counter')}?{urlencode({'product': product.code})}", product, has_mark=True)
        for at, product in enumerate(products, 1)
    ]


def tiles_of_today(person: User, *, after: int = 0) -> list[Tile]:
    """The last phone numbers that this person sold to today, for the empty field; none without a right to see them.

    `after`: how many tiles stand before them.
    """
    if not (sees_whole_numbers() and person.has_perm(Right.VIEW_ORDERS)):
        return []
    since = start_of_day(timezone.localdate(clock.now()))
    own = narrowed(
        Order.objects.filter(number_erased=False, placed_by=person, created_at__gte=since), "payment__branch"
    )
    sold: dict[str, str] = {}
    for number, product in own.order_by("-created_at", "-pk").values_list("destination", "product_name")[:_LOOKED_AT]:
        if number.startswith("08"):
            sold.setdefault(number, product)
    return [
        Tile(
            at,
            in_groups(number, " "),
            f"{reverse('counter')}?{urlencode({'q': f'{number} '})}",
            shown=sold[number],
            fills=f"{number} ",
        )
        for at, number in enumerate([*sold][:_NUMBERS_OF_TODAY], after + 1)
    ]


def _label(product: Product, choice: Choice) -> str:
    """The product's name; without its brand if that is the number's operator; for tokens only the amount."""
    brand = product.brand.name
    plain = product.name[len(brand) :].strip() if product.name.lower().startswith(brand.lower()) else product.name
    if choice.operator and brand.lower().startswith(choice.operator.name.lower()) and plain:
        return plain
    if choice.shelf is Shelf.POWER:
        words = product.name.split()
        return words[-1] if words[-1][:1].isdigit() else product.name
    return product.name


def _of_number(at: int, number: SavedNumber, fills: str) -> Tile:
    address = f"{reverse('counter')}?{urlencode({'q': fills})}"
    if number.product and not fills:
        query = {"q": number.destination, "product": number.product.code}
        address = f"{reverse('counter_review')}?{urlencode(query)}"
    shown = in_fours(shown_number(number))
    return Tile(at, number.customer.name, address, number=number, shown=shown, fills=fills)


def in_fours(shown: str) -> str:
    """A number that is grouped for reading aloud, as the counter writes every number: with spaces."""
    return shown.replace("-", " ")
