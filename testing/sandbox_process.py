"""The sandbox as a real process for tests: start, stop, kill, restart; call its wire and its control API.

`SandboxProcess.fresh("name")` makes a database of its own on the server of DATABASE_URL, so that each xdist worker
(and each module that wants one) has a sandbox that no other test touches.
"""

import hashlib
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Self, TypeVar
from urllib.parse import urlsplit, urlunsplit

import psycopg
import requests
from psycopg import sql

PROJECT = Path(__file__).resolve().parent.parent
WITHOUT_REF_ID = frozenset({"/v1/balance", "/v1/categories", "/v1/brands", "/v1/products"})
Value = TypeVar("Value")


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on now.

    Linux gives ports from 32768 on to outgoing connections, so another test could take one of those before the process
    that it is for listens. `secrets`, because hypothesis gives each test the same `random`.
    """
    while True:
        port = 12_000 + secrets.randbelow(20_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def eventually(probe: Callable[[], Value], *, within: float = 10.0, every: float = 0.05) -> Value:
    """The first truthy result of `probe` within so many seconds; fails the test with the last result otherwise."""
    ends = time.monotonic() + within
    while not (result := probe()):
        if time.monotonic() > ends:
            raise AssertionError(f"not within {within} s; last result: {result!r}")
        time.sleep(every)
    return result


def _new_database(name: str) -> str:
    """Drop and create the database `name` on DATABASE_URL's server; its URL."""
    server = os.environ["DATABASE_URL"]
    with psycopg.connect(server, autocommit=True) as connection:
        identifier = sql.Identifier(name)
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(identifier))
        connection.execute(sql.SQL("CREATE DATABASE {}").format(identifier))
    parts = urlsplit(server)
    return urlunsplit(parts._replace(path=f"/{name}"))


class SandboxProcess:
    """One sandbox. `url` is its address; `secret_id` and `secret_key` are its account's credentials."""

    def __init__(self) -> None:
        self.secret_id = "sid_test"
        self.secret_key = "sk_test_0123456789abcdef"
        self.database_url = ""
        self.port = 0
        self.env: dict[str, str] = {}
        self.process: subprocess.Popen[bytes] | None = None
        self.log = Path(tempfile.mkstemp(prefix="sandbox-", suffix=".log")[1])

    @classmethod
    def fresh(cls, name: str, **env: str) -> Self:
        """A started sandbox with an empty database of its own.

        Unless `env` says otherwise its limits are wide, and it sells at all times: tests also run at night.
        """
        worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
        database = re.sub(r"[^a-z0-9_]", "_", f"sandbox_{name}_{worker}".lower())
        sandbox = cls()
        sandbox.start(
            _new_database(database),
            free_port(),
            {"SANDBOX_LIMITS": "ip=100000,account=100000,products=100000", "SANDBOX_CUT_OFF": "0", **env},
        )
        return sandbox

    @property
    def url(self) -> str:
        """Address of the sandbox, without a slash at the end."""
        return f"http://127.0.0.1:{self.port}"

    def start(self, database_url: str, port: int, env: Mapping[str, str]) -> None:
        """Start on a database (prepared first) and a port; returns when it answers."""
        self.database_url, self.port, self.env = database_url, port, dict(env)
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "run_sandbox", "--prepare", "--port", str(port)],
                cwd=PROJECT,
                env=self._environment(),
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        eventually(self._answers, within=60, every=0.1)

    def seed(self, **env: str) -> None:
        """Run `seed_sandbox` on the database of the running sandbox, with its credentials as they are here."""
        command = [sys.executable, "manage.py", "seed_sandbox"]
        subprocess.run(command, cwd=PROJECT, env={**self._environment(), **env}, check=True, capture_output=True)

    def _environment(self) -> dict[str, str]:
        surroundings = {key: value for key, value in os.environ.items() if not key.startswith("SANDBOX_")}
        return {
            **surroundings,
            "DJANGO_SETTINGS_MODULE": "sandbox.settings",
            "SANDBOX_DATABASE_URL": self.database_url,
            "SANDBOX_SECRET_ID": self.secret_id,
            "SANDBOX_SECRET_KEY_UPSTREAM": self.secret_key,
            **self.env,
        }

    def _answers(self) -> bool:
        if self.process is None or self.process.poll() is not None:
            raise AssertionError(f"the sandbox ended at once:\n{self.log.read_text()[-3000:]}")
        try:
            return requests.get(f"{self.url}/control/ledger", headers=self._bearer(), timeout=5).ok
        except requests.RequestException:  # not there yet, or slow while the machine is busy
            return False

    def _bearer(self) -> dict[str, str]:
        """The header that the control API needs if the sandbox has a token."""
        token = self.env.get("SANDBOX_TOKEN", "")
        return {"Authorization": f"Bearer {token}"} if token else {}

    def stop(self, *, within: float = 5.0) -> int:
        """End it in order; returns its exit code."""
        return self._end(signal.SIGTERM, within)

    def kill(self) -> None:
        """End it as a crash would."""
        self._end(signal.SIGKILL, 5.0)

    def _end(self, how: signal.Signals, within: float) -> int:
        if self.process is None:
            return 0
        self.process.send_signal(how)
        try:
            return self.process.wait(within)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        finally:
            self.process = None

    def restart(self, **env: str) -> None:
        """Start again (after a stop or kill, or stopping first) on the same database and port."""
        self.stop()
        self.start(self.database_url, self.port, {**self.env, **env})

    def remove(self) -> None:
        """Stop it and delete its database and log: the end of a fixture."""
        self.kill()
        name = urlsplit(self.database_url).path.removeprefix("/")
        with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as connection:
            connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))
        self.log.unlink(missing_ok=True)

    def signed(self, endpoint: str, **fields: Any) -> dict[str, Any]:
        """The body of a request, signed as this endpoint wants it. A field given as None is left out."""
        given = {name: value for name, value in fields.items() if value is not None}
        parts = [self.secret_id, self.secret_key]
        if endpoint not in WITHOUT_REF_ID:
            parts.append(str(given.get("ref_id", "")))
        signature = hashlib.md5(":".join(parts).encode()).hexdigest()  # noqa: S324 - the service's formula
        return {"secret_id": self.secret_id, "signature": signature, **given}

    def call(self, endpoint: str, **fields: Any) -> requests.Response:
        """POST to the wire, properly signed. Raises requests.RequestException when the connection is cut."""
        return self.post(endpoint, self.signed(endpoint, **fields))

    def post(self, endpoint: str, body: dict[str, Any]) -> requests.Response:
        """POST a body to the wire as it is."""
        return requests.post(f"{self.url}{endpoint}", json=body, timeout=60, allow_redirects=False)

    def control(self, path: str, **json: Any) -> dict[str, Any]:
        """Call the control API: POST with these fields, or GET when the path is one of the lists."""
        name, _, query = path.removeprefix("/control/").partition("?")
        url = f"{self.url}/control/{name}"
        if name in ("ledger", "requests", "transactions", "deliveries"):
            address = url + (f"?{query}" if query else "")
            response = requests.get(address, params=json, headers=self._bearer(), timeout=30)
        else:
            response = requests.post(url, json=json, headers=self._bearer(), timeout=30)
        answer: dict[str, Any] = response.json()
        if not response.ok:
            raise AssertionError(f"control {path}: {answer}")
        return answer
