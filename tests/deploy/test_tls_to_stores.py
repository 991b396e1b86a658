"""With `rediss://` and `sslmode=verify-full`, all our connections to the stores use TLS, and only to the right servers.

The tests use the distribution's Redis and PostgreSQL with a certificate authority of their own; the embedded ones have
no TLS.
"""

import json
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from testing.sandbox_process import PROJECT, eventually, free_port

POSTGRES = next(iter(sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)), None)
REDIS = shutil.which("redis-server")
pytestmark = pytest.mark.skipif(
    not (POSTGRES and REDIS and shutil.which("openssl")), reason="PostgreSQL, Redis and openssl are not installed"
)
# Each of our ways to a store prints "tls", "plain", or the kind of its fault.
WAYS = """
import json
import django
django.setup()
from django.conf import settings
from django.db import connection
from backoffice.celery import app
from core.stores import new_client
from launcher.stack import check_database, check_redis
from upstream.client import get_client

def broker():
    options = {"max_retries": 0, "socket_timeout": 5, "socket_connect_timeout": 5}
    with app.connection_for_write(transport_options=options) as opened:
        return opened.default_channel.client.ping()

def database():
    with connection.cursor() as cursor:
        cursor.execute("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
        return cursor.fetchone()[0]

def tried(way):
    try:
        return "tls" if way() is not False else "plain"
    except Exception as fault:
        return type(fault).__name__

ways = {
    "redis": lambda: new_client().ping(), "broker": broker, "budget": lambda: get_client().budget.used() * 0 or True,
    "database": database,
    "launcher's redis": lambda: check_redis(settings.REDIS_URL),
    "launcher's database": lambda: check_database(__import__("os").environ["DATABASE_URL"], "DATABASE_URL"),
}
print(json.dumps({name: tried(way) for name, way in ways.items()}))
"""


def openssl(folder: Path, *words: str) -> None:
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A certificate for `localhost` by an authority of its own, and another authority; PostgreSQL may read it."""
    with tempfile.TemporaryDirectory(prefix="tls-") as name:  # pytest's own folder is closed to other users
        made = Path(name)
        for authority in ("ca", "other"):
            files = ("-keyout", f"{authority}.key", "-out", f"{authority}.crt", "-subj", f"/CN={authority}")
            openssl(made, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *files)
        (made / "names").write_text("subjectAltName=DNS:localhost")
        files = ("-keyout", "key", "-out", "asked", "-subj", "/CN=localhost")
        openssl(made, "req", "-newkey", "rsa:2048", "-nodes", *files)
        by = ("-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "names")
        openssl(made, "x509", "-req", "-in", "asked", *by, "-out", "crt")
        (made / "password").write_text("secret")
        for path in (made, *made.iterdir()) if os.geteuid() == 0 else ():
            shutil.chown(path, "nobody")  # PostgreSQL refuses root
        yield made


@pytest.fixture(scope="module")
def redis_port(folder: Path) -> Iterator[int]:
    """A Redis that speaks TLS only."""
    port = free_port()
    files = ("--tls-cert-file", "crt", "--tls-key-file", "key", "--tls-ca-cert-file", "ca.crt")
    command = [str(REDIS), "--port", "0", "--tls-port", str(port), "--tls-auth-clients", "no", *files, "--save", ""]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL) as process:
        yield port
        process.terminate()


@pytest.fixture(scope="module")
def postgres_port(folder: Path) -> Iterator[int]:
    """A PostgreSQL that lets nobody in without TLS."""
    assert POSTGRES
    user = pwd.getpwnam("nobody").pw_uid if os.geteuid() == 0 else None
    data, port = folder / "data", free_port()
    words = ("--username=shop", f"--pwfile={folder / 'password'}", "--auth=scram-sha-256", "--no-sync")
    subprocess.run(
        [POSTGRES / "initdb", "--pgdata", data, *words], check=True, capture_output=True, user=user, cwd=folder
    )
    (data / "pg_hba.conf").write_text("hostssl all all all scram-sha-256\n")
    files = [f"--ssl_cert_file={folder / 'crt'}", f"--ssl_key_file={folder / 'key'}", "--ssl=on"]
    place = [f"--port={port}", "--listen_addresses=localhost", f"--unix_socket_directories={folder}"]
    command = [POSTGRES / "postgres", "-D", data, *place, *files]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL, user=user) as process:
        eventually(lambda: (data / "postmaster.pid").exists() and "ready" in (data / "postmaster.pid").read_text())
        yield port
        process.send_signal(2)


@pytest.fixture
def said(folder: Path, redis_port: int, postgres_port: int):
    """The output of our ways to the stores with this host and these parameters."""

    def ask(
        redis: str, database: str, *, scheme: str = "rediss", host: str = "localhost", **more: str
    ) -> dict[str, str]:
        environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "backoffice.settings",
            "REDIS_URL": f"{scheme}://{host}:{redis_port}/0{redis}",
            "DATABASE_URL": f"postgresql://shop:secret@{host}:{postgres_port}/postgres?{database}",
            **more,
        }
        command = [sys.executable, "-c", WAYS]
        result = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=True)
        answer: dict[str, str] = json.loads(result.stdout.splitlines()[-1])
        return answer

    return ask


def test_each_way_speaks_tls_to_a_store_of_the_named_authority(said, folder):
    answer = said(f"?ssl_ca_certs={folder}/ca.crt", f"sslmode=verify-full&sslrootcert={folder}/ca.crt")

    assert set(answer.values()) == {"tls"}, answer


def test_without_an_authority_in_the_address_the_machine_s_own_count(said, folder):
    answer = said("", "sslmode=verify-full&sslrootcert=system", SSL_CERT_FILE=f"{folder}/ca.crt")

    assert set(answer.values()) == {"tls"}, answer


@pytest.mark.parametrize(("host", "authority"), [("localhost", "other"), ("127.0.0.1", "ca")])
def test_another_authority_and_another_name_are_refused_by_each_way(said, folder, host, authority):
    file = f"{folder}/{authority}.crt"

    answer = said(f"?ssl_ca_certs={file}", f"sslmode=verify-full&sslrootcert={file}", host=host)

    assert not {"tls", "plain"} & set(answer.values()), answer


def test_nothing_gets_through_without_tls(said):
    answer = said("", "sslmode=disable", scheme="redis")

    assert not {"tls", "plain"} & set(answer.values()), answer
