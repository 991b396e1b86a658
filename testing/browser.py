"""Finds the browser of this machine that tests and programs drive."""

import shutil

# The first is Chromium without windows. It shows the same pages for less of the processor's time.
_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def find_browser() -> str | None:
    """The path of an installed Chromium; None when there is none."""
    return next((path for name in _NAMES if (path := shutil.which(name))), None)
