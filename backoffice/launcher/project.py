"""Where the project and its data folder are, and the environment of every process that the launcher starts."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from backoffice.launcher.failures import LaunchError

ROOT = Path(__file__).resolve().parents[2]
REQUIRED_WITH_A_REAL_UPSTREAM = ("SECRET_KEY", "UPSTREAM_SECRET_ID", "UPSTREAM_SECRET_KEY", "ALLOWED_HOSTS")
LEAST_KEY_LENGTH = 50  # Django's own bound (security.W009)
LEAST_FREE_BYTES = 200_000_000


@dataclass(frozen=True)
class Project:
    """The checkout, its data folder, and the variables given by the environment or `.env`."""

    root: Path
    data: Path
    given: Mapping[str, str]

    @property
    def sandboxed(self) -> bool:
        """Whether the sandbox is the upstream, because no real one is named."""
        return "UPSTREAM_BASE_URL" not in self.given

    @property
    def logs(self) -> Path:
        return self.data / "logs"

    @property
    def venv(self) -> Path:
        return self.root / ".venv"

    @property
    def python(self) -> Path:
        """The Python that the app runs on."""
        return self.venv / "bin/python"

    def require_real_settings(self) -> None:
        """LaunchError naming what a real upstream needs and is not there, or cannot be right."""
        if self.sandboxed:
            return
        if not is_web_address(self.given["UPSTREAM_BASE_URL"]):
            raise LaunchError(
                "UPSTREAM_BASE_URL is no http or https address: correct it, for example https://upstream.example.com, "
                "or take it away for the demo."
            )
        missing = [name for name in REQUIRED_WITH_A_REAL_UPSTREAM if name not in self.given]
        if missing:
            verb = "is" if len(missing) == 1 else "are"
            raise LaunchError(
                f"UPSTREAM_BASE_URL names a real upstream, but {' and '.join(missing)} {verb} missing: set them in the "
                "environment or in .env (.env.example explains each)."
            )
        if (length := len(self.given["SECRET_KEY"])) < LEAST_KEY_LENGTH:
            raise LaunchError(
                f"SECRET_KEY has only {length} characters and could be guessed: give it {LEAST_KEY_LENGTH} random "
                "ones or more (.env.example has a command that makes them)."
            )

    def make_data_folder(self) -> None:
        """Make the data folder if it is not there; LaunchError when it cannot hold data."""
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


def is_web_address(text: str) -> bool:
    """Whether this is an http or https address with a host, and a port that can be, if any."""
    try:
        parts = urlsplit(text)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def read_project() -> Project:
    """The project as the environment and `.env` describe it: the environment wins, an empty value is no value."""
    written = read_dotenv(ROOT / ".env")
    given = {name: value for name, value in {**written, **os.environ}.items() if value != ""}
    base = Path.cwd() if os.environ.get("BACKOFFICE_DATA") else ROOT
    data = base / Path(given.get("BACKOFFICE_DATA", ROOT / ".data")).expanduser()
    return Project(root=ROOT, data=data, given=given)


def read_dotenv(path: Path) -> dict[str, str]:
    """The KEY=VALUE lines of a file: comments, `export`, single and double quotes are understood; no substitution."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise LaunchError(f"Cannot read {path}: {error}.") from error
    values = {}
    for number, line in enumerate(text.splitlines(), start=1):
        name, equals, value = line.strip().removeprefix("export ").partition("=")
        if not name or name.startswith("#"):
            continue
        if not equals or not name.strip().isidentifier():
            raise LaunchError(f"Line {number} of {path} is not KEY=VALUE: correct it.")
        value = value.strip()
        if value[:1] in {"'", '"'} and value.find(value[0], 1) > 0:
            value = value[1 : value.find(value[0], 1)]
        else:
            value = value.partition(" #")[0].strip()
        values[name.strip()] = value
    return values


def app_environment(project: Project, *, database_url: str, redis_url: str, django_key: str) -> dict[str, str]:
    """The environment of the app's processes with a real upstream, or before the sandbox's part is added."""
    return {
        "SECRET_KEY": django_key,
        "ALLOWED_HOSTS": "localhost,127.0.0.1",
        **project.given,
        "DATABASE_URL": database_url,
        "REDIS_URL": redis_url,
        "BACKOFFICE_DATA": str(project.data),
        "BACKOFFICE_SANDBOX": "0",
        "DJANGO_SETTINGS_MODULE": "backoffice.settings",
        # several threads per process: without this glibc keeps an arena of freed memory for each
        "MALLOC_ARENA_MAX": project.given.get("MALLOC_ARENA_MAX", "2"),
    }


def with_sandbox(environment: dict[str, str], *, port: int, secret_id: str, secret_key: str) -> dict[str, str]:
    """The app's environment with the sandbox on `port` as its upstream."""
    address = f"http://127.0.0.1:{port}"
    return {
        **environment,
        "BACKOFFICE_SANDBOX": "1",
        "SANDBOX_URL": address,
        "UPSTREAM_BASE_URL": address,
        "UPSTREAM_SECRET_ID": secret_id,
        "UPSTREAM_SECRET_KEY": secret_key,
    }


def sandbox_environment(
    environment: dict[str, str], *, database_url: str, django_key: str, web_port: int, secret_id: str, secret_key: str
) -> dict[str, str]:
    """The environment of the sandbox's process: its own database, and the account that its seed makes."""
    # the sandbox has no business with the app's database, Redis or key
    shared = {
        name: value for name, value in environment.items() if name not in {"DATABASE_URL", "REDIS_URL", "SECRET_KEY"}
    }
    return {
        **shared,
        "DJANGO_SETTINGS_MODULE": "sandbox.settings",
        "SANDBOX_DATABASE_URL": database_url,
        "SANDBOX_SECRET_KEY": django_key,
        "SANDBOX_SECRET_ID": secret_id,
        "SANDBOX_SECRET_KEY_UPSTREAM": secret_key,
        "SANDBOX_CALLBACK_URL": f"http://127.0.0.1:{web_port}/callbacks/upstream/",
    }
