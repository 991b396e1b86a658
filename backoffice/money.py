"""Rupiah as people here write it."""

from babel.numbers import format_currency


def rupiah(amount: int) -> str:
    """Whole rupiah `amount` as text, e.g. 150000 → "Rp150.000", -1 → "-Rp1"."""
    # Babel's own pattern for Indonesian adds ",00"; whole rupiah have no decimals.
    return format_currency(amount, "IDR", format="¤#,##0", currency_digits=False, locale="id_ID")
