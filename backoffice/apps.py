"""The project as a Django app: it makes the Celery app known and checks the configuration."""

from types import ModuleType

from django.apps import AppConfig

from core.triggers import install_registry


class BackofficeConfig(AppConfig):
    name = "backoffice"

    def __init__(self, app_name: str, app_module: ModuleType | None) -> None:
        super().__init__(app_name, app_module)
        install_registry()  # every app gets here before any model is loaded

    def ready(self) -> None:
        """Load the Celery app, so that `shared_task` and `.delay()` use our broker, and register the checks."""
        from backoffice import celery, checks  # noqa: F401, PLC0415 - both need the apps
