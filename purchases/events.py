"""Acts on orders, as audit events."""

from django.utils.translation import gettext_lazy as _

from audit.events import Event

ORDER_NOTED = Event("order_noted", _("Note written"), about="order")
ORDER_TAGGED = Event("order_tagged", _("Tag put on an order"), about="order")
ORDER_TAKEN_IN = Event("order_taken_in", _("Order taken in after a restore"), about="order")
ORDER_TAG_REMOVED = Event("order_tag_removed", _("Tag removed from an order"), about="order")
PRINTED = Event("printed", _("Printed"), about="order")
FULL_NUMBER_SEEN = Event("full_number_seen", _("Full number shown"), about="order")
