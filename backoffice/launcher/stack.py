"""What the app needs around it: PostgreSQL, Valkey and, where no real upstream is named, the sandbox."""

import http.client
import time
from pathlib import Path

from backoffice.launcher.data_folder import kept_secrets
from backoffice.launcher.embedded import Stores
from backoffice.launcher.failures import LaunchError
from backoffice.launcher.ports import Ports
from backoffice.launcher.processes import Child, Family, finish
from backoffice.launcher.project import Project, app_environment, sandbox_environment, with_sandbox

APP_DATABASE, SANDBOX_DATABASE = "backoffice", "sandbox"
FIRST_SANDBOX_PORT = 8100
READY_SECONDS = 60.0
STEP_SECONDS = 600.0
# One Python for both commands: each start of Django costs a second
PREPARE_SANDBOX = (
    "import django; from django.core.management import call_command; django.setup(); "
    "call_command('migrate', interactive=False, verbosity=0); call_command('seed_sandbox')"
)


class Stack:
    """The surroundings of the app for one data folder, which the caller holds.

    `environment`, that of the app's processes, is complete after `start_stores`.
    """

    def __init__(self, project: Project, family: Family) -> None:
        self.project = project
        self.family = family
        self.secrets = kept_secrets(project.data)
        self._prepared = project.data / "prepared"
        self.environment: dict[str, str] = {}
        self.sandbox_port: int | None = None
        self._sandbox: dict[str, str] = {}
        self.stores = Stores(
            project.data, family, postgres="DATABASE_URL" not in project.given, valkey="REDIS_URL" not in project.given
        )

    def start_stores(self, *, web_port: int) -> None:
        """Have PostgreSQL and Valkey answer, ours or those of the environment, and work out `environment`."""
        given = self.project.given
        self.stores.start(APP_DATABASE, *([SANDBOX_DATABASE] if self.project.sandboxed else []))
        if not self.stores.postgres:
            check_database(given["DATABASE_URL"])
        if not self.stores.valkey:
            check_redis(given["REDIS_URL"])
        self.environment = app_environment(
            self.project,
            database_url=self.stores.postgres.url(APP_DATABASE) if self.stores.postgres else given["DATABASE_URL"],
            redis_url=self.stores.valkey.url() if self.stores.valkey else given["REDIS_URL"],
            django_key=self.secrets["django"],
        )
        if self.project.sandboxed:
            self._place_sandbox(web_port=web_port)

    def _place_sandbox(self, *, web_port: int) -> None:
        # given ones count, because a person can make new ones in the sandbox's dashboard
        given = self.project.given
        account = {
            "secret_id": given.get("UPSTREAM_SECRET_ID", self.secrets["upstream_id"]),
            "secret_key": given.get("UPSTREAM_SECRET_KEY", self.secrets["upstream_key"]),
        }
        port = self.sandbox_port = Ports(self.project.data).take("sandbox", first=FIRST_SANDBOX_PORT)
        if own := given.get("SANDBOX_DATABASE_URL"):
            check_database(own)
            database_url = own
        elif self.stores.postgres:
            database_url = self.stores.postgres.url(SANDBOX_DATABASE)
        else:
            database_url = make_sandbox_schema(self.environment["DATABASE_URL"])
        self._sandbox = sandbox_environment(
            self.environment,
            database_url=database_url,
            django_key=self.secrets["sandbox_django"],
            web_port=web_port,
            **account,
        )
        self.environment = with_sandbox(self.environment, port=port, **account)

    def python(self, name: str, *words: str | Path, log: str, environment: dict[str, str] | None = None) -> Child:
        """Start the app's Python with these words, its output in the log of that name."""
        return self.family.start(
            name,
            [self.project.python, *words],
            env=environment or self.environment,
            cwd=self.project.root,
            log=self.project.logs / f"{log}.log",
        )

    def manage(self, *words: str) -> Child:
        """Start a command of manage.py, its output in prepare.log."""
        return self.python(f"manage.py {words[0]}", "manage.py", *words, log="prepare")

    def prepare_sandbox(self) -> Child:
        """Start migrating and seeding the sandbox's database."""
        return self.python("sandbox set-up", "-c", PREPARE_SANDBOX, log="sandbox", environment=self._sandbox)

    def start_sandbox(self) -> Child:
        """Start the sandbox on its port."""
        words = ("manage.py", "run_sandbox", "--host", "127.0.0.1", "--port", str(self.sandbox_port))
        return self.python("sandbox", *words, log="sandbox", environment=self._sandbox)

    def await_http(self, child: Child, *, port: int, path: str, host: str = "localhost") -> None:
        """Wait until a GET is answered with 200; LaunchError when the process ends or stays silent."""
        deadline = time.monotonic() + READY_SECONDS
        answer = "nothing"
        while child.running() and time.monotonic() < deadline:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            try:
                connection.request("GET", path, headers={"Host": host, "X-Forwarded-Proto": "https"})
                status = connection.getresponse().status
                if status == http.client.OK:
                    return
                answer = f"HTTP {status}"
            except (OSError, http.client.HTTPException):
                pass
            finally:
                connection.close()
            self.family.pause(0.05)
        if child.running():
            raise LaunchError(
                f"{child.name} gave no good answer within {READY_SECONDS:.0f} s ({answer}).", log=child.log
            )
        raise LaunchError(f"{child.name} ended instead of starting: its log says why.", log=child.log)

    @property
    def prepared(self) -> bool:
        """Whether the app's database was ever made ready."""
        return self._prepared.exists()

    def finish_preparing(self, child: Child) -> None:
        """Wait for `prepare_app`; in a new data folder also tell the rate budget that no request was ever sent.

        Else the first call would wait one rate window. Only with the sandbox: with a real upstream nobody knows what
        another installation sent a moment ago.
        """
        self.finish(child, "The database could not be prepared.")
        if not self.prepared:
            if self.stores.valkey and self.project.sandboxed:
                self.finish(self.manage("declare_fresh_budget"), "The rate budget could not be prepared.")
            self._prepared.touch()

    def finish(self, child: Child, sentence: str) -> None:
        """Wait for a child that ends by itself; LaunchError with `sentence` and its log when it fails."""
        if finish(self.family, child, seconds=STEP_SECONDS) != 0:
            raise LaunchError(sentence, log=child.log)


def check_database(url: str) -> None:
    """LaunchError with one sentence when nobody can sign in at this address."""
    import psycopg

    try:
        psycopg.connect(url, connect_timeout=5).close()
    except psycopg.Error as error:
        secret = url.partition("://")[2].partition("@")[0].partition(":")[2]
        reason = (str(error).splitlines() or ["no reason given"])[0]
        if secret and secret in reason:
            reason = "the address is not understood"
        raise LaunchError(f"Cannot sign in at DATABASE_URL: {reason}. Correct it, or start that server.") from error


def check_redis(url: str) -> None:
    """LaunchError with one sentence when there is no Redis or Valkey at this address."""
    import redis

    try:
        with redis.Redis.from_url(url, socket_connect_timeout=5, socket_timeout=5) as client:
            client.ping()
    except (redis.RedisError, ValueError) as error:
        raise LaunchError(
            f"No answer at REDIS_URL ({type(error).__name__}): correct it, or start that server."
        ) from error


def make_sandbox_schema(url: str) -> str:
    """The address of the schema `sandbox` in the app's own database, made if it is not there."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA IF NOT EXISTS sandbox")
    return f"{url}{'&' if '?' in url else '?'}options=-csearch_path%3Dsandbox"
