"""The services around the app: PostgreSQL, Valkey and, without a real upstream, the sandbox."""

import hashlib
import http.client
import os
import secrets
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

import psycopg
import redis
from psycopg.conninfo import conninfo_to_dict

from launcher import PYTHON, ROOT
from launcher.data_folder import Ports, kept_secrets
from launcher.database_roles import APP, OWNER, SANDBOX
from launcher.embedded import Stores
from launcher.output import LaunchError, Say, last_lines
from launcher.processes import Child, ProcessGroup
from launcher.project import Project

APP_DATABASE, SANDBOX_DATABASE = "backoffice", "sandbox"
MEMORY = Path("/dev/shm")  # noqa: S108 - what is made there has a name that nobody can guess
FIRST_SANDBOX_PORT = 8100
DEMO_DATABASE = 63  # of Valkey
LONGEST_WORK_SECONDS = 6 * 3600.0  # to migrate or to prove millions of rows
_REFUSAL_LINES = 100  # enough to refuse every setting at once
# lines that `prepare_app` prints
NO_OWNER, RESTORED, CATALOGUE = "no owner yet", "restored, not open yet", "catalogue is there"
# One Python for both commands: each start of Django costs a second
PREPARE_SANDBOX = (
    "import django; from django.core.management import call_command; django.setup(); "
    "call_command('migrate', interactive=False, verbosity=0); call_command('seed_sandbox')"
)


def new_folder_in_memory(path: Path, group: ProcessGroup) -> Path:
    """Make `path` a link to a new folder in memory, which is deleted with the group; older measures are deleted.

    Processes write to mapped files there; on a full disk the kernel would kill a process that writes to one.
    """
    shutil.rmtree(path.resolve(), ignore_errors=True)  # nobody has deleted it if the watchdog was killed, too
    path.unlink(missing_ok=True)
    if not os.access(MEMORY, os.W_OK):
        path.mkdir(mode=0o700)
        return path
    folder = Path(tempfile.mkdtemp(prefix="backoffice-", dir=MEMORY))
    group.discard_at_end(folder)
    path.symlink_to(folder)
    return path


class Stack:
    """The surroundings of the app for one data folder, which the caller holds.

    `environment` is for the app's processes and complete after `start_stores`; `owners_environment` is for commands,
    and also names the owner of the tables.
    """

    def __init__(self, project: Project, group: ProcessGroup) -> None:
        self.project = project
        self.group = group
        self.secrets = kept_secrets(project.data)
        self.environment: dict[str, str] = {}
        self.owners_environment: dict[str, str] = {}
        self.sandbox_port = 0
        self._sandbox_environment: dict[str, str] = {}
        self.first_key = ""  # lets the first owner in; "" if there is an owner; known after `finish_preparing`
        self.is_restored = False  # and not open yet, so it sells nothing; known after `finish_preparing`
        self.has_catalogue = False  # known after `finish_preparing`
        self._prepared = project.data / "prepared"
        self.stores = Stores(
            project.data, group, postgres="DATABASE_URL" not in project.given, valkey="REDIS_URL" not in project.given
        )

    def start_stores(self, *, web_port: int, site: str = "", say: Say | None = None) -> None:
        """Start PostgreSQL and Valkey, or check those of the environment, and work out `environment`.

        `site`: where links in messages lead if no SITE_URL is given; without either, messages have no links. `say` gets
        a line when PostgreSQL recovers for more than two seconds.
        """
        given = self.project.given
        for name in ["DATABASE_URL", "DATABASE_OWNER_URL"] + ["SANDBOX_DATABASE_URL"] * self.project.sandboxed:
            if name in given:
                check_database(given[name], name)
        if "REDIS_URL" in given:
            check_redis(given["REDIS_URL"])
        owners = {APP_DATABASE: OWNER} | ({SANDBOX_DATABASE: SANDBOX} if self.project.sandboxed else {})
        self.stores.start(*owners, say=say)
        if self.stores.postgres:
            self.stores.postgres.set_up_roles(owners, guests={APP_DATABASE: (APP,)})
        self.environment = {
            "SECRET_KEY": self.secrets["django"],
            "ALLOWED_HOSTS": "localhost,127.0.0.1",
            # several threads per process: without this, glibc keeps an arena of freed memory for each thread
            "MALLOC_ARENA_MAX": "2",
            # `prepare_app` has run Django's checks with these settings; repeating them takes each process half a second
            "CELERY_SKIP_CHECKS": "1",
            **({"SITE_URL": site} if site else {}),
            **{name: value for name, value in given.items() if name != "DATABASE_OWNER_URL"},
            "DATABASE_URL": self._database(APP),
            "REDIS_URL": self.stores.valkey.url() if self.stores.valkey else given["REDIS_URL"],
            "BACKOFFICE_DATA": str(self.project.data),
            "PROMETHEUS_MULTIPROC_DIR": str(new_folder_in_memory(self.project.data / "metrics", self.group)),
            "METRICS_FILES": str(self.project.metrics_files),
            "BACKOFFICE_SANDBOX": "0",
            "DJANGO_SETTINGS_MODULE": "backoffice.settings",
        }
        if self.project.sandboxed:
            self._add_sandbox(web_port=web_port)
        self.owners_environment = {**self.environment, "DATABASE_OWNER_URL": self._database(OWNER)}

    def _database(self, role: str) -> str:
        """The address of the app's database for the role APP or OWNER; a given database may have one role for both."""
        if self.stores.postgres:
            return self.stores.postgres.url(APP_DATABASE, role)
        given = self.project.given
        return given.get("DATABASE_OWNER_URL", given["DATABASE_URL"]) if role == OWNER else given["DATABASE_URL"]

    def _add_sandbox(self, *, web_port: int) -> None:
        """Make the sandbox the app's upstream, and work out the sandbox's own environment."""
        self.sandbox_port = Ports(self.project.data).take("sandbox", first=FIRST_SANDBOX_PORT)
        address = f"http://127.0.0.1:{self.sandbox_port}"
        app = self.environment = {
            # given credentials win, because a person can make new ones in the sandbox's dashboard
            "UPSTREAM_SECRET_ID": self.secrets["upstream_id"],
            "UPSTREAM_SECRET_KEY": self.secrets["upstream_key"],
            **self.environment,
            "BACKOFFICE_SANDBOX": "1",
            "SANDBOX_URL": address,
            "SANDBOX_DASHBOARD_URL": self.dashboard(),
            "UPSTREAM_BASE_URL": address,
        }
        # the sandbox must not get the app's database, Redis or key
        shared = {name: app[name] for name in app.keys() - {"DATABASE_URL", "REDIS_URL", "SECRET_KEY"}}
        self._sandbox_environment = {
            **shared,
            "DJANGO_SETTINGS_MODULE": "sandbox.settings",
            "SANDBOX_DATABASE_URL": self._sandbox_database(),
            "SANDBOX_SECRET_KEY": self.secrets["sandbox_django"],
            "SANDBOX_TOKEN": self.secrets["sandbox_token"],
            "SANDBOX_SECRET_ID": app["UPSTREAM_SECRET_ID"],
            "SANDBOX_SECRET_KEY_UPSTREAM": app["UPSTREAM_SECRET_KEY"],
            "SANDBOX_CALLBACK_URL": f"http://127.0.0.1:{web_port}/callbacks/upstream/",
        }

    def dashboard(self) -> str:
        """The link to the sandbox's dashboard, with the token that it needs."""
        return f"http://localhost:{self.sandbox_port}/?token={self.secrets['sandbox_token']}"

    def _sandbox_database(self) -> str:
        """The given database, or one of the embedded server, or the schema `sandbox` in the app's database."""
        if own := self.project.given.get("SANDBOX_DATABASE_URL"):
            return own
        if self.stores.postgres:
            return self.stores.postgres.url(SANDBOX_DATABASE, SANDBOX)
        url = self._database(OWNER)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("CREATE SCHEMA IF NOT EXISTS sandbox")
        return f"{url}{'&' if '?' in url else '?'}options=-csearch_path%3Dsandbox"

    def python(
        self,
        name: str,
        *words: str | Path,
        log: str = "",
        environment: dict[str, str] | None = None,
        pass_fds: Sequence[int] = (),
        in_files: bool = True,
    ) -> Child:
        """Start the app's Python with these arguments; its output goes to its log, or where the launcher's goes."""
        return self.group.start(
            name,
            [PYTHON, *words],
            env=environment or self.environment,
            cwd=ROOT,
            log=self.project.logs / f"{log or name}.log" if in_files else None,
            pass_fds=pass_fds,
        )

    def manage(self, *words: str) -> Child:
        """Start a command of manage.py, its output in prepare.log."""
        environment = self.owners_environment
        return self.python(f"manage.py {words[0]}", "manage.py", *words, log="prepare", environment=environment)

    def open_demo(self) -> Child:
        """Start making a demo's first month.

        It has its own rate limits and its own Redis database: the sandbox counts its requests by the time of that
        month, in which requests are rare.
        """
        rates = dict.fromkeys(("UPSTREAM_ACCOUNT_RATE", "UPSTREAM_IP_RATE", "UPSTREAM_PRODUCTS_RATE"), "100000/minute")
        environment = {**self.owners_environment, **rates}
        if self.stores.valkey:
            environment["REDIS_URL"] = self.stores.valkey.url(DEMO_DATABASE)
        words = ("manage.py", "open_demo")
        return self.python(" ".join(words), *words, log="prepare", environment=environment)

    def prepare_sandbox(self) -> None:
        """Migrate and seed the sandbox's database."""
        words = ("-c", PREPARE_SANDBOX)
        child = self.python("sandbox set-up", *words, log="sandbox", environment=self._sandbox_environment)
        self.finish(child, "The sandbox's database could not be prepared.")

    def start_sandbox(self) -> Child:
        """Start the sandbox on its port."""
        words = ("manage.py", "run_sandbox", "--host", "127.0.0.1", "--port", str(self.sandbox_port))
        return self.python("sandbox", *words, environment=self._sandbox_environment)

    def await_sandbox(self, child: Child) -> None:
        """Wait until the sandbox answers; LaunchError as in `await_http`."""
        self.await_http(child, port=self.sandbox_port, path="/control/ledger", token=self.secrets["sandbox_token"])

    def await_http(
        self,
        child: Child,
        *,
        port: int,
        path: str,
        host: str = "localhost",
        address: str = "127.0.0.1",
        token: str = "",
    ) -> None:
        """Wait until a GET is answered with 200; LaunchError when the process ends or is not ready in time."""
        headers = {"Host": host, "X-Forwarded-Proto": "https"} | ({"Authorization": f"Bearer {token}"} if token else {})

        def answer() -> str:
            connection = http.client.HTTPConnection(address, port, timeout=5)
            try:
                connection.request("GET", path, headers=headers)
                status = connection.getresponse().status
            except (OSError, http.client.HTTPException):
                return "no answer"
            finally:
                connection.close()
            return "" if status == http.client.OK else f"HTTP {status}"

        self.group.await_ready(child, answer)

    @property
    def prepared(self) -> bool:
        """Whether the app's database was ever prepared."""
        return self._prepared.exists()

    def finish_preparing(self, child: Child) -> None:
        """Wait for `prepare_app`, and keep the facts that it prints; LaunchError when it fails."""
        if self.group.finish(child, seconds=LONGEST_WORK_SECONDS) != 0:
            is_refused = child.log is not None and "SystemCheckError" in last_lines(child.log, _REFUSAL_LINES)
            sentence = "The settings are refused." if is_refused else "The database could not be prepared."
            raise LaunchError(sentence, log=child.log)
        said = last_lines(child.log) if child.log else ""
        if NO_OWNER in said and "OIDC_ISSUER" not in self.project.given:
            # Printed once and stored nowhere: the app gets only its digest. Each start makes a new one.
            self.first_key = secrets.token_urlsafe(24)
            self.environment["FIRST_KEY_DIGEST"] = hashlib.sha256(self.first_key.encode()).hexdigest()
        self.is_restored, self.has_catalogue = RESTORED in said, CATALOGUE in said
        self._prepared.touch()

    def finish(self, child: Child, sentence: str) -> None:
        """Wait for a child that ends by itself; LaunchError with `sentence` and its log when it fails."""
        if self.group.finish(child, seconds=LONGEST_WORK_SECONDS) != 0:
            raise LaunchError(sentence, log=child.log)


def check_database(url: str, name: str) -> None:
    """LaunchError with one sentence when a sign-in at this address fails."""
    try:
        parts = conninfo_to_dict(url)
    except psycopg.Error:
        parts = {}
    port = str(parts.get("port", "5432"))
    # psycopg takes a password with an unescaped character for a part of host or port, and would show it with them
    if not parts or "@" in str(parts.get("host", "")) or not port.replace(",", "").isdecimal():
        raise LaunchError(
            f"Cannot sign in at {name}: the address is not understood. Write postgresql://USER:PASSWORD@HOST:5432/NAME "
            "with the special characters of the password percent-encoded."
        )
    try:
        psycopg.connect(url, connect_timeout=5).close()
    except psycopg.Error as error:
        reason = (str(error).splitlines() or ["no reason given"])[0]
        raise LaunchError(f"Cannot sign in at {name}: {reason}. Correct it, or start that server.") from error


def check_redis(url: str) -> None:
    """LaunchError with one sentence when there is no Redis or Valkey at this address."""
    try:
        with redis.Redis.from_url(url, socket_connect_timeout=5, socket_timeout=5) as client:
            client.ping()
    except (redis.RedisError, ValueError) as error:
        reason = type(error).__name__
        raise LaunchError(f"No answer at REDIS_URL ({reason}): correct it, or start that server.") from error
