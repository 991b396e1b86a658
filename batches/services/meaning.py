"""What the two cells of a row mean: the product and the number, or why that is not certain.

A batch never guesses, because nobody sees the single row before the sale.
"""

import re
from collections import defaultdict
from dataclasses import dataclass

from batches.services.reading import SHORTENED, doubt_about, has_lost_digits, is_unclear_amount, split_name
from batches.states import Fault
from catalogue import models
from catalogue.destinations import InvalidDestination
from catalogue.mending import DigitsLost, mend_number
from catalogue.operators import operator_of
from catalogue.services.amounts import MONEY, Amount, ends_with
from catalogue.services.index import Index, Product, current_index
from catalogue.services.searching import search_index
from catalogue.services.words import chunks_of, code_in, fold, has_amount_apart, joined, without_thousands
from core.notation import at_home
from counter.services.choosing import meant_products

# At most this many codes are named for an unclear product.
_MOST_CODES = 4
# The fewest digits of a number: fewer digits alone are a denomination.
_LEAST_DIGITS = 4


@dataclass(frozen=True)
class Meaning:
    """The product's key and the number to be cleaned by its kind; or what is wrong, and more about that."""

    key: int | None = None
    number: str = ""
    fault: Fault | None = None
    keys: tuple[int, ...] = ()
    about: str = ""


class Reader:
    """Reads the rows of one table. Words that many rows have are looked up once."""

    def __init__(self) -> None:
        self.index: Index = current_index()
        self._products = dict(zip(self.index.keys, self.index.products, strict=True))
        self._known: dict[tuple[str, ...], Meaning] = {}
        self._named: defaultdict[str, set[int]] = defaultdict(set)
        for key, product in self._products.items():
            self._named[fold(product.name)].add(key)
        gone = models.Product.objects.filter(is_listed=False).order_by().values_list("code", "name")
        self._gone = {code_in(code) for code, _name in gone}
        self._gone_names = {fold(name) for _code, name in gone} - self._named.keys()

    def meaning(self, number: str, what: str) -> Meaning:
        """The meaning of the two cells of a row."""
        meant = self._of_cells(number, what)
        product = self._products.get(meant.key) if meant.key else None
        if product and _may_be_another(what, product):
            return Meaning(fault=Fault.UNCLEAR_PRODUCT, about=product.code)
        return meant

    def _of_cells(self, number: str, what: str) -> Meaning:
        if is_none := _no_number(number, what):
            return is_none
        try:
            number = mend_number(number, None)[0]
        except DigitsLost:
            return Meaning(fault=Fault.DIGITS_LOST, about=number)
        except InvalidDestination:
            if SHORTENED.fullmatch(number) or at_home(number).startswith("08"):
                return Meaning(fault=Fault.WRONG_NUMBER, about=number)
        if not (number and what):
            return Meaning(fault=Fault.NO_PRODUCT if number else Fault.NO_NUMBER)
        if is_unclear_amount(what):
            return Meaning(fault=Fault.UNCLEAR_AMOUNT, about=what)
        return self._of_product(number, what)

    def _of_product(self, number: str, what: str) -> Meaning:
        if (place := self.index.of_code(what)) is not None:
            return Meaning(self.index.keys[place], number)
        # Its words may mean another product that the catalogue still has.
        is_gone = code_in(what) in self._gone and not has_amount_apart(what)
        if is_gone or fold(what) in self._gone_names:
            return Meaning(fault=Fault.NOT_FOR_SALE, about=what)
        operator = operator_of(number) if number.startswith("08") else None
        if operator is None:
            return self._look_up(number, what)
        # The same words mean the same product for all numbers of one operator and one length.
        same = (what.casefold(), operator.name, str(len(number)))
        if same not in self._known:
            self._known[same] = self._look_up(number, what)
        before = self._known[same]
        return Meaning(before.key, number, before.fault, before.keys, before.about)

    def _look_up(self, number: str, what: str) -> Meaning:
        typed, matches = meant_products(self.index, f"{number} {what}")
        if not typed.bare:
            return Meaning(fault=Fault.WRONG_NUMBER if typed.number else Fault.NO_NUMBER)
        if _digits(typed.number) != _digits(number):
            return Meaning(fault=Fault.WRONG_NUMBER, about=number)  # no digit of the product becomes one of the number
        # The whole name of a product means no other whose name has these words, too.
        named = [key for key in matches.keys if key in self._named[fold(what)]]
        keys = named or matches.keys
        is_certain = len(keys) == 1 and not self._is_bare_amount_of(keys[0], what)
        if is_certain and not matches.lacking:
            return Meaning(keys[0], typed.number)
        if keys and not matches.lacking:
            alike = named or matches.alike or matches.keys
            return Meaning(fault=Fault.UNCLEAR_PRODUCT, keys=tuple(alike)[:_MOST_CODES])
        others = search_index(self.index, what) if typed.is_phone and any(map(str.isalpha, what)) else None
        if others and others.is_exact and not others.lacking:
            return Meaning(others.keys[0], typed.number)  # by its brand it belongs to another operator
        is_name = self._has_name_behind(number, what)
        return Meaning(fault=Fault.NAME_BEHIND if is_name else Fault.UNKNOWN_PRODUCT, about=what)

    def _is_bare_amount_of(self, key: int, what: str) -> bool:
        """Whether the text is an amount, with no word but the operator's, of a product that is not sold in rupiah.

        "tsel 25" is credit of Rp25.000: without it, 25 GB are not what the row asks for.
        """
        product = self._products[key]
        main = product.sold_in.main
        if not product.kind.is_phone or main is None or main.unit == MONEY:
            return False
        called = {joined(product.brand_name)}.union(*(brand.called for brand in product.brand_called))
        said = [word if word in called else re.sub(r"\d", "", word) for word in map(joined, chunks_of(what))]
        return called.issuperset(filter(None, said)) or "".join(said) in called

    def _has_name_behind(self, number: str, what: str) -> bool:
        """Whether the text is one or more possible products, followed by words that may be a name."""
        product, _name = split_name(what, self.index)
        meant = self._of_product(number, product) if product else Meaning()
        return meant.key is not None or bool(meant.keys)


def _no_number(number: str, what: str) -> Meaning | None:
    """The fault of a cell that is not, or not certainly, a number; None for all others."""
    if not what and len(_digits(number)) < _LEAST_DIGITS:
        return Meaning(fault=Fault.NO_NUMBER, about=number)
    if number.lstrip().startswith(("-", "−", "–")):
        return Meaning(fault=Fault.WRONG_NUMBER, about=number)
    if has_lost_digits(number):
        return Meaning(fault=Fault.DIGITS_LOST, about=number)
    doubt = doubt_about(number)
    if doubt and (not what or at_home(number).startswith("08")):
        return Meaning(fault=Fault.UNCLEAR_NUMBER, about=doubt)
    return None


def _digits(text: str) -> str:
    return "".join(sign for sign in text if sign.isdecimal())


def _may_be_another(what: str, product: Product) -> bool:
    """Whether the text is the product's code only in part, and may mean another product.

    "AXD1.5" is not AXD15, "pln-25" not PLN250, and "tsel-1000" may be rupiah beside TSEL1000, a code of Rp1.000.000.
    """
    words = {what, *what.split()}
    code, main = product.code, product.sold_in.main
    if any(_begins_with_another(word, code, main) for word in words):
        return True
    like = [word for word in words if joined(word) == joined(code) and fold(word) != fold(code)]
    if not like:
        return False
    is_rupiah = main is not None and main.unit == MONEY and joined(code)[-1:].isdecimal()
    is_other_amount = is_rupiah and not ends_with(joined(code), main)
    own = code_in(without_thousands(code))
    return is_other_amount or any(code_in(without_thousands(word)) != own for word in like)


def _begins_with_another(word: str, code: str, main: Amount | None) -> bool:
    """Whether the code only begins with this word, whose number is not the product's amount: "pln-25" of PLN250."""
    begun = joined(word)
    is_begun = begun != joined(code) and joined(code).startswith(begun)
    return is_begun and begun[-1:].isdecimal() and not begun.isdecimal() and not ends_with(word, main)
