"""The catalogue room."""

from django.apps import AppConfig


class CatalogueConfig(AppConfig):
    name = "catalogue"
