"""`manage.py compile_po`: make the .mo files that Django reads, without gettext's binaries."""

import os
from pathlib import Path
from typing import Any

from babel.messages.mofile import write_mo
from babel.messages.pofile import PoFileError, read_po
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError


class Command(BaseCommand):
    """Compiles each .po whose .mo is missing or older."""

    help = "Compile the translations that changed since they were compiled last."
    requires_system_checks: list[str] = []  # `./run install` calls it with settings of its own, beside those of a shop

    def handle(self, *args: Any, **options: Any) -> None:
        """Compile the stale files; a .po that cannot be read stops with one sentence."""
        for folder in settings.LOCALE_PATHS:
            for po in sorted(Path(folder).glob("*/LC_MESSAGES/*.po")):
                if self._is_stale(po):
                    self._compile(po)
                    if options["verbosity"]:
                        self.stdout.write(f"compiled {po.parent.parent.name}/{po.stem}")

    @staticmethod
    def _is_stale(po: Path) -> bool:
        mo = po.with_suffix(".mo")
        return not mo.exists() or mo.stat().st_mtime_ns < po.stat().st_mtime_ns

    @staticmethod
    def _compile(po: Path) -> None:
        try:
            with po.open("rb") as source:
                catalogue = read_po(source, locale=po.parent.parent.name, abort_invalid=True)
        except (PoFileError, ValueError) as error:
            raise CommandError(f"{po} is not a valid translation file: {error}") from error
        # Written beside and then moved, so that a process that starts meanwhile never reads half a file.
        half = po.with_suffix(f".mo.{os.getpid()}")
        try:
            with half.open("wb") as target:
                write_mo(target, catalogue)
            half.replace(po.with_suffix(".mo"))
        except OSError as error:
            advice = "let the owner of this folder call ./run install, which compiles them"
            raise CommandError(f"Cannot write the translations ({error}): {advice}.") from error
