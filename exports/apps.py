"""The exports room: lists as files, made by the worker."""

from django.apps import AppConfig


class ExportsConfig(AppConfig):
    name = "exports"
