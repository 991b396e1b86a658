"""Notes and tags of an order. They change nothing about its money."""

import re

from django.db import transaction
from django.utils.translation import gettext as _

from audit.services import record
from core.numbers import masked_note
from purchases.errors import ActionRefused
from purchases.events import ORDER_NOTED, ORDER_TAG_REMOVED, ORDER_TAGGED
from purchases.models import Order, OrderNote, Tag
from staff.models import User

# People choose from all of them.
MOST_TAGS = 50
# The first letter keeps a tag from being read as an amount or as the end of a number.
_NAME = re.compile(r"[^\W\d_][\w -]{0,19}")


def write_note(order: Order, *, actor: User, text: str) -> None:
    """Keep a person's words about the order. Raises `ActionRefused` without words."""
    if not text.strip():
        raise ActionRefused(_("Write the note first."))
    with transaction.atomic():
        OrderNote.objects.create(order=order, author=actor, text=text.strip()[:500])
        record(ORDER_NOTED, actor=actor, subject=order.ref_id)


def tag_name(typed: str) -> str:
    """The tag's name as it is kept. Raises `ActionRefused` for an invalid one."""
    name = " ".join(typed.lower().split())
    if not _NAME.fullmatch(name):
        raise ActionRefused(_("A tag begins with a letter and has at most 20 letters, digits, spaces, - and _."))
    if masked_note(name) != name:
        raise ActionRefused(_("A tag holds no number of a customer, because everybody reads it."))
    return name


def put_tag(order: Order, name: str, *, actor: User) -> bool:
    """Put a tag, known or new, on the order; False if it was there. Raises `ActionRefused` for an invalid one."""
    name = tag_name(name)
    with transaction.atomic():
        Order.objects.select_for_update(of=("self",), no_key=True).only("pk").get(pk=order.pk)
        tag = Tag.objects.filter(name=name).first()
        if tag is None and Tag.objects.count() >= MOST_TAGS:
            raise ActionRefused(_("There are %(most)s tags already. Choose one of them.") % {"most": MOST_TAGS})
        tag = tag or Tag.objects.get_or_create(name=name)[0]
        if order.tags.contains(tag):
            return False
        order.tags.add(tag)
        record(ORDER_TAGGED, actor=actor, subject=order.ref_id, facts={"tag": name})
        return True


def remove_tag(order: Order, name: str, *, actor: User) -> None:
    """Take a tag off the order; nothing happens if it does not have it."""
    with transaction.atomic():
        Order.objects.select_for_update(of=("self",), no_key=True).only("pk").get(pk=order.pk)
        tag = order.tags.filter(name=name).first()
        if tag:
            order.tags.remove(tag)
            record(ORDER_TAG_REMOVED, actor=actor, subject=order.ref_id, facts={"tag": name})
