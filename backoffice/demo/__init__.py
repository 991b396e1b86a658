"""A new demo is a shop as it looks after a month. The real services make it, in the sandbox's time, on empty books."""

from backoffice.demo.furnishing import set_prices
from backoffice.demo.month import live_a_month

__all__ = ["live_a_month", "set_prices"]
