"""Finds the targets of price rules by what people call them."""

from collections.abc import Iterator

from catalogue.models import Brand, Category
from catalogue.services.targets import Target, in_several_categories
from catalogue.services.words import brand_called, category_called, chunks_of, joined, search_words, words_in

# Rupiah that a sale may be asked to earn. Without a word for profit only `_BARELY` counts, because "telkomsel 10" and
# "telkomsel 5000" name products.
_LEAST, _MOST = 50, 100_000
_BARELY = range(100, 1_000)
# Too many names begin with fewer letters.
_LETTERS_OF_A_BRAND = 3


def priced_targets(text: str) -> Iterator[Target]:
    """The targets that a text names beside a word for prices ("harga tsel"); brands in all categories come first."""
    known, typed = search_words(), [joined(chunk) for chunk in chunks_of(text)]
    names = [word for word in typed if word not in known.prices | known.beside_prices | known.little]
    if not names or known.prices.isdisjoint(typed):
        return
    for target in (*in_several_categories(), *_in_one_category()):
        if _is_called(target, names):
            yield target


def earning_targets(text: str) -> tuple[list[Target], int]:
    """The targets for which a text says what each sale should earn at least ("telkomsel profit at least 500"), and
    these rupiah; without a name, every brand in several categories. [] and 0 for any other text.
    """
    known, typed = search_words(), [joined(chunk) for chunk in chunks_of(text)]
    amounts = [int(word) for word in typed if word.isdecimal() and _LEAST <= int(word) <= _MOST]
    if len(amounts) != 1 or known.earn.isdisjoint(typed):
        return [], 0
    skipped = known.earn | known.prices | known.beside_earn | known.beside_prices | known.little | {str(amounts[0])}
    names = [word for word in typed if word not in skipped]
    targets = in_several_categories()
    if names:
        brands = (target for target in _in_one_category() if target.brand)
        named = [target for target in (*targets, *brands) if _is_called(target, names)]
        targets = [target for target in named if target.also] or named
    return targets, amounts[0]


def brand_targets(text: str) -> tuple[list[Target], int]:
    """The brands in several categories of a text that is only a name ("telkomsel"), and the rupiah after the name that
    each sale may be asked to earn ("telkomsel 500"); 0 without any.

    It queries the database only if people call some brand by this name.
    """
    name, *amounts = [joined(chunk) for chunk in chunks_of(text)] or [""]
    if not name.isalpha() or len(amounts) > 1 or not all(word.isdecimal() and int(word) in _BARELY for word in amounts):
        return [], 0
    called = ({*entry.called}.union(*map(words_in, entry.names)) for entry in search_words().brands)
    if not any(_names_one(name, words) for words in called):
        return [], 0
    named = [target for target in in_several_categories() if _names_one(name, _words_of(target))]
    return [target for target in named if not target.is_bill], int(amounts[0]) if amounts else 0


def _names_one(name: str, words: set[str]) -> bool:
    return name in words or (len(name) >= _LETTERS_OF_A_BRAND and any(word.startswith(name) for word in words))


def _is_called(target: Target, names: list[str]) -> bool:
    words = _words_of(target)
    return all(any(word.startswith(name) for word in words) for name in names)


def _in_one_category() -> Iterator[Target]:
    categories = Category.objects.filter(is_listed=True).order_by("-type", "name")
    yield from (Target(type=category.type, category=category) for category in categories)
    brands = Brand.objects.filter(is_listed=True).select_related("category").order_by("category__name", "name")
    yield from (Target(type=brand.category.type, brand=brand) for brand in brands)


def _words_of(target: Target) -> set[str]:
    """The words that people use for it. For a brand in all its categories, those of the categories do not count."""
    names = [target.brand.name] if target.brand else []
    called = brand_called(target.brand.name) if target.brand else ()
    category = None if target.also else target.category or (target.brand and target.brand.category)
    if category:
        names.append(category.name)
        called += category_called(category.name)
    return {word for name in names for word in words_in(name)}.union(*(entry.called for entry in called))
