"""The balance room: what we know of our account at the upstream."""

from django.apps import AppConfig


class BalanceConfig(AppConfig):
    name = "balance"
