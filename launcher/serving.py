"""`./run up`: starts everything, watches it, and stops it in order."""

import argparse
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

from launcher import PYTHON, ROOT, version
from launcher.archiving import CopiedLog, LogCopies, Nights
from launcher.backing_up import about_foreign_database, backup_folder, kept
from launcher.bucket_copies import BucketCopies, bucket_of
from launcher.commands import DEFAULT_PORT, LOOPBACK, ROLES
from launcher.data_folder import DataFolderInUseError, SharedEnvironment, claim, claim_from, held, write_state
from launcher.drilling import Months
from launcher.installing import locked
from launcher.output import NOT_YET, LaunchError, Say, json_output, last_lines
from launcher.processes import Child, ProcessGroup, Stage
from launcher.project import Project, read_project
from launcher.roles import Roles, numbers, take_address
from launcher.sent_copies import SentCopies
from launcher.services import Service
from launcher.stack import Stack
from launcher.upgrading import commit, upgrade_lock

# Variables that `./run manage` takes from its own terminal; it takes the others from our environment.
TERMINALS_OWN = frozenset(["PATH", "HOME", "USER", "SHELL", "TERM", "COLUMNS", "LINES", "PWD", "OLDPWD", "SHLVL", "_"])
LOG_LOOK_SECONDS = 2.0
_DEMO_NAMES = ("cashier", "supervisor", "admin", "owner", "auditor", "viewer")
DEMO_LOGINS = tuple(f"{name} / {name}-demo" for name in _DEMO_NAMES)


def run(group: ProcessGroup, say: Say, options: argparse.Namespace) -> int:
    """Run the whole backoffice until somebody stops it. Returns 0 when asked to stop; LaunchError otherwise."""
    project = read_project()
    if project.logs_as_json:
        say = json_output
    if options.only:
        project = project.of_roles(sorted(set(options.only), key=ROLES.index))
    project.make_ready()
    roles = options.only or ROLES
    numbers(project.given)  # a wrong one is refused before anything is started
    try:
        with held(project.data):
            is_fixed = options.port is not None or not project.sandboxed
            port = choose_port(options.port or DEFAULT_PORT, say, is_fixed=is_fixed) if "web" in roles else 0
            listener = take_address(options.host, port) if port else None
            server = Server(project, group, say, roles=roles, port=port, listener=listener, is_empty=options.empty)
            try:
                server.start()
                server.watch()
            finally:
                server.stop()
        if server.gives_way:
            with locked(upgrade_lock(project.data), group):
                pass  # ./run upgrade has put the new version in place
            os.execv(PYTHON, [str(PYTHON), str(ROOT / "run"), *sys.argv[1:]])  # noqa: S606
    except DataFolderInUseError as error:
        address = error.state.get("address")
        doing = f"./run is already running at {address}" if address else "another ./run is busy"
        raise LaunchError(
            f"The data folder {project.data} is in use: {doing} (process {error.state.get('pid', 'unknown')}); stop it "
            "first, or choose another folder with BACKOFFICE_DATA."
        ) from None
    return 0


def choose_port(wanted: int, say: Say, *, is_fixed: bool) -> int:
    """The wanted port, or else the next free one, which is printed; LaunchError when the port `is_fixed` and in use.

    A port is fixed when a person has named it, and with a real upstream: the proxy in front knows this port.
    """
    if is_fixed:
        if not claim(wanted):
            raise LaunchError(f"Port {wanted} is in use: end what listens there, or name another port with --port.")
        return wanted
    port = claim_from(wanted)
    if port != wanted:
        say(f"Port {wanted} is in use: taking {port}")
    return port


class Server:
    """The processes of one running backoffice."""

    def __init__(
        self,
        project: Project,
        group: ProcessGroup,
        say: Say,
        *,
        roles: Sequence[str],
        port: int,
        listener: socket.socket | None,
        is_empty: bool,
    ) -> None:
        self._project = project
        self._group = group
        self._say = say
        self._names = roles
        self._port = port
        self._listener = listener
        self._is_empty = is_empty  # a demo without a month behind it
        self._started = time.time()
        self._logs_due = 0.0  # when to check the logs' size again
        self._stack = Stack(project, group)
        self._shared = SharedEnvironment()
        self._roles = Roles(self._stack, listener)
        self._stores: list[Service] = []
        self._nights: Nights | None = None
        self._months: Months | None = None
        self._sent_copies: SentCopies | None = None
        self._copied_log: CopiedLog | None = None
        self._services: list[Service] = []
        self._is_noted = False  # whether state.json is up to date
        self.gives_way = False  # whether it stops for `./run upgrade`
        signal.signal(signal.SIGUSR1, self._give_way)
        self._version = {"version": version(), "commit": commit()}
        self._address = address_of_pages(project, port) if port else ""

    def start(self) -> None:
        """Start all of it; returns when the pages are served and every process runs."""
        stack, say = self._stack, self._say
        self._write_state(doing="starting")
        stack.start_stores(web_port=self._port, site=site_of_a_trial(self._project, self._address), say=say)
        self._stores = stack.stores.services()
        self._keep_backups()
        self._write_state(doing="starting")
        say("PostgreSQL and Redis answer" if "REDIS_URL" in self._project.given else "PostgreSQL and Valkey answer")
        # at the same time: preparing the app's database takes longest, and starting Python is most of the rest
        prepare = stack.manage("prepare_app")
        sandbox = self._begin_sandbox() if self._project.sandboxed else None
        stack.finish_preparing(prepare)
        say("Database, translations and roles are up to date")
        is_whole = len(self._names) == len(ROLES)
        if sandbox:
            stack.await_sandbox(sandbox)
            say(f"Sandbox (a stand-in of the upstream) answers on port {stack.sandbox_port}")
        is_opened = is_whole and sandbox is not None and self._open_demo()
        if self._listener:
            web = self._begin("web")
        # a single role does not fetch the catalogue: beat has it fetched
        is_fetched = is_opened or stack.has_catalogue
        sync = stack.manage("sync_catalogue", "--if-empty") if is_whole and not is_fetched else None
        if self._listener:
            stack.await_http(
                web, port=self._port, path="/healthz", host=first_host(self._project), address=self._host()
            )
            say(f"Pages are served on port {self._port}")
        for role in self._names:
            if role != "web":
                self._begin(role)
        if sync:
            self._group.finish(sync)
            self._note_catalogue(sync)
        elif stack.has_catalogue:
            say("Catalogue is there")
        for service in self._services:
            if service.child and not service.child.running():
                raise LaunchError(f"{service.name} ended instead of starting: its log says why.", log=service.child.log)
        self._write_state(doing="serving")
        self._greet()

    def watch(self) -> None:
        """Keep everything running until a signal comes; restart processes that end."""
        while not self._group.interruptions and not self.gives_way:
            for service in (*self._stores, *self._services):
                if service.keep_up(self._group, self._say):
                    self._is_noted = False
            if not self._is_noted:
                self._write_state(doing="serving")
            if self._nights:
                self._nights.look(self._say)
            if self._months:
                self._months.look(self._say)
            self._group.keep_watchdog()
            if time.monotonic() >= self._logs_due:
                self._group.trim_logs()
                self._logs_due = time.monotonic() + LOG_LOOK_SECONDS
            time.sleep(0.2)
        self._say("Stopping for ./run upgrade" if self.gives_way else "Stopping (Ctrl-C again: faster)")

    def _give_way(self, _number: int, _frame: object) -> None:
        self.gives_way = True

    def stop(self) -> None:
        """Stop in order: beat, then web and the workers, the sandbox, Valkey, PostgreSQL; within ten seconds."""
        if self._listener:
            self._listener.close()  # the web processes serve the open connections, and take no new ones
        self._stop("beat", grace=1.0)
        # a busy worker is cut off: the sweep finds its work in PostgreSQL
        cut_off = ((signal.SIGQUIT, 0.3), (signal.SIGKILL, 0.5))
        self._stop("web", "worker", "background", grace=4.5, then=cut_off)
        self._stop("sandbox", grace=1.5)
        self._group.stop(self._group.children(Stage.APP), grace=0.5)  # left from a start that was interrupted
        if self._sent_copies:
            self._sent_copies.end()
        if self._copied_log:
            self._copied_log.end()
        self._stack.stores.stop(grace=1.5)
        self._group.close()

    def _stop(self, *roles: str, grace: float, then: Sequence[tuple[int, float]] = ((signal.SIGKILL, 0.5),)) -> None:
        ours = [service for service in self._services if service.name.partition("-")[0] in roles]
        self._group.stop([service.child for service in ours if service.child], grace=grace, then=then)

    def _keep_backups(self) -> None:
        """With BACKUP_TO: copy the log and the journal all the time, make a backup each night and a drill each month.

        With BACKUP_BUCKET: copy all of that to the bucket, too.
        """
        folder, postgres = backup_folder(self._project), self._stack.stores.postgres
        if fault := about_foreign_database(self._project):
            self._say(f"Warning: {fault}")
        days, identifier = kept(self._project)[0] + 1, postgres.identifier() if postgres else ""
        self._sent_copies = SentCopies(self._project, folder, days=days, say=self._say, identifier=identifier)
        self._sent_copies.begin()
        if folder and postgres:
            self._stores.append(Service("log-copies", LogCopies(self._project, postgres, folder).begin))
            self._copied_log = CopiedLog(self._project, postgres, folder)
            self._copied_log.begin()
            self._nights = Nights(self._project, self._group, folder)
            self._months = Months(self._project, self._group, folder)
        if "BACKUP_BUCKET" in self._project.given:
            if not (folder and postgres):
                raise LaunchError("BACKUP_BUCKET gets what lies in BACKUP_TO: set that, too, and no DATABASE_URL.")
            bucket_of(self._project)  # a wrong setting is reported now
            self._services.append(Service("bucket-copies", BucketCopies(self._project, self._group).begin))

    def _begin_sandbox(self) -> Child:
        """Fill the sandbox's database and start the sandbox."""
        self._stack.prepare_sandbox()
        return self._keep("sandbox", self._stack.start_sandbox, port=self._stack.sandbox_port)

    def _begin(self, role: str) -> Child:
        """Start the processes of a role; return the first of them."""
        port = self._port if role == "web" else None
        first, *_ = [self._keep(name, begin, port=port) for name, begin in self._roles.processes(role)]
        return first

    def _keep(self, name: str, begin: Callable[[], Child], *, port: int | None = None) -> Child:
        """Start a process and keep it up from now on."""
        service = Service(name, begin, port=port)
        service.child = begin()
        self._services.append(service)
        self._write_state(doing="starting")
        return service.child

    def _host(self) -> str:
        """The host address at which this machine reaches its own pages."""
        host = str(self._listener.getsockname()[0]) if self._listener else LOOPBACK
        return {"0.0.0.0": LOOPBACK, "::": "::1"}.get(host, host)  # noqa: S104 (any address, seen from here)

    def _open_demo(self) -> bool:
        """Make a new demo's first month, once, before anybody can use the demo; returns whether it was made now."""
        opened = self._project.data / "opened"
        if self._is_empty:
            opened.touch()
        if opened.exists():
            return False
        self._say("The demo's shop lives through its first month")
        demo = self._stack.open_demo()
        if self._group.finish(demo) == 0:
            opened.touch()
            return True
        fault = LaunchError("The demo's shop has not its whole month.", log=demo.log)
        self._say(f"Warning: {fault}")
        [sandbox] = [service for service in self._services if service.name == "sandbox"]
        self._stop("sandbox", grace=1.5)
        sandbox.child = sandbox.begin()  # the former one may still have the time of the month
        self._stack.await_sandbox(sandbox.child)
        return False

    def _note_catalogue(self, sync: Child) -> None:
        """Say whether there is a catalogue now; the background fetches a missing catalogue."""
        code = sync.process.returncode
        if code == 0:
            self._say("Catalogue is there")
        elif code == NOT_YET:
            self._say(last_lines(sync.log, 1).strip() if sync.log else "")
        else:
            reason = last_lines(sync.log, 1).strip().removeprefix("CommandError: ") if sync.log else ""
            self._say(f"Warning: {reason} It is tried again every half minute (log: {sync.log}).")

    def _write_state(self, *, doing: str) -> None:
        """Write the state of this `./run` for `./run status`, `./run manage` and a second `./run`."""
        environment = self._stack.owners_environment
        own = {name: value for name, value in environment.items() if name not in TERMINALS_OWN}
        rows: list[tuple[str, int | None, int | None, float]] = [
            ("launcher", os.getpid(), None, self._started),
            ("watchdog", self._group.watchdog_pid, None, self._started),
        ]
        for service in (*self._stores, *self._services):  # a process without an id waits to be started again
            pid, started = (service.child.pid, service.child.started) if service.child else (None, time.time())
            rows.append((service.name, pid, service.port, started))
        state = {
            "doing": doing,
            "pid": os.getpid(),
            **self._version,
            "address": self._address,
            "listens": [self._host(), self._port],
            "environment_at": self._shared.share(own),
            "processes": [dict(zip(("name", "pid", "port", "started"), row, strict=True)) for row in rows],
        }
        self._is_noted = write_state(self._project.data, state)

    def _greet(self) -> None:
        self._say("Ready")
        how = []
        if self._stack.is_restored:
            how.append("this shop was restored from a backup: it sends nothing until somebody opens it (page Backups)")
        if self._port and (proxy := about_the_proxy(self._project, f"http://{self._host()}:{self._port}")):
            how.append(proxy)
        if self._project.sandboxed:
            how.append(f"sign in as: {', '.join(DEMO_LOGINS)}")
            how.append(f"the upstream is the sandbox, no real money: {self._stack.dashboard()}")
        elif self._port and self._stack.first_key:
            how.append("until the shop has an owner, only this address answers; it works once:")
            how.append(f"{self._address}/first/?key={self._stack.first_key}")
        lines = [self._address or f"roles: {', '.join(self._names)}", *how]
        if self._project.logs_as_json:
            self._say("; ".join(lines))
            return
        lines = ["", *lines, f"logs: {self._project.logs}", "stop: Ctrl-C", ""]
        print("\n".join(f"  {line}".rstrip() for line in lines), flush=True)


def address_of_pages(project: Project, port: int) -> str:
    """The address that people type: the proxy's, which SITE_URL names, or the address of the pages' own port."""
    site = project.given.get("SITE_URL", "").rstrip("/")
    if project.is_behind_tls:
        return site or f"https://{first_host(project)}"
    if site and project.given.get("TRUSTED_PROXY_COUNT", "0") != "0":
        return site
    return f"http://{urlsplit(site).hostname or first_host(project)}:{port}"


def site_of_a_trial(project: Project, address: str) -> str:
    """The address of the pages in a trial without TLS, for links where no SITE_URL is given; else ""."""
    return "" if project.sandboxed or project.is_behind_tls else address


def about_the_proxy(project: Project, port_address: str) -> str:
    """Words for what the proxy in front must do so that the address of the pages works; "" without a proxy."""
    if not project.is_behind_tls:
        return ""
    if project.is_on("BEHIND_TLS_PROXY"):
        return f"the TLS proxy in front of it forwards to {port_address} (docs/deployment.md)"
    named = "BEHIND_TLS_PROXY=1 and TRUSTED_PROXY_COUNT=1 are set (docs/deployment.md)"
    return f"it works once a TLS proxy in front of it forwards to {port_address}, and {named}"


def first_host(project: Project) -> str:
    """The first host name in ALLOWED_HOSTS; "localhost" if it names no host or allows all."""
    first = project.given.get("ALLOWED_HOSTS", "localhost").split(",")[0].strip()
    return "localhost" if first in {"", "*"} else first.removeprefix(".")
