"""Saved views of a list: the filters of its address under a name."""

from __future__ import annotations

from urllib.parse import parse_qs

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from core.rights import Right
from exports.errors import TooManyViews
from exports.models import SavedView
from staff.models import User

# The row of views stays readable, and each shows a count.
MOST_VIEWS = 8
# Filters that name a customer: their views are their owner's alone.
_PERSONAL = {"q", "ends", "customer"}


def views_of(person: User, list_name: str) -> QuerySet[SavedView]:
    """This person's own views of the list, and those that others share."""
    views = SavedView.objects.filter(Q(owner=person) | Q(is_shared=True), list_name=list_name)
    return views.exclude(name="").select_related("owner")


def may_share(person: User) -> bool:
    """Whether this person's views may be for everybody: of those who see what all sold."""
    return person.has_perm(Right.VIEW_SHIFTS)


def columns_of(person: User, list_name: str) -> str:
    """The names of the columns that this person has chosen for the list, in their order; empty for the usual ones."""
    chosen = SavedView.objects.filter(owner=person, list_name=list_name, name="").first()
    return chosen.query if chosen else ""


def keep_columns(person: User, list_name: str, names: str) -> None:
    """Show this person these columns of the list from now on; the usual ones for none."""
    if names:
        SavedView.objects.update_or_create(owner=person, list_name=list_name, name="", defaults={"query": names})
    else:
        SavedView.objects.filter(owner=person, list_name=list_name, name="").delete()


def save_view(*, owner: User, list_name: str, name: str, query: str, is_shared: bool) -> None:
    """Keep the filters under this name, in the place of an own view of the same name. Raises `TooManyViews`.

    A view that names a customer is never shared.
    """
    with transaction.atomic():
        User.objects.select_for_update(of=("self",), no_key=True).get(pk=owner.pk)
        own = SavedView.objects.filter(owner=owner, list_name=list_name).exclude(name="")
        if own.exclude(name=name).count() >= MOST_VIEWS:
            raise TooManyViews(_("You have %(most)s saved views. Remove one first.") % {"most": MOST_VIEWS})
        is_shared = is_shared and may_share(owner) and not _PERSONAL & parse_qs(query).keys()
        facts = {"query": query, "is_shared": is_shared}
        SavedView.objects.update_or_create(owner=owner, list_name=list_name, name=name, defaults=facts)
