"""Settings of the backoffice, all of them, read from the environment (and `.env`).

`.env.example` and docs/settings.md list every variable with its meaning. Secrets have no defaults: the launcher
generates throw-away ones for the sandbox only, and the checks in `backoffice/checks.py` refuse to start without them.
"""

import logging
import os
import re
import socket
from pathlib import Path
from typing import Any

import pghistory
from csp.constants import NONCE, NONE, SELF

from backoffice import version
from backoffice.environment import Environment
from backoffice.log_privacy import without_query_in_report
from backoffice.logs import keep_events, keep_last_words, logging_from
from policies.bounds import BOUNDS

BASE_DIR = Path(__file__).resolve().parent.parent
VERSION = version.VERSION

# NAME_FILE names a file that holds the value of NAME: Docker, Kubernetes and systemd pass secrets this way.
env = Environment(strip_whitespace=True)
env.read_env(str(BASE_DIR / ".env"), recurse=False)

DATA_DIR = Path(env.str("BACKOFFICE_DATA", str(BASE_DIR / ".data")))
DEBUG = env.bool("DEBUG", False)
SECRET_KEY = env.str("SECRET_KEY", "")
# Former keys: they still open what they signed and sealed (docs/security.md, "Changing a key").
SECRET_KEY_FALLBACKS: list[str] = env.list("SECRET_KEY_FALLBACKS", [])
ALLOWED_HOSTS: list[str] = env.list("ALLOWED_HOSTS", [])
CSRF_TRUSTED_ORIGINS: list[str] = env.list("CSRF_TRUSTED_ORIGINS", [])

# True when `./run` started the sandbox as the upstream: a bar says so on every page, demo staff may exist.
SANDBOX = env.bool("BACKOFFICE_SANDBOX", False)
SANDBOX_URL = env.str("SANDBOX_URL", "")
SANDBOX_DASHBOARD_URL = env.str("SANDBOX_DASHBOARD_URL", "")

# The shop's name until a person saves the page "Shop". Authenticator apps and passkeys always show this name.
SHOP_NAME = env.str("SHOP_NAME", "Toko Kita")

# --- Django -------------------------------------------------------------------------------------------------

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django.contrib.postgres",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "csp",
    "django_filters",
    "django_htmx",
    "django_structlog",
    "pghistory",
    "pgtrigger",
    "rest_framework",
    "template_partials",
    "backoffice",
    "core",
    "audit",
    "policies",
    "branches",
    "staff",
    "shop",
    "approvals",
    "gateway",
    "ledger",
    "catalogue",
    "customers",
    "purchases",
    "bills",
    "dues",
    "reconciliation",
    "alerts",
    "callbacks",
    "exports",
    "workbench",
    "tills",
    "credit",
    "drawers",
    "counter",
    "batches",
    "complaints",
    "earnings",
    "bank",
    "work",
    "find",
]

MIDDLEWARE = [
    "core.measures.PageTimeMiddleware",
    "core.connections.ConnectionMiddleware",
    "core.health.HealthMiddleware",
    "backoffice.metrics.MetricsMiddleware",
    "core.middleware.NoNulMiddleware",
    "backoffice.tls_only.TlsOnlyMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "callbacks.middleware.CallbackMiddleware",
    "core.middleware.BrowserPolicyMiddleware",
    "core.static_files.PageFilesMiddleware",
    "core.compression.CompressionMiddleware",
    "csp.middleware.CSPMiddleware",
    "core.bidi.VisibleBidiMiddleware",
    "core.middleware.FormAddressMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "core.numbers.NumbersMiddleware",
    "branches.seeing.OwnBranchMiddleware",
    "staff.middleware.LanguageOfPersonMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "staff.middleware.OwnerFirstMiddleware",
    "staff.middleware.IdleMiddleware",
    "staff.middleware.FactorFirstMiddleware",
    "core.tracing.RequestLogMiddleware",
    "core.tracing.TraceMiddleware",
    "tills.middleware.TillMiddleware",
    "backoffice.own_branch.BranchDoorMiddleware",
    "approvals.middleware.SecondPersonMiddleware",
]

ROOT_URLCONF = "backoffice.urls"
WSGI_APPLICATION = "backoffice.wsgi.application"

TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "csp.context_processors.nonce",
                "backoffice.context_processors.page",
            ],
            "builtins": ["core.templatetags.ui", "purchases.templatetags.orders"],
        },
    }
]

# Our processes sign in as a role with only the rights that they need (backoffice/database_rights.py). Commands that
# change tables sign in as the tables' owner: manage.py lists them.
DATABASE_OWNER_URL = env.str("DATABASE_OWNER_URL", "") if env.bool("DATABASE_AS_OWNER", False) else ""
if not DATABASE_OWNER_URL:
    os.environ.pop("DATABASE_OWNER_URL", None)  # it may come from .env: a process that serves needs none
_app_database = env.dj_db_url("DATABASE_URL", "postgresql://127.0.0.1:5432/backoffice")
DATABASE_APP_ROLE: str = _app_database["USER"]

DATABASES = {
    "default": {
        **(env.dj_db_url("DATABASE_OWNER_URL") if DATABASE_OWNER_URL else _app_database),
        "ENGINE": "audit.database",
        "CONN_MAX_AGE": 600,
        "CONN_HEALTH_CHECKS": True,
    }
}
_database_options: dict[str, Any] = DATABASES["default"].setdefault("OPTIONS", {})
if env.bool("DATABASE_POOLED", False):
    # A pooler lends a connection for one transaction: nothing may outlive it, and the role itself holds the timeouts.
    DATABASES["default"]["DISABLE_SERVER_SIDE_CURSORS"] = True
else:
    _database_options["prepare_threshold"] = 0  # prepare at the first use, for `cursor_that_keeps_plans`
    # A statement or a lock that lasts longer than this is a fault; it must not hold a worker or a cashier.
    _database_options["options"] = " ".join(
        [
            "-c statement_timeout=30000 -c lock_timeout=10000 -c idle_in_transaction_session_timeout=60000",
            "-c TimeZone=UTC",  # else Django tells the database with a statement of its own
            _database_options.get("options", ""),
        ]
    ).strip()
# A database host that is frozen or gone is noticed, too.
for _name, _value in {"connect_timeout": 5, "tcp_user_timeout": 15_000, "keepalives_idle": 15}.items():
    _database_options.setdefault(_name, _value)
# Copies of rows need no index for each of their foreign keys.
PGHISTORY_FOREIGN_KEY_FIELD = pghistory.ForeignKey(db_index=False)
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Sessions live in PostgreSQL, as all counters of sign-in do, so that a stopped Redis never signs anybody out.
# Parts of the frame that many pages share are kept in each process, under everything that they depend on.
CACHES = {
    "default": {"BACKEND": "django.core.cache.backends.db.DatabaseCache", "LOCATION": "django_cache"},
    "template_fragments": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "TIMEOUT": 3600,
        "OPTIONS": {"MAX_ENTRIES": 1000},
    },
}
SESSION_ENGINE = "staff.sessions"  # Django's, with the person beside each
# A signed cookie when the message fits: in the session it would cost two more writes.
MESSAGE_STORAGE = "django.contrib.messages.storage.fallback.FallbackStorage"

# --- Staff --------------------------------------------------------------------------------------------------

AUTH_USER_MODEL = "staff.User"
AUTHENTICATION_BACKENDS = ["staff.backends.StaffBackend", "tills.backends.PinBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "shop.passwords.PasswordRules"},
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},  # a list of 20,000 known ones
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "overview"
ACCOUNT_ADAPTER = "tills.accounts.AccountsAtTills"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_LOGOUT_ON_GET = False
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_FORMS = {"login": "staff.forms.SignInForm", "change_password": "staff.forms.OwnPasswordForm"}
# Our limits instead of allauth's: ours never keep out a person with a known device or a second factor
# (staff/services/throttle.py).
ACCOUNT_RATE_LIMITS = False
MFA_RATE_LIMITS = False
MFA_ADAPTER = "staff.factor_store.EncryptedFactors"
MFA_TOTP_ISSUER = SHOP_NAME
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]

# Sign-in through a provider of OpenID Connect, when OIDC_ISSUER names one (docs/staff.md).
OIDC_ISSUER = env.str("OIDC_ISSUER", "")
OIDC_CLIENT_ID = env.str("OIDC_CLIENT_ID", "")
OIDC_CLIENT_SECRET = env.str("OIDC_CLIENT_SECRET", "")
OIDC_NAME = env.str("OIDC_NAME", "") or "OpenID Connect"
# The claim of the ID token that holds a person's roles, and the role here for each of its values.
OIDC_CLAIM = env.str("OIDC_CLAIM", "groups")
OIDC_ROLES: dict[str, str] = env.dict("OIDC_ROLES", {})
SOCIALACCOUNT_ADAPTER = "staff.provider.OneProvider"
SOCIALACCOUNT_REQUESTS_TIMEOUT = 5

# SHA-256 of the key that `./run` prints while the shop has no owner; until then only its page answers.
FIRST_KEY_DIGEST = env.str("FIRST_KEY_DIGEST", "")

# --- Language and time ----------------------------------------------------------------------------------------

LANGUAGE_CODE = "id"
LANGUAGES = [("id", "Bahasa Indonesia"), ("en", "English")]  # each in its own words
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = "Asia/Jakarta"

# --- Static files ---------------------------------------------------------------------------------------------

STATIC_URL = "static/"
STATIC_ROOT = DATA_DIR / "static"  # written at each start (core/static_files.py)
NODE_MODULES = BASE_DIR / "node_modules"
STATICFILES_DIRS = [
    BASE_DIR / "static",
    ("vendor/tabler/css", NODE_MODULES / "@tabler/core/dist/css"),
    ("vendor/htmx", NODE_MODULES / "htmx.org/dist"),
    ("vendor/printer", NODE_MODULES / "@point-of-sale/receipt-printer-encoder/dist"),
    ("pictures", BASE_DIR / "docs" / "pictures"),
]
STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
STORAGES = {"staticfiles": {"BACKEND": "core.static_files.PageFiles"}}
WHITENOISE_KEEP_ONLY_HASHED_FILES = True
WHITENOISE_ROOT = BASE_DIR / "static" / "root"  # served without a hash: a worker's address says which pages are its own
WHITENOISE_USE_FINDERS = not (STATIC_ROOT / "staticfiles.json").exists()

# --- Safety of the browser ------------------------------------------------------------------------------------

# Behind TLS in the real installation; the sandbox demo is plain HTTP on loopback.
HTTPS = env.bool("HTTPS", not (SANDBOX or DEBUG))
SESSION_COOKIE_SECURE = HTTPS
DEVICE_COOKIE_NAME = "__Host-device" if HTTPS else "device"
CSRF_COOKIE_SECURE = HTTPS
TILL_COOKIE_NAME = "__Host-till" if HTTPS else "till"
CSRF_FAILURE_VIEW = "backoffice.faults.form_expired"
SECURE_SSL_REDIRECT = HTTPS
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS
SECURE_HSTS_PRELOAD = HTTPS
BEHIND_TLS_PROXY = env.bool("BEHIND_TLS_PROXY", False)
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BEHIND_TLS_PROXY else None
# The prefix makes a browser refuse such a cookie from a neighbouring host, or without TLS.
SESSION_COOKIE_NAME = "__Host-sessionid" if HTTPS else "sessionid"
CSRF_COOKIE_NAME = "__Host-csrftoken" if HTTPS else "csrftoken"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_AGE = 60 * 60 * 12
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF, NONCE],
        "style-src": [SELF, NONCE],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "object-src": [NONE],
        "worker-src": [SELF],
        "manifest-src": [SELF],
        "base-uri": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}
# How many proxies in front of us append to X-Forwarded-For (0: the peer's own address counts).
TRUSTED_PROXY_COUNT = env.int("TRUSTED_PROXY_COUNT", 0)

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "UNAUTHENTICATED_USER": None,
}

# Names this installation among others on the same database, in heartbeats and logs.
INSTALLATION = env.str("INSTALLATION", "") or socket.gethostname()

# --- Redis and Celery -----------------------------------------------------------------------------------------

REDIS_URL = env.str("REDIS_URL", "redis://127.0.0.1:6379/0")
# A frozen Redis must not freeze a cashier: without these, a publish hangs for over a minute.
REDIS_SOCKET_TIMEOUT = 5.0
REDIS_CONNECT_TIMEOUT = 3.0

# --- Upstream ---------------------------------------------------------------------------------------------------

UPSTREAM_BASE_URL = env.str("UPSTREAM_BASE_URL", "")
UPSTREAM_SECRET_ID = env.str("UPSTREAM_SECRET_ID", "")
UPSTREAM_SECRET_KEY = env.str("UPSTREAM_SECRET_KEY", "")
# While the key is exchanged, callbacks may still be signed with the previous key. Requests are signed with the new one.
UPSTREAM_SECRET_KEY_PREVIOUS = env.str("UPSTREAM_SECRET_KEY_PREVIOUS", "")
UPSTREAM_CONNECT_TIMEOUT = env.float("UPSTREAM_CONNECT_TIMEOUT", 5.0)
UPSTREAM_READ_TIMEOUT = env.float("UPSTREAM_READ_TIMEOUT", 30.0)
UPSTREAM_ACCOUNT_RATE = env.str("UPSTREAM_ACCOUNT_RATE", "120/minute")
UPSTREAM_IP_RATE = env.str("UPSTREAM_IP_RATE", "300/minute")
UPSTREAM_PRODUCTS_RATE = env.str("UPSTREAM_PRODUCTS_RATE", "6/minute")
# The upstream counts a request within this many seconds of our sending; 0: not known (docs/rate-budget.md).
UPSTREAM_COUNTS_WITHIN_SECONDS = env.float("UPSTREAM_COUNTS_WITHIN_SECONDS", 0.0)
UPSTREAM_CALLBACK_VERIFIER = env.str("UPSTREAM_CALLBACK_VERIFIER", "hmac_sha256_body")
UPSTREAM_CALLBACK_ALLOWED_IPS: list[str] = env.list("UPSTREAM_CALLBACK_ALLOWED_IPS", [])
# The time for which a page or a command waits for the rate budget when it makes a call itself.
UPSTREAM_INTERACTIVE_WAIT = env.float("UPSTREAM_INTERACTIVE_WAIT", 10.0)

# --- Orders -----------------------------------------------------------------------------------------------------

# Status checks: first 3 s after sending, then doubling up to 10 minutes, each ± 20 %.
ORDER_CHECK_FIRST_SECONDS = env.float("ORDER_CHECK_FIRST_SECONDS", 3.0)
ORDER_CHECK_MAX_SECONDS = env.float("ORDER_CHECK_MAX_SECONDS", 600.0)
# How long (seconds) a task has for an order before the dispatcher hands the order out again.
ORDER_LEASE_SECONDS = env.float("ORDER_LEASE_SECONDS", 60.0)
# "Not found" means "never arrived" only after this many answers over at least this long (seconds).
ORDER_NOT_FOUND_ANSWERS = env.int("ORDER_NOT_FOUND_ANSWERS", 3)
ORDER_NOT_FOUND_GRACE_SECONDS = env.float("ORDER_NOT_FOUND_GRACE_SECONDS", 600.0)

# --- Policies ---------------------------------------------------------------------------------------------------

# Those that the environment sets win over the page "Policies"; `policies/bounds.py` has all of them.
POLICIES = {name: env.int(name.upper()) for name in BOUNDS if env.str(name.upper(), "")}

# --- Alerts -----------------------------------------------------------------------------------------------------

# The separators between addresses of apprise; a comma may also be part of an address.
_BETWEEN_ADDRESSES = re.compile(r"[\s,]+(?=\w+://)|\s+")
# The ways of alerts, as addresses of apprise. They hold tokens.
ALERT_URLS = [url for url in _BETWEEN_ADDRESSES.split(env.str("ALERT_URLS", "").strip()) if url]
# Our own address as staff type it, for links in these messages; without it they carry none.
SITE_URL = env.str("SITE_URL", "")

# --- Audit --------------------------------------------------------------------------------------------------------

# Signs the checkpoints: 32 random bytes in base64. Without one a key is made and kept in the data folder.
AUDIT_KEY = env.str("AUDIT_KEY", "")
# Each checkpoint is appended to this file; it belongs where the database's owner cannot write.
AUDIT_CHECKPOINT_FILE = env.str("AUDIT_CHECKPOINT_FILE", "")
# One an hour is sent to these addresses of apprise. It is for an auditor's program, and never among the alerts.
AUDIT_CHECKPOINT_URLS = [url for url in _BETWEEN_ADDRESSES.split(env.str("AUDIT_CHECKPOINT_URLS", "").strip()) if url]

# --- Metrics ----------------------------------------------------------------------------------------------------

# A client with this token may read /metrics. Without one, only this machine may, unless a proxy is in front.
METRICS_TOKEN = env.str("METRICS_TOKEN", "")
# The folder of backups, which `./run` fills (docs/backup.md).
BACKUP_TO = env.str("BACKUP_TO", "")
# The bucket that `./run` copies it to.
BACKUP_BUCKET = env.str("BACKUP_BUCKET", "")
# The journal of what is sent, a file a day (purchases/services/sent.py).
SENT_FOLDER = DATA_DIR / "sent"
# A file that the backup touches when it has succeeded; `./run doctor` looks at its age.
BACKUP_STAMP = env.str("BACKUP_STAMP", "")
# Faults are sent to Sentry only when this names a project.
SENTRY_DSN = env.str("SENTRY_DSN", "")
if SENTRY_DSN:
    import sentry_sdk  # it takes a tenth of a second at each start

    sentry_sdk.init(
        dsn=SENTRY_DSN,
        send_default_pii=False,
        include_local_variables=False,
        max_request_body_size="never",
        before_send=without_query_in_report,
    )

# --- Logs ---------------------------------------------------------------------------------------------------------

# One line an event, keys and values: ids and ref_ids, never secrets, signatures or whole destinations.
LOG_LEVEL = env.log_level("LOG_LEVEL", logging.INFO)
_logs_as_json = env.str("LOG_FORMAT", "") == "json"
LOGGING = logging_from(LOG_LEVEL, as_json=_logs_as_json)
keep_events()
if _logs_as_json:
    keep_last_words()
