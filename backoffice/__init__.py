"""The roof: settings, addresses and processes.

Every process of the app imports this first, and so looks for garbage less often. Loading makes a million objects that
stay; Python would search them all again and again, and once more at the end: a quarter of a start. Most of what a page
leaves behind needs no search: it goes at once, by its count of references.
"""

import atexit
import gc

gc.set_threshold(20_000, 20)  # new objects until a look at the young ones; such looks until one at the older ones
atexit.register(gc.freeze)  # the memory of a process ends with it
