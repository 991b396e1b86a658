"""Settings of the sandbox, the stand-in of the upstream service, all read from the environment.

It shares nothing with the backoffice: it has its own process, port, database, cookies and secrets. It is a test
service for this machine: it answers on loopback only and holds no real money.
"""

import logging
from typing import Any

from csp.constants import NONE, SELF
from django.core.management.utils import get_random_secret_key
from environs import Env

env = Env()

DEBUG = False
# It signs only the dashboard's cookies, so a new key at each start loses only open forms.
SECRET_KEY = env.str("SANDBOX_SECRET_KEY", "") or get_random_secret_key()
ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]"]

INSTALLED_APPS = ["django.contrib.messages", "django.contrib.staticfiles", "django.contrib.humanize", "sandbox"]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "sandbox.dashboard_token.DashboardTokenMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    # checks the host's name, and sets Content-Length, without which no connection stays open
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
ROOT_URLCONF = "sandbox.urls"
# A path of the wire is exact: "/v1/balance/" is another path, never a redirect.
APPEND_SLASH = False
TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]

# A pool, because the server has a thread per connection, and most threads wait for their next request.
_database = env.dj_db_url("SANDBOX_DATABASE_URL", "postgresql://127.0.0.1:5432/sandbox")
DATABASES = {
    "default": {
        **_database,
        "CONN_MAX_AGE": 0,
        "OPTIONS": {**_database.get("OPTIONS", {}), "pool": {"min_size": 1, "max_size": 12, "timeout": 10}},
    }
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

LANGUAGE_CODE = "en"
USE_I18N = False
USE_TZ = True
TIME_ZONE = "Asia/Jakarta"
USE_THOUSAND_SEPARATOR = False

STATIC_URL = "static/"
WHITENOISE_USE_FINDERS = True

# Cookies ignore the port: without its own name, the backoffice on the same host would get this cookie.
CSRF_COOKIE_NAME = "sandbox_csrf"
CSRF_COOKIE_HTTPONLY = True
MESSAGE_STORAGE = "django.contrib.messages.storage.cookie.CookieStorage"
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "img-src": [SELF, "data:"],
        "object-src": [NONE],
        "base-uri": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "filters": {"faults": {"()": "django.utils.log.CallbackFilter", "callback": lambda record: bool(record.exc_info)}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": env.log_level("LOG_LEVEL", logging.INFO)},
    # refusals are normal here and shown in the list of requests: log only exceptions
    "loggers": {"django.request": {"filters": ["faults"]}},
}

# --- The service's own ------------------------------------------------------------------------------------------

# People with this token may open the dashboard and use the control API; without one, everybody on this machine may.
SANDBOX_TOKEN = env.str("SANDBOX_TOKEN", "")
# Every delay of the sandbox is divided by this.
SANDBOX_SPEED = env.float("SANDBOX_SPEED", 1.0)
if SANDBOX_SPEED < 0.01:
    raise SystemExit("SANDBOX_SPEED must be 0.01 or more: every delay of the sandbox is divided by it.")
# Whether PLN products have their nightly cut-off.
SANDBOX_CUT_OFF = env.bool("SANDBOX_CUT_OFF", True)
# Seconds from a failed callback attempt to the next one; after the last it gives up.
SANDBOX_CALLBACK_SCHEDULE: list[float] = env.list(
    "SANDBOX_CALLBACK_SCHEDULE", [60.0, 300.0, 1800.0, 7200.0], subcast=float
)
SANDBOX_CALLBACK_TIMEOUT = 10.0
# Requests per sliding window (document, Limits), and the window in seconds.
SANDBOX_LIMITS: dict[str, int] = {"ip": 300, "account": 120, "products": 6}
SANDBOX_LIMITS |= env.dict("SANDBOX_LIMITS", {}, subcast_values=int)
SANDBOX_LIMIT_WINDOW = env.float("SANDBOX_LIMIT_WINDOW", 60.0)
# What `seed_sandbox` gives a new account; the balance in whole rupiah.
SANDBOX_SECRET_ID = env.str("SANDBOX_SECRET_ID", "")
SANDBOX_SECRET_KEY_UPSTREAM = env.str("SANDBOX_SECRET_KEY_UPSTREAM", "")
SANDBOX_CALLBACK_URL = env.str("SANDBOX_CALLBACK_URL", "")
SANDBOX_OPENING_BALANCE = env.int("SANDBOX_OPENING_BALANCE", 10_000_000)
