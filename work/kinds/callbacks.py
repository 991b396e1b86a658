"""Callbacks that could not be processed."""

import datetime as dt
from collections.abc import Collection
from typing import Any

from django.db.models import F, QuerySet
from django.urls import reverse
from django.utils.translation import gettext_lazy as _, npgettext_lazy, pgettext_lazy

from callbacks.models import Callback, CallbackState
from core.numbers import note_as_seen
from core.rights import Right
from staff.models import User
from work.kinds.kind import Line, Moment, Scope, WorkKind


class Callbacks(WorkKind):
    """Callbacks on which our own code failed. A callback without an order of ours, or not understood, is no work."""

    code = "callback"
    words = _("Callbacks")
    counted = npgettext_lazy("work", "%(n)s callback", "%(n)s callbacks", "n")
    step = pgettext_lazy("work", "Process")
    look = ("webhook", "warn")
    sees = (Right.VIEW_CALLBACKS,)
    does = (Right.PROCESS_CALLBACKS,)
    within = dt.timedelta(hours=1)

    def rows(self, moment: Moment, scope: Scope) -> QuerySet[Any]:
        """Waiting callbacks that were tried before."""
        return Callback.objects.filter(state=CallbackState.RECEIVED, tries__gt=0).annotate(since=F("received_at"))

    def lines(self, keys: Collection[int], person: User) -> dict[int, Line]:
        """The order that the callback names, and its fault."""
        return {
            callback.pk: Line(
                subject=f"{callback.event} {callback.ref_id}".strip() or f"#{callback.pk}",
                url=reverse("callback_detail", args=[callback.pk]),
                about=note_as_seen(callback.fault),
            )
            for callback in Callback.objects.filter(pk__in=keys).defer("body", "headers")
        }
