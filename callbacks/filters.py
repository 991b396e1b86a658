"""The filters of the callbacks' list; they live in the URL."""

from __future__ import annotations

import django_filters
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from callbacks.models import CallbackQuerySet, CallbackState
from core.filters import ListFilter, SearchFilter


class CallbackFilter(ListFilter):
    """Callbacks by the beginning of the ref_id or delivery id, and by state."""

    q = SearchFilter(label=_("ref_id or delivery id"))
    state = django_filters.ChoiceFilter(label=_("State"), empty_label=_("Every state"), choices=CallbackState.choices)

    def search(self, callbacks: CallbackQuerySet, _name: str, text: str) -> CallbackQuerySet:
        """Those that `text` begins to name."""
        return callbacks.filter(Q(ref_id__istartswith=text) | Q(delivery_id__istartswith=text))
