"""Tills on pages."""

import json
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from tills import printing
from tills.presenting import standing_badge

register = template.Library()
register.simple_tag(standing_badge, name="till_badge")


@register.simple_tag(takes_context=True)
def drawer_instruction(context: template.Context) -> SafeString:
    """`{% drawer_instruction as opening %}`: opens the cash drawer once (cash_drawer.js); mostly ""."""
    printer: dict[str, Any] | None = printing.drawer_instruction(context["request"])
    return format_html('<i hidden data-open-drawer="{}"></i>', json.dumps(printer)) if printer else SafeString()


@register.simple_tag(takes_context=True)
def reaches_drawer(context: template.Context) -> bool:
    """`{% reaches_drawer as reaches %}`: whether this page has to listen for such an instruction."""
    return printing.reach_drawer(context["request"])
