"""The amounts in a product's name and in what people type: 10.000, 10rb, 3 GB, 30 hari."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from catalogue.services.words import search_words

MONEY, DAYS = "money", "days"
_NUMBER = re.compile(r"(\d+(?:[.,]\d+)*)(?:,-)?([a-z]*)")
_GROUPED = re.compile(r"\d{1,3}([.,])\d{3}(?:\1\d{3})*")
# No amount has more characters, dots included; Decimal cannot divide some longer numbers.
_MOST_LETTERS = 20
_AT_THE_END = re.compile(r"(\d+(?:[.,]\d+)*)\W*$", re.ASCII)
# A number from here on means itself; a smaller one may mean thousands: 10 may be 10.000.
_THOUSAND = 1000
# Which unit names a product, the first one found: "Telkomsel 10.000 + 1 GB" is sold in rupiah.
_BY_WEIGHT = [MONEY, "data", "", "minutes", DAYS]
# For data, a number without a unit is MB from here on, and GB below.
_LEAST_MB = 100


@dataclass(frozen=True)
class Amount:
    """A number with its unit: `unit` is "money", "days", another group of `[units]`, or "" without such a word.

    `shown` is the number as written (3 of "3 GB"), `value` the same in the smallest unit (3000).
    """

    shown: Decimal
    value: Decimal
    unit: str = ""

    @property
    def may_be_thousands(self) -> bool:
        """Whether people may mean a thousand times this amount."""
        return not self.unit and self.shown < _THOUSAND and self.shown == int(self.shown)


@dataclass(frozen=True)
class Denominations:
    """The amount that names one product, and the other amounts in its name."""

    main: Amount | None
    others: tuple[Amount, ...] = ()


def number_of(text: str) -> Decimal:
    """The number of digits with dots or commas: three digits after each mean thousands, another count a fraction."""
    if _GROUPED.fullmatch(text):
        return Decimal(re.sub(r"\D", "", text))
    *whole, last = re.split(r"[.,]", text)
    return Decimal(f"{''.join(whole)}.{last}") if whole else Decimal(last)


def amount_of(text: str, next_word: str = "") -> tuple[Amount, bool] | None:
    """The amount in a piece of text ("10rb", "3", "3gb"), and whether `next_word` is a part of it ("3" "gb").

    None when it is not an amount.
    """
    match = _NUMBER.fullmatch(text)
    if match is None:
        return _said(text)
    if len(match[1]) > _MOST_LETTERS:
        return None
    number, glued = number_of(match[1]), match[2]
    if glued:
        amount = _counted(number, glued)
        return (amount, False) if amount else None
    amount = _counted(number, next_word)
    return (amount, True) if amount else (Amount(number, number), False)


def ends_with(text: str, main: Amount | None) -> bool:
    """Whether the number at the end of a text is this amount: "T 10" and "T10.000" of 10.000, "TSELD-3" of 3 GB."""
    number = _AT_THE_END.search(text)
    if number is None or main is None:
        return False
    count = number_of(number[1])
    if main.unit == MONEY:
        return main.value == (count if count >= _THOUSAND else count * _THOUSAND)
    return main.shown == count


def validity_of(text: str, next_word: str = "") -> tuple[Amount, bool] | None:
    """The days that a word ("sebulan", "weekly") or two ("a month") mean, and whether `next_word` is a part of it.

    Use it only for what people type: "harian" in a product's name means what it gives each day.
    """
    words = search_words()
    if days := words.validity.get(text):
        return Amount(Decimal(days), Decimal(days), DAYS), False
    amount = _counted(Decimal(1), next_word) if text in words.one else None
    return (amount, True) if amount and amount.unit == DAYS else None


def _said(text: str) -> tuple[Amount, bool] | None:
    rupiah = search_words().said.get(text)
    return (Amount(Decimal(rupiah), Decimal(rupiah), MONEY), False) if rupiah else None


def _counted(number: Decimal, word: str) -> Amount | None:
    """The amount of `number` in the unit `word`; None when the word is not a unit."""
    words = search_words()
    if times := words.times.get(word):
        return Amount(number * times, number * times, MONEY)
    if unit := words.units.get(word):
        name, smallest = unit
        value = number * smallest
        # 1024 MB count as a GB, like 1000 MB.
        return Amount(number, value * 1000 / 1024 if name == "data" and value % 1024 == 0 else value, name)
    return None


def denominations_of(words: Sequence[str], price: int) -> Denominations:
    """The amounts of a product with these words in its name, at this price in rupiah (0: not known)."""
    amounts: list[Amount] = []
    skip = False
    for word, after in zip(words, [*words[1:], ""], strict=True):
        if skip:
            skip = False
        elif amount_and_skip := amount_of(word, after):
            amount, skip = amount_and_skip
            amounts.append(_as_money(amount, price))
    if not amounts:
        return Denominations(None)
    main = min(amounts, key=lambda amount: _BY_WEIGHT.index(amount.unit))
    others = list(amounts)
    others.remove(main)
    return Denominations(main, tuple(others))


def _as_money(amount: Amount, price: int) -> Amount:
    """The amount as money if the price is near it, in rupiah or in thousands; else unchanged."""
    if amount.unit or price <= 0:
        return amount
    for value in (amount.value, amount.value * _THOUSAND):
        if value >= _THOUSAND and value == int(value) and value / 2 <= price <= value * 3:
            return Amount(value, value, MONEY)
    return amount


EXACT, EXACT_COUNT, LARGER, LARGER_COUNT = range(4)


def fit(product: Denominations, asked: Sequence[Amount]) -> tuple[int, Decimal] | None:
    """The fit of a product with the typed amounts: (how, its amount when it is larger); None: not at all.

    Best first: exactly this much money, exactly this many of something, larger products. A smaller one never fits.
    """
    if product.main is None:
        return None
    fits = [_fit_one(product.main, amount) for amount in asked]
    exact = [how is not None and how <= EXACT_COUNT for how in fits]
    worst, larger = EXACT, Decimal(0)
    for at, amount in enumerate(asked):
        how = fits[at]
        if (how is None or how > EXACT_COUNT) and _is_among(product.others, amount, any(exact)):
            continue
        if how is None:
            return None
        worst = max(worst, how)
        larger = product.main.value if how >= LARGER else larger
    return worst, larger


def _fit_one(main: Amount, asked: Amount) -> int | None:
    if asked.unit:
        fits = main.unit == asked.unit or (asked.unit == MONEY and not main.unit)
        return _exact_or_larger(main.value, asked.value, EXACT, LARGER) if fits else None
    thousands = asked.value * _THOUSAND
    if main.unit == MONEY:
        return _exact_or_larger(main.value, thousands if asked.may_be_thousands else asked.value, EXACT, LARGER)
    if main.shown == asked.value:
        return EXACT_COUNT
    if main.unit == "data":  # a small number means GB, also beside MB, and thousands mean rupiah
        wanted = thousands if asked.value < _LEAST_MB else asked.value
        return LARGER_COUNT if asked.value < _THOUSAND and main.value > wanted else None
    if asked.may_be_thousands and not main.unit and main.shown >= thousands:
        return _exact_or_larger(main.shown, thousands, EXACT_COUNT, LARGER)
    return LARGER_COUNT if main.shown > asked.value else None


def _exact_or_larger(value: Decimal, wanted: Decimal, exact: int, larger: int) -> int | None:
    return exact if value == wanted else larger if value > wanted else None


def _is_among(others: Sequence[Amount], asked: Amount, main_is_exact: bool) -> bool:
    """Whether the name has this amount as well as its main one. A bare number counts only with an exact main one."""
    if asked.unit:
        return any(other.unit == asked.unit and other.value == asked.value for other in others)
    return main_is_exact and any(other.shown == asked.value for other in others)
