#!/usr/bin/env python3
"""Runs a built image as a whole shop on this machine, and sells through the TLS proxy. Nothing real is bought.

    docker build --tag merchant-backoffice . && python3 deploy/try_image.py
    python3 deploy/try_image.py --with buildah IMAGE      (no daemon: in a chroot, without --read-only)

Needs PostgreSQL, PgBouncer, Redis and Caddy (Debian and Ubuntu: `apt install postgresql pgbouncer redis-server caddy`).
It starts each on 127.0.0.1, in a throw-away folder; as root they run as `postgres`. It checks that the image has no
node, no pip and no compiler; that web, worker, background and beat are well, each in a container of its own as uid
10001; that an owner joins, an order succeeds and a workbook is read as a batch; and that standard output has JSON
lines only. Exit code 0 when all of that holds.
"""

import argparse
import base64
import contextlib
import functools
import glob
import hashlib
import hmac
import html
import http.cookiejar
import json
import os
import re
import secrets
import shutil
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ROLES = ("web", "worker", "background", "beat")
NOT_IN_IT = ("node", "npm", "pip", "gcc", "cc", "make")
PRODUCT = "TSEL10"
NAME, PASSWORD, FACTOR = "cashier", secrets.token_hex(12), "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
OWNER = "owner"
# A batch of one row, as XLSX, and its check.
WORKBOOK = (
    'import xlsxwriter; book = xlsxwriter.Workbook("/tmp/batch.xlsx");'
    ' book.add_worksheet().write_row(0, 0, ["081290000002", "TSEL10"]); book.close()'
)
CHECK_WORKBOOK = "./run manage batch /tmp/batch.xlsx --json"
PERSON = f"""
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import Group
from staff.factor_store import EncryptedFactors
from staff.models import User
person = User.objects.create_user({NAME!r}, password={PASSWORD!r})
person.groups.add(Group.objects.get(name="cashier"))
Authenticator.objects.create(user=person, type="totp", data={{"secret": EncryptedFactors().encrypt({FACTOR!r})}})
"""


def free_port() -> int:
    """A port of 127.0.0.1 on which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def wait_for(what: str, is_there: Callable[[], bool], seconds: float = 120.0) -> None:
    """Wait until `is_there` is true; SystemExit after `seconds`."""
    deadline = time.monotonic() + seconds
    while not is_there():
        if time.monotonic() > deadline:
            sys.exit(f"FAILED: {what}, after {seconds:.0f} s")
        time.sleep(0.3)
    print(f"ok  {what}", flush=True)


def succeeds(command: list[str], environment: dict[str, str] | None = None) -> bool:
    """Whether a command's exit code is 0."""
    return subprocess.run(command, env=environment, capture_output=True, check=False).returncode == 0


class Machine:
    """The distribution's services, in one folder; `stop` ends all that it started."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.started: list[subprocess.Popen[bytes]] = []
        self.ports = {name: free_port() for name in ("postgres", "pooler", "redis", "sandbox", "web", "tls", "plain")}
        self.as_user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        self.passwords = {name: secrets.token_hex(16) for name in ("OWNER_PASSWORD", "APP_PASSWORD", "REDIS_PASSWORD")}

    def start(self, *words: object, log: str, unprivileged: bool = True, **environment: str) -> subprocess.Popen[bytes]:
        """Start a program with its output in the file `log`."""
        command = [*(self.as_user if unprivileged else []), *(str(word) for word in words)]
        with (self.folder / log).open("wb") as output:
            env = {**os.environ, **environment}
            process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, cwd=self.folder, env=env)
        self.started.append(process)
        return process

    def stop(self) -> None:
        """End everything, the last one first."""
        for process in reversed(self.started):
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(20)
            process.kill()

    def start_stores(self) -> None:
        """PostgreSQL with its two roles, PgBouncer in transaction mode, Redis with a password."""
        programs = Path(max(glob.glob("/usr/lib/postgresql/*/bin")))  # noqa: PTH207
        data, port = self.folder / "postgres", self.ports["postgres"]
        make = [*self.as_user, programs / "initdb", "-D", data, "-U", "postgres", "-E", "UTF8", "--auth=trust"]
        subprocess.run(make, check=True, stdout=subprocess.DEVNULL, cwd=self.folder)
        settings = ("-c", "listen_addresses=127.0.0.1", "-k", self.folder, "-p", port)
        self.start(programs / "postgres", "-D", data, *settings, log="postgres.log")
        here = {**os.environ, **self.passwords, "PGHOST": str(self.folder), "PGPORT": str(port)}
        ready = [str(programs / "pg_isready"), "-q"]
        wait_for("PostgreSQL answers", lambda: succeeds(ready, here))
        subprocess.run(["bash", ROOT / "deploy/make_roles.sh"], env=here, check=True, stdout=subprocess.DEVNULL)
        command = ["psql", "-qU", "postgres", "-c", "CREATE DATABASE sandbox"]
        subprocess.run(command, env=here, check=True)
        (self.folder / "users.txt").write_text(f'"backoffice_app" "{self.passwords["APP_PASSWORD"]}"\n')
        (self.folder / "pgbouncer.ini").write_text(
            f"[databases]\nbackoffice = host=127.0.0.1 port={port}\n[pgbouncer]\nlisten_addr = 127.0.0.1\n"
            f"listen_port = {self.ports['pooler']}\nunix_socket_dir =\npool_mode = transaction\n"
            f"default_pool_size = 20\nauth_type = plain\nauth_file = {self.folder}/users.txt\nmax_client_conn = 200\n"
        )
        self.start("pgbouncer", self.folder / "pgbouncer.ini", log="pgbouncer.log")
        words = ("--bind", "127.0.0.1", "--port", self.ports["redis"], "--maxmemory-policy", "noeviction")
        self.start("redis-server", *words, "--requirepass", self.passwords["REDIS_PASSWORD"], log="redis.log")

    def start_proxy(self) -> ssl.SSLContext:
        """Caddy with the project's file, on loopback alone; returns a TLS context that trusts its certificate."""
        text = (ROOT / "deploy/Caddyfile").read_text()
        options = f"default_bind 127.0.0.1\n\tadmin off\n\tskip_install_trust\n\thttp_port {self.ports['plain']}"
        (self.folder / "Caddyfile").write_text(text.replace("{\n", f"{{\n\t{options}\n", 1))
        kept = {"XDG_DATA_HOME": str(self.folder), "XDG_CONFIG_HOME": str(self.folder), "HOME": str(self.folder)}
        names = {"SITE_HOST": f"localhost:{self.ports['tls']}", "WEB": f"127.0.0.1:{self.ports['web']}"}
        words = ("caddy", "run", "--adapter", "caddyfile", "--config", self.folder / "Caddyfile")
        self.start(*words, log="caddy.log", **kept, **names)
        root = self.folder / "caddy/pki/authorities/local/root.crt"
        wait_for("Caddy has a certificate", root.exists)
        return ssl.create_default_context(cadata=root.read_text())

    def environment(self) -> dict[str, str]:
        """The environment of every role of the shop."""
        site, ports = f"https://localhost:{self.ports['tls']}", self.ports
        return {
            "DATABASE_URL": f"postgresql://backoffice_app:{self.passwords['APP_PASSWORD']}@127.0.0.1:{ports['pooler']}/backoffice",
            "DATABASE_POOLED": "1",
            "REDIS_URL": f"redis://:{self.passwords['REDIS_PASSWORD']}@127.0.0.1:{ports['redis']}/0",
            "SECRET_KEY": secrets.token_hex(32),
            "AUDIT_KEY": base64.b64encode(secrets.token_bytes(32)).decode(),
            "ALLOWED_HOSTS": "localhost",
            "CSRF_TRUSTED_ORIGINS": site,
            "SITE_URL": site,
            "BEHIND_TLS_PROXY": "1",
            "TRUSTED_PROXY_COUNT": "1",
            "UPSTREAM_BASE_URL": f"http://127.0.0.1:{ports['sandbox']}",
            "UPSTREAM_SECRET_ID": "of-this-try",
            "UPSTREAM_SECRET_KEY": secrets.token_hex(16),
        }

    def of_sandbox(self, environment: dict[str, str]) -> dict[str, str]:
        """The environment of the sandbox."""
        return {
            "SANDBOX_DATABASE_URL": f"postgresql://postgres@127.0.0.1:{self.ports['postgres']}/sandbox",
            "SANDBOX_SECRET_KEY": secrets.token_hex(32),
            "SANDBOX_TOKEN": secrets.token_hex(16),
            "SANDBOX_SECRET_ID": environment["UPSTREAM_SECRET_ID"],
            "SANDBOX_SECRET_KEY_UPSTREAM": environment["UPSTREAM_SECRET_KEY"],
            "SANDBOX_CALLBACK_URL": f"http://127.0.0.1:{self.ports['web']}/callbacks/upstream/",
        }


def new_name() -> str:
    """A name for a container."""
    return f"try-{secrets.token_hex(4)}"


class Image:
    """The image, whose commands run in containers: by Docker, or by buildah in a chroot."""

    def __init__(self, name: str, engine: str) -> None:
        self.name = name
        self.engine = engine
        self.containers: list[str] = []

    def command(self, words: tuple[str, ...], environment: dict[str, str], name: str) -> list[str]:
        """The command line that runs these words as the image's user, in a new container of this name."""
        variables = [word for pair in environment.items() for word in ("--env", "=".join(pair))]
        if self.engine == "docker":
            safe = ["--read-only", "--tmpfs", "/tmp", "--cap-drop", "ALL", "--init"]  # noqa: S108
            run = ["docker", "run", "--rm", "--name", name, "--network", "host", *safe, *variables]
            return [*run, "--entrypoint", words[0], self.name, *words[1:]]
        subprocess.run(
            ["buildah", "from", "--pull-never", "--name", name, self.name], check=True, stdout=subprocess.DEVNULL
        )
        self.containers.append(name)
        return ["buildah", "run", "--isolation", "chroot", "--user", "10001", *variables, name, "--", *words]

    def inside(self, name: str, *words: str) -> list[str]:
        """The command line that runs these words in a running container."""
        if self.engine == "docker":
            return ["docker", "exec", name, *words]
        return ["buildah", "run", "--isolation", "chroot", "--user", "10001", name, "--", *words]

    def call(self, *words: str, **environment: str) -> str:
        """Run a command in a container of its own; returns its output. SystemExit when it fails."""
        command = self.command(words, environment, new_name())
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            sys.exit(f"FAILED: {' '.join(words)[:80]}\n{result.stdout}{result.stderr}")
        return result.stdout

    def remove(self) -> None:
        """Delete the containers."""
        for name in self.containers:
            subprocess.run(["buildah", "rm", name], stdout=subprocess.DEVNULL, check=False)


class Browser:
    """A person's browser, which opens the proxy's address."""

    def __init__(self, address: str, trust: ssl.SSLContext) -> None:
        self.address = address
        self._cookies = http.cookiejar.CookieJar()
        cookies = urllib.request.HTTPCookieProcessor(self._cookies)
        self._opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=trust), cookies)
        self.page = ""
        self.seen: list[str] = []

    def get(self, path: str) -> int:
        """Open a page; returns its status."""
        return self._open(urllib.request.Request(f"{self.address}{path}"))  # noqa: S310

    def post(self, path: str, **fields: str) -> int:
        """Send the form of the shown page with these fields; returns the status of the answer."""
        hidden = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', self.page)
        body = {**{name: html.unescape(value) for name, value in hidden}, **fields}
        data = urllib.parse.urlencode(body).encode()
        return self._open(urllib.request.Request(f"{self.address}{path}", data, {"Referer": self.address}))  # noqa: S310

    def forget(self) -> None:
        """Become a new browser: forget all cookies."""
        self._cookies.clear()

    def _open(self, request: urllib.request.Request) -> int:
        try:
            answer = self._opener.open(request, timeout=30)
        except urllib.error.HTTPError as error:
            answer = error
        with answer:
            self.page = answer.read().decode()
            title = re.search(r"<title>\s*(.*?)\s*</title>", self.page, re.DOTALL)
            self.seen.append(
                f"{request.get_method()} {answer.url} {answer.status}: {title[1] if title else self.page[:200]}"
            )
            return int(answer.status)


def code_now() -> str:
    """The code that the person's authenticator app shows."""
    digest = hmac.digest(base64.b32decode(FACTOR), struct.pack(">Q", int(time.time()) // 30), hashlib.sha1)
    (number,) = struct.unpack_from(">I", digest, digest[-1] & 15)
    return f"{(number & 0x7FFFFFFF) % 1_000_000:06}"


def join(browser: Browser, link: str) -> None:
    """Choose the owner's password on the page of the link; until then no other page answers."""
    browser.get(link)
    browser.post("/accounts/link/", new_password1=PASSWORD, new_password2=PASSWORD)
    browser.forget()


def sell(browser: Browser) -> str:
    """Sign in and sell; returns the order's ref_id."""
    browser.get("/accounts/login/")
    browser.post("/accounts/login/", login=NAME, password=PASSWORD)
    if "/accounts/second-step/" in browser.page:
        browser.post("/accounts/second-step/", factor_code=code_now())
    review = f"/counter/review/?product={PRODUCT}&q=081290000001"
    browser.get(review)
    browser.post("/counter/send/", product=PRODUCT, confirm="1", paid_by="qris")
    match = re.search(r"/orders/([\w-]{8,})/", browser.page)
    if match is None:
        sys.exit("FAILED: nothing was sold. The pages were:\n" + "\n".join(browser.seen))
    return match[1]


def read_lines(path: Path, role: str) -> tuple[int, list[str]]:
    """The number of JSON lines that the processes of a role wrote, and the lines that are not JSON."""
    others, count = [], 0
    for line in path.read_text().splitlines():
        try:
            facts = json.loads(line)
        except ValueError:
            others.append(line)
        else:
            count += facts["process"].startswith(role) and {"timestamp", "level", "event", "version"} <= facts.keys()
    return count, others


def main() -> int:
    """Try the image; 0 when everything holds."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("image", nargs="?", default="merchant-backoffice")
    options.add_argument("--with", dest="engine", choices=["docker", "buildah"], default="docker")
    chosen = options.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="try-image-"))
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres")
    machine, image = Machine(folder), Image(chosen.image, chosen.engine)
    try:
        return try_image(machine, image)
    finally:
        machine.stop()
        image.remove()
        shutil.rmtree(folder, ignore_errors=True)


def try_image(machine: Machine, image: Image) -> int:
    """Do each step; SystemExit at the first that fails."""
    search = f"id -u; for name in {' '.join(NOT_IN_IT)}; do command -v $name; done; true"
    if (seen := image.call("sh", "-c", f"PATH=$PATH:/app/.venv/bin; {search}").split()) != ["10001"]:
        sys.exit(f"FAILED: uid and programs in the image: {seen}")
    print("ok  uid 10001, and none of " + ", ".join(NOT_IN_IT))
    machine.start_stores()
    environment = machine.environment()
    owner = f"postgresql://backoffice_owner:{machine.passwords['OWNER_PASSWORD']}@127.0.0.1:{machine.ports['postgres']}/backoffice"
    image.call("./run", "manage", "prepare_app", **{**environment, "DATABASE_OWNER_URL": owner})
    invited = image.call("./run", "manage", "add_staff", OWNER, "--role", "owner", "--json", **environment)
    link = json.loads(invited)["link"].removeprefix(environment["SITE_URL"])
    image.call("./run", "manage", "shell", "--verbosity", "0", "-c", PERSON, **environment)
    print("ok  tables, an invited owner and a cashier", flush=True)
    words = (
        "manage.py",
        "run_sandbox",
        "--settings",
        "sandbox.settings",
        "--prepare",
        "--port",
        str(machine.ports["sandbox"]),
    )
    sandbox = image.command((".venv/bin/python", *words), machine.of_sandbox(environment), new_name())
    machine.start(*sandbox, log="sandbox.log", unprivileged=False)
    names = {role: new_name() for role in ROLES}
    for role, name in names.items():
        up = ("./run", "up", "--host", "127.0.0.1", "--port", str(machine.ports["web"]), "--only", role)
        command = image.command(up, {**environment, "INSTALLATION": role}, name)
        machine.start(*command, log=f"{role}.log", unprivileged=False)
    browser = Browser(f"https://localhost:{machine.ports['tls']}", machine.start_proxy())

    def is_ready() -> bool:
        with contextlib.suppress(OSError):
            readyz = f"http://127.0.0.1:{machine.ports['web']}/readyz"
            return bool(json.load(urllib.request.urlopen(readyz, timeout=5))["ready"])
        return False

    wait_for("/readyz: database, Redis, worker, background and beat", is_ready)
    for role, name in names.items():
        status = image.inside(name, "./run", "status")
        wait_for(f"{role} is well", functools.partial(succeeds, status), 30)

    # the first request waits a minute, because nobody knows what was sent for this account just before
    sync = ("./run", "manage", "sync_catalogue", "--if-empty")
    wait_for("the catalogue is there", lambda: succeeds(image.command(sync, environment, new_name())), 240)
    join(browser, link)
    ref_id = sell(browser)
    order = ("./run", "manage", "order", ref_id)  # exit code 0: success, 3: not final yet
    wait_for(
        f"order {ref_id} succeeded, sold at {browser.address}",
        lambda: succeeds(image.command(order, environment, new_name())),
    )
    checked = json.loads(image.call("sh", "-c", f".venv/bin/python -c '{WORKBOOK}' && {CHECK_WORKBOOK}", **environment))
    if [row["fault"] for row in checked["rows"]] != [None]:
        sys.exit(f"FAILED: the batch of a workbook is {checked}")
    print("ok  a workbook is checked as a batch")
    for role in ROLES:
        count, others = read_lines(machine.folder / f"{role}.log", role)
        if others or not count:
            sys.exit(f"FAILED: {role} wrote {count} JSON lines and besides:\n" + "\n".join(others[:20]))
        print(f"ok  {role} wrote {count} JSON lines and nothing else")
    return 0


if __name__ == "__main__":
    sys.exit(main())
