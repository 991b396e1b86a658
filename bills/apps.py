"""The bills room: checking bills, and paying them as orders."""

from django.apps import AppConfig


class BillsConfig(AppConfig):
    name = "bills"
