"""Template filters and tags that every page may use without loading them."""

from django import template

from core.icons import icon
from core.money import rupiah
from core.times import ago, clock, day_words, moment

register = template.Library()
for tag in (ago, icon, moment):
    register.simple_tag(tag)
for shown_as in (clock, day_words, rupiah):
    register.filter(shown_as)
