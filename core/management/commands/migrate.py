"""`manage.py migrate`: Django's, without the words of fields (`core.migrating`)."""

from django.core.management.commands import migrate

from core.migrating import WordlessAutodetector


class Command(migrate.Command):
    autodetector = WordlessAutodetector
