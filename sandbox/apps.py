"""The Django application of the sandbox."""

from django.apps import AppConfig


class SandboxConfig(AppConfig):
    """Stand-in of the upstream service: wire, account, callbacks, dashboard."""

    name = "sandbox"
    verbose_name = "Sandbox"
