"""Reads the data folder and the settings from the environment and `.env`."""

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from dotenv import dotenv_values
from dotenv.parser import parse_stream

from launcher import ROOT
from launcher.output import LaunchError

REQUIRED_WITH_A_REAL_UPSTREAM = ("SECRET_KEY", "UPSTREAM_SECRET_ID", "UPSTREAM_SECRET_KEY", "ALLOWED_HOSTS")
# Each may also come from a file, which NAME_FILE names; the address, too, because it alone tells a shop from the demo
SECRETS = (
    "UPSTREAM_BASE_URL",
    "SECRET_KEY",
    "SECRET_KEY_FALLBACKS",
    "DATABASE_URL",
    "DATABASE_OWNER_URL",
    "SANDBOX_DATABASE_URL",
    "REDIS_URL",
    "UPSTREAM_SECRET_ID",
    "UPSTREAM_SECRET_KEY",
    "UPSTREAM_SECRET_KEY_PREVIOUS",
    "OIDC_CLIENT_SECRET",
    "METRICS_TOKEN",
    "SENTRY_DSN",
    "ALERT_URLS",
    "AUDIT_CHECKPOINT_URLS",
    "BACKUP_BUCKET_SECRET",
)
PLACES = ("BACKUP_TO", "BACKUP_STAMP", "AUDIT_CHECKPOINT_FILE")
LEAST_KEY_LENGTH = 50  # Django's own bound (security.W009)
LEAST_FREE_BYTES = 200_000_000


@dataclass(frozen=True)
class Project:
    """The data folder, and the variables of the environment and `.env`."""

    data: Path
    given: Mapping[str, str]
    is_of_roles: bool = False

    @property
    def sandboxed(self) -> bool:
        """Whether the sandbox is the upstream, because no real one is named."""
        return "UPSTREAM_BASE_URL" not in self.given

    def of_roles(self, roles: Sequence[str]) -> "Project":
        """The same project with a data folder of its own for these roles; LaunchError when a setting is missing.

        The roles share the database and Redis with other installations, so the settings must name them.
        """
        missing = [name for name in ("UPSTREAM_BASE_URL", "DATABASE_URL", "REDIS_URL") if name not in self.given]
        if missing:
            raise LaunchError(
                "With --only, installations share one database, one Redis and one upstream. These are missing: "
                f"{', '.join(missing)}. Set them in the environment or in .env."
            )
        return replace(self, data=roles_folder(self.data) / "-".join(roles), is_of_roles=True)

    @property
    def is_behind_tls(self) -> bool:
        """Whether people come through a proxy that ends TLS: a setting says so, or only such a proxy gets pages."""
        return self.is_tls_only or self.is_on("BEHIND_TLS_PROXY")

    @property
    def is_tls_only(self) -> bool:
        """Whether only a proxy that ends TLS gets pages, by the rule of the app's settings."""
        return self.is_on("HTTPS", default=not (self.sandboxed or self.is_on("DEBUG")))

    def is_on(self, name: str, *, default: bool = False) -> bool:
        """Whether a switch is on, as the app reads it."""
        return (
            self.given[name].strip().lower() in {"1", "true", "t", "yes", "y", "on"} if name in self.given else default
        )

    @property
    def metrics_files(self) -> Path:
        """The pattern of the processes' files of measures; for a launcher of single roles, the files of all roles."""
        return (self.data.parent / "*" if self.is_of_roles else self.data) / "metrics" / "*.db"

    @property
    def logs_as_json(self) -> bool:
        """Whether the roles write JSON lines to standard output, and no files."""
        return self.given.get("LOG_FORMAT") == "json"

    @property
    def restoring(self) -> Path:
        """A file that exists until a restore has ended: with it, the data folder is not a whole shop."""
        return self.data / "restoring"

    @property
    def logs(self) -> Path:
        return self.data / "logs"

    def make_ready(self) -> None:
        """Make the data folder; LaunchError when it cannot hold data, or a setting is missing or wrong."""
        self._require_real_settings()
        if self.restoring.exists():
            raise LaunchError(f"A restore into {self.data} was cut off: call ./run restore again.")
        # as root, PostgreSQL's unprivileged user must be able to pass through
        mode = 0o711 if os.geteuid() == 0 else 0o700
        advice = "choose another folder with BACKOFFICE_DATA"
        try:
            self.data.mkdir(mode=mode, parents=True, exist_ok=True)
            free = shutil.disk_usage(self.data).free
        except OSError as error:
            raise LaunchError(f"Cannot make the data folder {self.data} ({error.strerror}): {advice}.") from error
        if not os.access(self.data, os.W_OK | os.X_OK):
            raise LaunchError(f"You may not write in the data folder {self.data}: give yourself the right or {advice}.")
        if free < LEAST_FREE_BYTES:
            raise LaunchError(f"Only {free // 1_000_000} MB are free for {self.data}: make room or {advice}.")

    def _require_real_settings(self) -> None:
        """LaunchError that names the missing and the wrong settings, of those that a real upstream needs."""
        if self.sandboxed:
            return
        if not is_web_address(self.given["UPSTREAM_BASE_URL"]):
            raise LaunchError(
                "UPSTREAM_BASE_URL must be an http or https address, for example https://upstream.example.com: correct "
                "it, or remove it for the demo."
            )
        missing = [name for name in REQUIRED_WITH_A_REAL_UPSTREAM if name not in self.given]
        if missing:
            raise LaunchError(
                f"UPSTREAM_BASE_URL names a real upstream, but these are missing: {', '.join(missing)}. Set them in "
                "the environment or in .env (.env.example and docs/settings.md explain each)."
            )
        if (length := len(self.given["SECRET_KEY"])) < LEAST_KEY_LENGTH:
            raise LaunchError(
                f"SECRET_KEY has only {length} characters and could be guessed: give it {LEAST_KEY_LENGTH} random "
                "ones or more (.env.example has a command that makes them)."
            )


def roles_folder(data: Path) -> Path:
    """The folder with the data folders of launchers of single roles."""
    return data / "roles"


def is_web_address(text: str) -> bool:
    """Whether this is an http or https address with a host, and without a port or with a possible one."""
    try:
        parts = urlsplit(text)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def read_project() -> Project:
    """The project as the environment and `.env` describe it: the environment wins, an empty value counts as none."""
    environment = {name: value for name, value in {**read_dotenv(ROOT / ".env"), **os.environ}.items() if value != ""}
    given = with_secrets_of_files(environment)
    for name in PLACES:  # the app reads them as well, and knows neither ~ nor the folder in which ./run was called
        if name in given:
            given[name] = str(ROOT / expanded(name, given[name]))
    base = Path.cwd() if os.environ.get("BACKOFFICE_DATA") else ROOT
    return Project(base / expanded("BACKOFFICE_DATA", given.get("BACKOFFICE_DATA", str(ROOT / ".data"))), given)


def expanded(name: str, place: str) -> Path:
    """The place that this variable names, with the folder of a user for ~; LaunchError when there is no such user."""
    try:
        return Path(place).expanduser()
    except RuntimeError as error:
        raise LaunchError(f"{name}={place} names a user whose folder is unknown: write the whole path.") from error


def with_secrets_of_files(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables with each secret whose file a NAME_FILE names; LaunchError when that file cannot be read."""
    given = dict(environment)
    for name in SECRETS:
        if path := given.pop(f"{name}_FILE", ""):
            try:
                value = Path(path).read_text(encoding="utf-8").strip()
            except (OSError, UnicodeDecodeError) as error:
                raise LaunchError(f"Cannot read {path}, which {name}_FILE names: {error}.") from error
            if given.get(name, value) != value:
                raise LaunchError(f"{name} and {name}_FILE say different things: remove one of them.")
            given[name] = value
    return given


def read_dotenv(path: Path) -> dict[str, str]:
    """The values of a `.env`, as the app's settings read it; LaunchError for a wrong line."""
    try:
        with path.open(encoding="utf-8") as file:
            for line in parse_stream(file):
                if line.error or (line.key and line.value is None):
                    raise LaunchError(f"Line {line.original.line} of {path} is not KEY=VALUE: correct it.")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise LaunchError(f"Cannot read {path}: {error}.") from error
    # environs, which the settings use, calls this very function
    return {name: value or "" for name, value in dotenv_values(path).items()}
