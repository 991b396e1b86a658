"""Settings of the yardstick of benchmarks/callbacks.py: a DRF project that only inserts.

Its one middleware sets the length of an answer; without a length the server ends the connection after each answer.
"""

from backoffice.settings import DATABASES, LOGGING

__all__ = ["DATABASES", "LOGGING"]

SECRET_KEY = "only-for-benchmarks"  # noqa: S105 - it guards nothing
ALLOWED_HOSTS = ["127.0.0.1"]
INSTALLED_APPS = ["rest_framework"]
MIDDLEWARE = ["django.middleware.common.CommonMiddleware"]
ROOT_URLCONF = "benchmarks.bare_view"
TRUSTED_PROXY_COUNT = 0
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [],
    "DEFAULT_PERMISSION_CLASSES": [],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "UNAUTHENTICATED_USER": None,
}
