"""Rupiah as people here write it."""

from functools import lru_cache

from babel.numbers import format_currency


# A list shows few prices many times, and Babel takes as long over one as the rest of the row does.
@lru_cache(maxsize=4096)
def rupiah(amount: int | None) -> str:
    """Whole rupiah `amount` as text, e.g. 150000 → "Rp150.000", -1 → "−Rp1"; a dash where it is not known."""
    if amount is None:
        return "–"
    # Babel's own pattern for Indonesian adds ",00"; whole rupiah have no decimals.
    words = format_currency(abs(amount), "IDR", format="¤#,##0", currency_digits=False, locale="id_ID")
    # A minus, not a hyphen: it is as wide as the plus, and no line ends behind it.
    return f"\N{MINUS SIGN}{words}" if amount < 0 else words


def signed_rupiah(amount: int | None) -> str:
    """The amount with its sign: "+Rp1.000", "−Rp1", "Rp0"; a dash where it is not known."""
    return f"+{rupiah(amount)}" if amount and amount > 0 else rupiah(amount)
