"""The cashier's text, and its possible meanings. Nothing is placed here: `purchases` and `bills` do that."""

from counter.services.choosing import Choice, can_be_sold, read_choice
from counter.services.typed import Shelf, Typed
