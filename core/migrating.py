"""Migrations know what the database has, and no words: a new text, help or choice is no migration."""

from __future__ import annotations

from typing import Any

from django.db.migrations.autodetector import MigrationAutodetector
from django.db.migrations.state import ProjectState
from pgtrigger.migrations import MigrationAutodetectorMixin


class WordlessAutodetector(MigrationAutodetectorMixin, MigrationAutodetector):
    """Compares and writes the fields without `choices`, `help_text` and `verbose_name`, and the triggers."""

    def __init__(self, from_state: ProjectState, to_state: ProjectState, *arguments: Any, **options: Any) -> None:
        for state in (from_state, to_state):
            for model in state.models.values():
                for field in model.fields.values():
                    field.choices, field.help_text, field._verbose_name = None, "", None
        super().__init__(from_state, to_state, *arguments, **options)
