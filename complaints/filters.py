"""The filters of the list of complaints; they live in the URL."""

from typing import Any

import django_filters
from django.db.models import QuerySet
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _, pgettext_lazy

from branches.filters import BranchFilter, InBranches
from complaints.models import Complaint, State
from core.filters import DaysFilter, KeyFilter, SinceFilter, UntilFilter
from customers.models import Customer
from purchases.filters import OfOrderFilter, for_customer, sees_customers
from purchases.models import Order
from staff.models import User

_ALL = "all"


class ComplaintFilter(OfOrderFilter, InBranches):
    """Complaints by order or number, customer, state, branch and the day of opening; without a state those not closed.

    `person` filters by customer only with the rights for which the list of orders does.
    """

    seldom = ("customer",)
    is_compact = True

    state = django_filters.ChoiceFilter(
        method="in_state",
        label=_("State"),
        empty_label=pgettext_lazy("complaint", "Not closed"),
        choices=[*State.choices, (_ALL, _("Every state"))],
    )
    branch = BranchFilter(field_name="order__payment__branch")
    days = DaysFilter(field_name="opened_at")
    since = SinceFilter(field_name="opened_at", label=_("From"))
    until = UntilFilter(field_name="opened_at", label=_("To"))
    customer = KeyFilter(method="of_customer", label=_("Customer"))

    class Meta:
        model = Complaint
        fields: list[str] = []

    def __init__(self, query: QueryDict, *, person: User, **kwargs: Any) -> None:
        super().__init__(query, **kwargs)
        if not sees_customers(person):
            del self.form.fields["customer"]

    def in_words(self, name: str, value: str) -> str:
        """The value of this filter as people read it; a customer by name."""
        customer = Customer.objects.filter(pk=value).first() if name == "customer" else None
        return customer.name if customer else super().in_words(name, value)

    def of_customer(self, complaints: QuerySet[Complaint], _name: str, customer: int) -> QuerySet[Complaint]:
        """The complaints about the orders of this customer's page."""
        return complaints.filter(order__in=for_customer(Order.objects.all(), customer).values("pk"))

    @property
    def is_by_due(self) -> bool:
        """Whether the list shows only open complaints, sorted by due time."""
        return self._state not in {State.CLOSED, _ALL}

    @property
    def qs(self) -> QuerySet[Complaint]:
        """The open complaints, unless another state is asked for."""
        complaints: QuerySet[Complaint] = super().qs
        return complaints.exclude(state=State.CLOSED) if self.is_by_due else complaints

    @property
    def _state(self) -> str:
        return "" if self.form.errors.get("state") else str(self.form["state"].value() or "")

    def in_state(self, complaints: QuerySet[Complaint], _name: str, state: str) -> QuerySet[Complaint]:
        """The complaints in this state, or all."""
        return complaints if state == _ALL else complaints.filter(state=state)
