"""The project as a Django app: it makes the Celery app known and checks the configuration."""

from django.apps import AppConfig


class BackofficeConfig(AppConfig):
    name = "backoffice"

    def ready(self) -> None:
        """Load the Celery app, so that `shared_task` and `.delay()` use our broker, and register the checks."""
        from backoffice import celery, checks  # noqa: F401, PLC0415 - both need the apps
