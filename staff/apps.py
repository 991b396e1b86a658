"""The staff room: who works here, what they may do, how they like their pages."""

from django.apps import AppConfig


class StaffConfig(AppConfig):
    name = "staff"
