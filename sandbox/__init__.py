"""The sandbox: an upstream of our own. It collects garbage as rarely as the app does: see `backoffice/__init__.py`."""

import atexit
import gc

gc.set_threshold(20_000, 20)
atexit.register(gc.freeze)
