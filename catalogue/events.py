"""Changes of prices and kinds of numbers, as audit events."""

from django.utils.translation import gettext_lazy as _

from audit.events import Event

PRICE_RULE_CHANGED = Event("price_rule_changed", _("Selling prices changed"), about="price_rule")
NUMBER_KIND_CHANGED = Event("number_kind_changed", _("Kind of numbers changed"))
PUBLIC_PRICES_CHANGED = Event("public_prices_changed", _("Public price list changed"))
