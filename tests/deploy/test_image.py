"""The image's files include all files that the pages use; deploy/try_image.py runs the image itself."""

import importlib.util
import os
import re
import subprocess
from fnmatch import fnmatch
from importlib.metadata import packages_distributions
from pathlib import Path

from django.conf import settings

from core import static_files
from launcher import PYTHON, ROOT

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


def test_the_shop_starts_without_the_packages_that_stay_out_of_the_image():
    modules = packages_distributions()
    gone = {
        name for name, made_by in modules.items() if {each.replace("_", "-") for each in made_by} <= slim_image.NOT_RUN
    }
    gone |= {part.replace("/", ".") for part in slim_image.NOT_RUN_PARTS}
    gone |= {twin.partition(".")[0].replace("/", ".") for twin in slim_image.TWINS}
    assert {"obstore", "pip", "pydantic.v1"} <= gone

    start = f"""
import sys
class Gone:
    def find_spec(self, name, path=None, target=None):
        if any(f"{{name}}.".startswith(f"{{each}}.") for each in {sorted(gone)}):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Gone())
import django; django.setup()
from backoffice.starting import load_everything
load_everything()
import celery.bin.celery, launcher.calling, launcher.serving, launcher.status
"""
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "backoffice.settings",
        "BACKOFFICE_SANDBOX": "1",
        "SECRET_KEY": "x",
    }
    result = subprocess.run(
        [PYTHON, "-c", start], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )

    assert result.returncode == 0, result.stderr[-2000:]


def test_each_package_that_stays_out_of_the_image_is_one_of_the_locks():
    locked = "\n".join(path.read_text() for path in ROOT.glob("requirements*.txt"))
    by_python = {"pip", "setuptools"}

    assert {
        name for name in slim_image.NOT_RUN - by_python if not re.search(rf"^{name}==", locked, re.MULTILINE)
    } == set()
    (packages,) = ROOT.glob(".venv/lib/python*/site-packages")
    assert [part for part in slim_image.NOT_RUN_PARTS if not (packages / part).is_dir()] == []
    assert [twin for twin in slim_image.TWINS if not [*packages.glob(twin)]] == []


def test_the_words_of_both_languages_go_into_the_image():
    (packages,) = ROOT.glob(".venv/lib/python*/site-packages")
    gone = {path.relative_to(packages).as_posix() for path in slim_image.other_languages(packages)}

    kept = [f"babel/locale-data/{name}.dat" for name in ("root", "en", "en_US", "id", "id_ID")]
    kept += [f"django/conf/locale/{name}/LC_MESSAGES/django.mo" for name in ("en", "id")]
    assert not gone & set(kept)
    assert {"babel/locale-data/de.dat", "django/conf/locale/de/LC_MESSAGES/django.mo"} <= gone
