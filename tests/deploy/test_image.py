"""What goes into the image holds what the pages use; deploy/try_image.py runs the image itself."""

import importlib.util
import re
from fnmatch import fnmatch
from pathlib import Path

from django.conf import settings

from core import static_files
from launcher import ROOT

spec = importlib.util.spec_from_file_location("slim_image", ROOT / "deploy/slim_image.py")
slim_image = importlib.util.module_from_spec(spec)
spec.loader.exec_module(slim_image)


def test_each_file_of_the_pages_goes_into_the_image():
    used = {
        path.relative_to(settings.NODE_MODULES).as_posix()
        for _, folder in (source for source in settings.STATICFILES_DIRS if isinstance(source, tuple))
        if folder.is_relative_to(settings.NODE_MODULES)
        for path in Path(folder).iterdir()
        if not any(fnmatch(path.name, pattern) for pattern in static_files._NOT_USED)
    }

    assert used == slim_image.PAGES_USE


def test_each_icon_of_the_templates_goes_into_the_image():
    gone = {path.stem for path in slim_image.front_end(ROOT / "node_modules") if "icons/outline/" in path.as_posix()}
    templates = "\n".join(path.read_text() for path in ROOT.glob("templates/**/*.html"))

    assert len(gone) > 3000
    assert not gone & set(re.findall(r'\{% icon "([a-z0-9-]+)"', templates))
