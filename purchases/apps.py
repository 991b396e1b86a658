"""The purchases room: the catalogue and the orders."""

from django.apps import AppConfig


class PurchasesConfig(AppConfig):
    name = "purchases"
