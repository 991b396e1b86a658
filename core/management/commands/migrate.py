"""`manage.py migrate`: Django's, without the words of fields (`core.schema`), and at once on an empty database.

Each start calls it. Where every migration has run, Django would still make the classes of all models of the migrations,
twice, which takes a third of a second: a quiet call leaves them out.
"""

from typing import Any

from django.core.management.base import CommandParser, no_translations
from django.core.management.commands import migrate
from django.core.management.sql import emit_post_migrate_signal
from django.db import DEFAULT_DB_ALIAS

from core.schema import WordlessAutodetector, can_make_tables, has_run_all, make_tables

# With one of these only a part is migrated, or nothing.
_PARTS = ("app_label", "fake", "fake_initial", "plan", "check_unapplied", "prune")


class Command(migrate.Command):
    autodetector = WordlessAutodetector

    def add_arguments(self, parser: CommandParser) -> None:
        """Django's, and one that runs each migration also where the tables could be made at once."""
        super().add_arguments(parser)
        parser.add_argument("--each", action="store_true", help="Run each migration, also on an empty database.")

    def handle(self, *args: Any, **options: Any) -> None:
        """Make the tables of an empty database at once; then run the migrations that are left."""
        is_whole = options["database"] == DEFAULT_DB_ALIAS and not any(options[part] for part in _PARTS)
        if is_whole and not options["each"] and can_make_tables():
            make_tables()
        elif is_whole and not options["verbosity"] and not options["run_syncdb"] and has_run_all():
            self._follow(**options)
            return
        super().handle(*args, **options)

    @staticmethod
    @no_translations
    def _follow(*, verbosity: int, interactive: bool, database: str, **_: Any) -> None:
        """Make the content types and rights that an earlier call did not make because it was cut off."""
        emit_post_migrate_signal(verbosity, interactive, database, plan=[])
