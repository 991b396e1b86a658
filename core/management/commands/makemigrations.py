"""`manage.py makemigrations`: Django's, without the words of fields (`core.migrating`)."""

from django.core.management.commands import makemigrations

from core.migrating import WordlessAutodetector


class Command(makemigrations.Command):
    autodetector = WordlessAutodetector
