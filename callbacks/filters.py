"""The filters of the callbacks' list; they live in the URL."""

import django_filters
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from callbacks.models import Callback, CallbackQuerySet, CallbackState
from core.filters import ListFilter, SearchFilter
from core.search import found_by


class CallbackFilter(ListFilter):
    """Callbacks by the beginning of the ref_id or delivery id, and by state."""

    q = SearchFilter(label=_("ref_id or delivery id"))
    state = django_filters.ChoiceFilter(label=_("State"), empty_label=_("Every state"), choices=CallbackState.choices)

    def search(self, callbacks: CallbackQuerySet, _name: str, text: str) -> CallbackQuerySet:
        """The callbacks whose ref_id or delivery id begins with `text`."""
        every = Callback.objects.all()
        begins = [Q(ref_id__startswith=text), Q(ref_id__startswith=text.upper()), Q(delivery_id__startswith=text)]
        return callbacks.filter(found_by(*map(every.filter, begins), time_field="received_at"))
