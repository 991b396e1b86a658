"""A mark for each brand: its initials on its colour, drawn by us. It uses no logo."""

from functools import cache
from zlib import crc32

from django.utils.html import format_html
from django.utils.safestring import SafeString

# The beginning of the name in lower case → initials, colour. White text is legible on each colour (WCAG AA).
_KNOWN = {
    "telkomsel": ("T", "#c8102e"),
    "by.u": ("by", "#0b63c5"),
    "indosat": ("im", "#8f6200"),
    "im3": ("im", "#8f6200"),
    "xl": ("XL", "#1c4fa1"),
    "axis": ("ax", "#6b2c91"),
    "tri": ("3", "#3b3b3b"),
    "smartfren": ("sf", "#b8155a"),
    "pln": ("PLN", "#00677f"),
    "dana": ("D", "#0b69c7"),
    "gopay": ("go", "#00707f"),
    "ovo": ("OV", "#4c2a86"),
    "shopee": ("S", "#b83a0c"),
    "linkaja": ("LA", "#c4161c"),
    "mobile legends": ("ML", "#1f4e79"),
    "free fire": ("FF", "#9a4a00"),
}
_OTHERS = ("#3a5a40", "#5b3a8c", "#7a3b3b", "#285e8e", "#6b5200", "#00696b")


@cache
def mark_of(name: str) -> SafeString:
    """The mark of the brand or operator of this name; screen readers skip it, because the name is beside it."""
    plain = name.lower()
    known = next((mark for begins, mark in _KNOWN.items() if plain.startswith(begins)), None)
    initials, colour = known or (name[:1].upper(), _OTHERS[crc32(plain.encode()) % len(_OTHERS)])
    return format_html(
        '<svg class="brand-mark" viewBox="0 0 28 28" aria-hidden="true"><rect width="28" height="28" rx="7"'
        ' fill="{}"/><text x="14" y="14">{}</text></svg>',
        colour,
        initials,
    )
