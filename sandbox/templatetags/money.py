"""Money in the dashboard."""

from django import template

from sandbox.offers import rupiah

register = template.Library()


@register.filter
def rp(amount: int) -> str:
    """150000 → "Rp150.000", -1 → "−Rp1"."""
    return f"−Rp{rupiah(-amount)}" if amount < 0 else f"Rp{rupiah(amount)}"


@register.filter
def signed_rp(amount: int) -> str:
    """150000 → "+Rp150.000"."""
    return f"+{rp(amount)}" if amount > 0 else rp(amount)
