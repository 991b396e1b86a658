"""The filters of the workbench's lists; they live in the URL."""

import django_filters
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from audit.events import event_choices
from audit.models import AuditEvent
from branches.filters import BranchFilter, InBranches
from core.filters import DaysFilter, ListFilter, SearchFilter, SinceFilter, UntilFilter
from core.search import found_by
from gateway.models import Exchange, ExchangeQuerySet
from purchases.models import Order
from staff.models import User
from workbench.presenting.exchanges import ENDPOINT_WORDS

# At most this many people who match a name are searched for.
_MOST_PEOPLE = 20
ANSWERED, FAILED = "answer", "error"


class ExchangeFilter(ListFilter):
    """Exchanges by ref_id or trx_id, endpoint, outcome, error and day."""

    seldom = ("error",)

    q = SearchFilter(label=_("ref_id or trx_id"))
    endpoint = django_filters.ChoiceFilter(
        label=_("Request"),
        empty_label=_("Every request"),
        choices=[(endpoint.value, words) for endpoint, words in ENDPOINT_WORDS.items()],
    )
    outcome = django_filters.ChoiceFilter(
        method="with_outcome",
        label=_("Outcome"),
        empty_label=_("Every outcome"),
        choices=[(ANSWERED, _("Answered")), (FAILED, _("Errors"))],
    )
    error = django_filters.CharFilter(method="with_error", label=_("Error"), max_length=140)
    since = SinceFilter(field_name="sent_at", label=_("From"))
    until = UntilFilter(field_name="sent_at", label=_("To"))

    def search(self, exchanges: ExchangeQuerySet, _name: str, text: str) -> ExchangeQuerySet:
        """The exchanges about one order or bill check; its ref_id may be typed in lower case."""
        plain = text.strip()
        orders = Order.objects.filter(trx_id__iexact=plain).values("ref_id")[:10]
        every = Exchange.objects.all()
        ways = [every.of_order(plain), every.of_order(plain.upper()), every.filter(ref_id__in=orders, ref_id__gt="")]
        return exchanges.filter(found_by(*ways, time_field="sent_at"))

    def with_outcome(self, exchanges: ExchangeQuerySet, _name: str, outcome: str) -> ExchangeQuerySet:
        """The exchanges with a usable answer, or those without."""
        return exchanges.errors() if outcome == FAILED else exchanges.filter(error="")

    def with_error(self, exchanges: ExchangeQuerySet, _name: str, error: str) -> ExchangeQuerySet:
        """The exchanges of one group of errors."""
        return exchanges.errors().filter(error=error)


class AuditFilter(InBranches):
    """The activity log by person, the person's branch, action, order (or another subject) and day."""

    is_compact = True

    q = SearchFilter(label=_("ref_id, user name or list"), max_length=200)
    person = django_filters.CharFilter(method="by_person", label=_("Name or user name"), max_length=150)
    kind = django_filters.ChoiceFilter(label=_("Action"), empty_label=_("Every action"), choices=event_choices)
    branch = BranchFilter(method="by_branch")
    days = DaysFilter(field_name="at")
    since = SinceFilter(field_name="at", label=_("From"))
    until = UntilFilter(field_name="at", label=_("To"))

    def search(self, events: QuerySet[AuditEvent], _name: str, text: str) -> QuerySet[AuditEvent]:
        """The events about this subject; a ref_id may be typed in lower case."""
        return events.filter(subject__in={text.strip(), text.strip().upper()})

    def by_branch(self, events: QuerySet[AuditEvent], _name: str, branch: str) -> QuerySet[AuditEvent]:
        """The events of the people who belong to this branch now."""
        return events.filter(person__in=list(User.objects.filter(branch=branch).values_list("pk", flat=True)))

    def by_person(self, events: QuerySet[AuditEvent], _name: str, name: str) -> QuerySet[AuditEvent]:
        """The events of the person with this user name, or of the people whose name contains it, in any case."""
        typed = name.strip()
        keys = list(User.objects.filter(username__iexact=typed).values_list("pk", flat=True)[:1]) or list(
            User.objects.matching(typed).values_list("pk", flat=True)[:_MOST_PEOPLE]
        )
        # Equality for one person: then the index also gives the newest first.
        return events.filter(person=keys[0]) if len(keys) == 1 else events.filter(person__in=keys)
