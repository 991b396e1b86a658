"""Reading files of the bank, and matching their rows with the books."""

from bank.services.by_hand import match_by_hand, set_aside, take_match_away
from bank.services.items import Item, items_near
from bank.services.matching import MOST_APART, match_rows
from bank.services.reading import kept_columns, read_file, take_back
