"""The gateway room."""

from django.apps import AppConfig


class GatewayConfig(AppConfig):
    name = "gateway"
