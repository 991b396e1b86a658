"""Template filters and tags that every page may use without loading them."""

import json

from django import template
from django.template.loader import get_template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from core.looks import icon
from core.money import rupiah, signed_rupiah
from core.numbers import as_seen, note_as_seen, text_as_seen
from core.parts import templates_at
from core.tables import Row
from core.times import ago, clock, day_words, hour, moment, short_time

register = template.Library()


def keyed_as(value: object, name: str) -> dict[str, object]:
    """The value as the content of an act, for `components/factor_field.html`."""
    return {name: value}


def hiding(text: object, number: str) -> str:
    """A text that may hold this customer's number, as the viewer may see it."""
    return text_as_seen(text if isinstance(text, str) else str(text), number)


def table_row(row: Row, swap: str = "") -> str:
    """`{% table_row row live.swap %}`: a row of a list."""
    return row.as_html(swap)


def as_json(value: object) -> str:
    """The value as JSON, for an attribute that a script reads."""
    return json.dumps(value, default=str)


for tag in (ago, icon, moment, table_row):
    register.simple_tag(tag)
for shown_as in (as_json, as_seen, hiding, keyed_as, note_as_seen, clock, day_words, hour, rupiah, short_time):
    register.filter(shown_as)
register.filter("signed", signed_rupiah)


@register.simple_tag(takes_context=True)
def parts(context: template.Context, place: str) -> SafeString:
    """`{% parts "order_facts" %}`: the parts of the rooms above at this place of the page (`core/parts.py`)."""
    with context.push():
        pages = [get_template(name).template for name in templates_at(place)]  # type: ignore[attr-defined]
        return SafeString("".join(page.render(context) for page in pages))


@register.simple_block_tag
def panel(content: str, title: str, name: str, *, css: str = "", anchor: str = "") -> SafeString:
    """`{% panel _("Pay out") "payout" %}…{% endpanel %}`: a part of a page under a heading, whose id is `payout-title`.

    `css`: further classes of the part. `anchor`: its own id.
    """
    return format_html(
        '<section class="panel{}" aria-labelledby="{name}-title"{}><div class="panel-head">'
        '<h2 id="{name}-title">{}</h2></div><div class="panel-body">{}</div></section>',
        f" {css}" if css else "",
        format_html(' id="{}"', anchor) if anchor else "",
        title,
        content,
        name=name,
    )
