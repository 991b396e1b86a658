"""The callbacks room: what the upstream tells us unasked."""

from django.apps import AppConfig


class CallbacksConfig(AppConfig):
    name = "callbacks"
