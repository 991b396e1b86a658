"""Template tags about the first tiles of a till (`{% load first_tiles %}`)."""

from django import template

from catalogue.models import Product
from counter.services.first_tiles import read_first_tiles
from tills.models import Till

register = template.Library()


@register.simple_tag
def first_tiles_of(till: Till) -> list[Product]:
    """The products in the first places of the till's tiles, in order."""
    return read_first_tiles(till)
