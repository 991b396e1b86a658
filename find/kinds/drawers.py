"""The shop's drawers by name, each with the person who has it open."""

from collections.abc import Iterator
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _

from branches.seeing import names_branches, narrowed
from branches.services import branch_name
from core.search import words_of, words_that_begin
from core.times import short_time
from drawers.models import Drawer, Shift
from find.kinds.asked import Asked
from find.kinds.kind import Result


def drawers(asked: Asked) -> Iterator[Result]:
    """The drawers that it names, and their shifts; drawers in use first."""
    if not asked.may_name_in_part:
        return
    seen = narrowed(Drawer.objects.alias(in_name=words_of("name"))).filter(in_name=words_that_begin(asked.text))
    rows = list(seen.order_by("-is_active", "name", "pk")[: asked.most])
    open_shifts = Shift.objects.filter(drawer__in=rows, closed_at=None).select_related("cashier") if rows else ()
    shifts = {shift.drawer_id: shift for shift in open_shifts}
    for drawer in rows:
        branch = branch_name(drawer.branch_id) if names_branches() else ""
        yield Result(
            url=f"{reverse('shift_list')}?{urlencode({'drawer': drawer.pk})}",
            words=drawer.name,
            more=" · ".join(filter(None, [branch, _state(drawer, shifts.get(drawer.pk))])),
            icon="cash-register",
        )


def _state(drawer: Drawer, shift: Shift | None) -> str:
    if shift is not None:
        facts = {"name": shift.cashier.shown_name, "at": short_time(shift.opened_at)}
        return _("%(name)s since %(at)s") % facts
    return _("No open shift") if drawer.is_active else _("Not in use")
