"""The roof: settings, addresses and processes.

Every process of the app imports this first, so that Python collects garbage less often. Loading creates a million
objects that stay; Python would search all of them repeatedly, and again at exit: a quarter of a start. Most objects
of a page need no search: Python frees them at once, when nothing refers to them.
"""

import atexit
import gc

gc.set_threshold(20_000, 20)  # new objects before the young ones are searched; such searches before older ones are
atexit.register(gc.freeze)  # the memory of a process ends with it
