"""The cashier's text, and its possible meanings. It places nothing: that is `purchases` and `bills`."""

from counter.services.choosing import TILES, Choice, Past, can_be_sold, read_choice
from counter.services.typed import Shelf, Typed
