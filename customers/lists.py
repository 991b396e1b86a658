"""The parts of the list of customers."""

from django.utils.translation import gettext_lazy as _, ngettext_lazy

from core.rights import Right
from customers.filters import CustomerFilter
from customers.models import Customer, CustomerQuerySet
from customers.tables import CustomerTable
from exports.listing import Listing, counted

CUSTOMERS = Listing(
    name="customers",
    page="customer",
    words=_("Customers"),
    template="customers/customer_list.html",
    rights=(Right.VIEW_CUSTOMERS,),
    file_rights=(Right.VIEW_SHIFTS,),  # a file holds everybody at once
    table=CustomerTable,
    find=lambda query, _person: CustomerFilter(query, queryset=Customer.objects.order_by("name", "pk")),
    for_file=CustomerQuerySet.for_file,
    foot=counted(ngettext_lazy("%(shown)s customer", "%(shown)s customers", "n")),
)
