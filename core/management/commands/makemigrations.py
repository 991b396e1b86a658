"""`manage.py makemigrations`: Django's, without the words of fields (`core.schema`)."""

from django.core.management.commands import makemigrations

from core.schema import WordlessAutodetector


class Command(makemigrations.Command):
    autodetector = WordlessAutodetector
