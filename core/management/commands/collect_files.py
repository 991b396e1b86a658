"""`manage.py collect_files`: make the files that pages name by their hash, compressed."""

from typing import Any

from django.core.management.base import BaseCommand

from core.static_files import collect_files


class Command(BaseCommand):
    """Collects the pages' files when one of them has changed."""

    help = "Collect and compress the style sheets, scripts, pictures and sounds of the pages when one has changed."

    def handle(self, *args: Any, **options: Any) -> None:
        collect_files()
