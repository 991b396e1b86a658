"""The counter as its page shows it: the offers of the field (`tiles`), and the parts next to it (`strip`)."""

from counter.presenting.strip import Row, read_pills_and_strip
from counter.presenting.tiles import STARTS, Tile, first_tiles, in_fours, tabs_of, tiles_of, tiles_of_today
