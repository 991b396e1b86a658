"""The pages' style sheets, scripts, pictures and sounds: each name has a hash, so that a browser keeps it for years.

`manage.py collect_files` writes them, compressed, into STATIC_ROOT; every start calls it. Until it has run, as in the
tests, the files are served under their own names from where they lie.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.files.base import File
from django.core.management import call_command
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.storage import CompressedManifestStaticFilesStorage

# Files of the packages besides the three that the pages use.
_NOT_USED = [
    *("tabler-*", "tabler.[!m]*", "htmx.[!m]*", "ext", "*.map", "*.gz"),
    *("receipt-printer-encoder.[!u]*",),
]


class PageFiles(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Knows the hashed name of each collected file; another file keeps its name, and the page still works."""

    patterns = ()  # no file of ours names another one

    def stored_name(self, name: str) -> str:
        hashed: str = self.hashed_files.get(self.hash_key(self.clean_name(name)), name)
        return hashed


class PageFilesMiddleware(WhiteNoiseMiddleware):  # type: ignore[misc]
    """Serves the files. A page that stayed open may ask for another version's name; it gets the present file."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """The file, or the answer of the rest of the app."""
        path = request.path_info
        if path.startswith(self.static_prefix) and path not in self.files:
            name = path.removeprefix(self.static_prefix)
            for known in (name, self.get_name_without_hash(name)):
                if (present := staticfiles_storage.url(known)) in self.files:
                    return redirect(present)
        answer: HttpResponseBase = super().__call__(request)
        return answer


def collect_files() -> None:
    """Collect the files if one is missing or has changed; those of earlier versions stay.

    If a power cut has left empty files, all are made again.
    """
    folder = Path(settings.STATIC_ROOT)
    if any(path.is_file() and path.stat().st_size == 0 for path in folder.rglob("*")):
        shutil.rmtree(folder)
    storage = PageFiles()
    if all(_is_there(storage, name, file) for name, file in _files()):
        return
    call_command("collectstatic", interactive=False, verbosity=0, ignore_patterns=_NOT_USED)


def _files() -> Iterator[tuple[str, File[bytes]]]:
    for finder in get_finders():
        for path, source in finder.list(_NOT_USED):
            with source.open(path) as file:
                yield f"{source.prefix}/{path}" if source.prefix else path, file


def _is_there(storage: PageFiles, name: str, file: File[bytes]) -> bool:
    hashed: str = storage.hashed_name(name, file)
    return storage.stored_name(name) == hashed and bool(storage.exists(hashed))
