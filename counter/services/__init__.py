"""The cashier's text, and its possible meanings. Nothing is placed here: `purchases` and `bills` do that."""

from counter.services.choosing import TILES, Choice, Past, can_be_sold, read_choice
from counter.services.typed import Shelf, Typed
