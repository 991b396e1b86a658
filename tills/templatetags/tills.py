"""Tills on pages."""

from django import template

from tills.presenting import standing_badge

register = template.Library()
register.simple_tag(standing_badge, name="till_badge")
