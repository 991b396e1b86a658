"""The parts of `./run`: it installs, starts, watches and stops the backoffice. Django never runs in here.

`commands` reads the command line and `installing` fetches what the locks name; `./run` imports these two, and their
imports, before anything is installed: standard library only. Then the module of the command (`serving`, `calling`,
`status`, `upgrading`, `resetting`, `backing_up`, `restoring`, …) does the work. Below them: `stack` has the services
around the app, `embedded` is PostgreSQL and Valkey, `processes` starts children that never outlive the launcher.
The launcher collects garbage as rarely as the app does: see `backoffice/__init__.py`.
"""

import atexit
import gc
import tomllib
from pathlib import Path

gc.set_threshold(20_000, 20)
atexit.register(gc.freeze)

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin/python"  # the one that the app runs on


def version() -> str:
    """The version of the code that lies here now."""
    return str(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"])
