"""Reads "earned this week", "earnings by cashier", "laba minggu ini" as the page Earnings with days and a split."""

from collections.abc import Iterator
from urllib.parse import urlencode

from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from core.periods import Period
from core.rights import Right
from core.times import days_words
from earnings.periods import NAMES
from earnings.presenting import BY, keys_shown
from find.kinds.asked import Asked
from find.kinds.kind import Result
from purchases.reading import as_words
from purchases.reading_days import days_at

_EARNED = {"earn", "earned", "earning", "earnings", "profit", "profits", "sales", "revenue", "turnover"}
_EARNED |= {"laba", "untung", "keuntungan", "penjualan", "omzet", "omset", "pendapatan", "penghasilan"}
_SPLIT = {"by", "per", "each", "menurut", "tiap", "setiap"}
_LITTLE = {"how", "much", "did", "do", "we", "the", "our", "my", "shop", "in", "of", "for", "what", "was", "is", "i"}
_LITTLE |= {"berapa", "kita", "kami", "toko", "di", "pada", "untuk", "yang", "hasil"}
_CALLED: dict[str, tuple[str, ...]] = {
    "brand": ("brand", "brands", "merek", "merk", "operator"),
    "category": ("category", "categories", "kategori"),
    "product": ("product", "products", "produk"),
    "person": ("cashier", "cashiers", "kasir", "person", "people", "staff", "orang"),
    "method": ("payment", "payments", "method", "pembayaran", "metode"),
    "branch": ("branch", "branches", "cabang"),
    "customer": ("customer", "customers", "pelanggan"),
}
_BY_OF = {word: by for by, words in _CALLED.items() for word in words}


def earnings_asked(asked: Asked) -> Iterator[Result]:
    """The page Earnings, if the text is a word for it with days, with a split, or with both."""
    words = as_words(asked.text).lower().split()
    if _EARNED.isdisjoint(words) or not asked.person.has_perms((Right.VIEW_ORDERS, Right.VIEW_SHIFTS)):
        return
    days: dict[str, str] = {}
    by = ""
    while words:
        named = None if days else days_at(words, timezone.localdate(), is_for_sums=True)
        if named:
            days = named[0]
            del words[: named[1]]
            continue
        word = words.pop(0)
        if word in _BY_OF and not by:
            by = _BY_OF[word]
        elif word not in _EARNED | _SPLIT | _LITTLE:
            return
    # "By category" without days has an entry of its own in `find_pages`: that of the last month.
    if not (days or by not in {"", "category"}) or (by and by not in keys_shown(asked.person)):
        return
    yield Result(
        url=f"{reverse('earnings')}?{urlencode(_dates(days) | ({'by': by} if by else {}))}",
        words=" · ".join(filter(None, [_("Earnings"), _days_in_words(days), str(BY[by]) if by else ""])),
        icon="chart-bar",
        is_meant=True,
    )


def _dates(days: dict[str, str]) -> dict[str, str]:
    """The days as the page's parameters; a period that the page does not name becomes two dates."""
    if "days" not in days or days["days"] in NAMES:
        return days
    first, last = Period(days["days"]).days(timezone.localdate())
    return {"since": first.isoformat(), "until": last.isoformat()}


def _days_in_words(days: dict[str, str]) -> str:
    if "days" in days:
        return str(Period(days["days"]).label)
    return days_words(days.get("since", ""), days.get("until", ""))
