"""Acts on customers, as audit events."""

from django.utils.translation import gettext_lazy as _

from audit.events import Event

CUSTOMER_ERASED = Event("customer_erased", _("Customer erased"))
CUSTOMERS_IMPORTED = Event("customers_imported", _("Customers imported"), about="customer_list")
CUSTOMERS_MERGED = Event("customers_merged", _("Customers merged"))
