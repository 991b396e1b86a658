"""Template filters and tags that every page may use without loading them."""

from django import template

from backoffice.money import rupiah as format_rupiah

register = template.Library()


@register.filter
def rupiah(amount: int | None) -> str:
    """`{{ order.price|rupiah }}`: "Rp150.000", or a dash where the amount is not known."""
    return "–" if amount is None else format_rupiah(amount)
