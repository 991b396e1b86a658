"""`./run up`: starts everything, watches it, and stops it in order."""

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from backoffice.launcher.data_folder import DataFolderInUseError, held, write_state
from backoffice.launcher.failures import LaunchError, indented, last_lines
from backoffice.launcher.installing import Say
from backoffice.launcher.ports import claim_from
from backoffice.launcher.processes import Child, Family, Stage
from backoffice.launcher.project import Project
from backoffice.launcher.stack import Stack

DEFAULT_PORT = 8000
RESTARTS_A_MINUTE = 3
# What another terminal has of its own; everything else of our environment is what `./run manage` runs in.
TERMINALS_OWN = frozenset(["PATH", "HOME", "USER", "SHELL", "TERM", "COLUMNS", "LINES", "PWD", "OLDPWD", "SHLVL", "_"])
CATALOGUE_RETRY_SECONDS = 60.0
DEMO_LOGINS = tuple(f"{name} / {name}-demo" for name in ("cashier", "admin", "owner", "auditor"))
WORKER = (
    "-m",
    "celery",
    "-A",
    "backoffice",
    "worker",
    "-P",
    "threads",
    "-c",
    "8",
    "--without-gossip",
    "--without-mingle",
)


@dataclass
class Service:
    """A process that has to run all the time; `begin` starts it."""

    name: str
    begin: Callable[[], Child]
    port: int | None = None
    child: Child | None = None
    restarts: list[float] = field(default_factory=list)
    due: float = 0.0


def choose_port(wanted: int, say: Say) -> int:
    """The wanted port, or the next free one, said aloud."""
    port = claim_from(wanted)
    if port != wanted:
        say(f"Port {wanted} is in use: taking {port}")
    return port


def serve(project: Project, family: Family, say: Say, *, port: int) -> int:
    """Run the whole backoffice until somebody stops it. Returns 0 after a wished stop; LaunchError otherwise."""
    project.require_real_settings()
    project.make_data_folder()
    try:
        with held(project.data):
            server = Server(project, family, say, port=choose_port(port, say))
            try:
                server.start()
                server.watch()
            finally:
                server.stop()
    except DataFolderInUseError as error:
        address = error.state.get("address")
        doing = f"./run is already running at {address}" if address else "another ./run is busy"
        raise LaunchError(
            f"The data folder {project.data} is in use: {doing} (process {error.state.get('pid', 'unknown')}); stop it "
            "first, or choose another folder with BACKOFFICE_DATA."
        ) from None
    return 0


class Server:
    """The processes of one running backoffice."""

    def __init__(self, project: Project, family: Family, say: Say, *, port: int) -> None:
        self._project = project
        self._family = family
        self._say = say
        self._port = port
        self._started = time.time()
        self._sync: Child | None = None
        self._catalogue_due = 0.0  # when to ask again; 0: not needed
        self._stack = Stack(project, family)
        self._services: list[Service] = []
        self._address = f"http://localhost:{port}"

    def start(self) -> None:
        """Start all of it; returns when the pages are served and every process runs."""
        stack, say = self._stack, self._say
        self._write_state(doing="starting")
        stack.start_stores(web_port=self._port)
        self._write_state(doing="starting")
        embedded = [
            name for name, store in (("PostgreSQL", stack.stores.postgres), ("Valkey", stack.stores.valkey)) if store
        ]
        say(f"{' and '.join(embedded)} answer" if embedded else "DATABASE_URL and REDIS_URL answer")
        # side by side: each of these is mostly the start of a Python
        prepare = stack.manage("prepare_app")
        seed = stack.prepare_sandbox() if self._project.sandboxed else None
        stack.finish_preparing(prepare)
        say("Database, translations and roles are up to date")
        web = self._begin("web", self._web, port=self._port)
        if seed:
            stack.finish(seed, "The sandbox's database could not be prepared.")
            sandbox = self._begin("sandbox", stack.start_sandbox, port=stack.sandbox_port)
            stack.await_http(sandbox, port=stack.sandbox_port or 0, path="/")
            say(f"Sandbox (a stand-in of the upstream) answers on port {stack.sandbox_port}")
        stack.await_http(web, port=self._port, path="/healthz", host=self._web_host())
        say(f"Pages are served on port {self._port}")
        sync = stack.manage("sync_catalogue", "--if-empty")
        self._begin("worker", lambda: self._worker("worker", "interactive,receipts"))
        self._begin("background", lambda: self._worker("background", "background"))
        self._begin("beat", self._beat)
        try:
            stack.finish(sync, "The catalogue could not be fetched now; it is tried again every minute.")
            say("Catalogue is there")
        except LaunchError as error:
            say(f"Warning: {error}")
            self._catalogue_due = time.monotonic() + CATALOGUE_RETRY_SECONDS
        for service in self._services:
            if service.child and not service.child.running():
                raise LaunchError(f"{service.name} ended instead of starting: its log says why.", log=service.child.log)
        self._write_state(doing="serving")
        self._greet()

    def watch(self) -> None:
        """Keep everything running until a signal comes; LaunchError when something cannot be kept running."""
        while not self._family.interruptions:
            for child in self._stack.stores.children():
                if not child.running():
                    raise LaunchError(
                        f"{child.name} {how_it_ended(child)}; without it nothing works, so everything is stopped. "
                        "Start ./run again: its data is safe.",
                        log=child.log,
                    )
            for service in self._services:
                self._keep_up(service)
            self._fetch_catalogue()
            self._family.keep_guardian()
            time.sleep(0.2)
        self._say("Stopping (a second Ctrl-C hurries)")

    def stop(self) -> None:
        """Stop in order: beat, then web and the workers, the sandbox, Valkey, PostgreSQL; within ten seconds."""
        self._stop(["beat"], grace=1.0)
        # a worker that is still busy is cut off: whatever it was doing, the sweeps find it in PostgreSQL
        self._stop(["web", "worker", "background"], grace=4.5, then=((signal.SIGQUIT, 0.3), (signal.SIGKILL, 0.5)))
        self._stop(["sandbox"], grace=1.5)
        self._family.stop(self._family.children(Stage.APP), grace=0.5)  # a step of the start that was interrupted
        self._stack.stores.stop(grace=1.5)
        self._family.close()

    def _stop(
        self, names: Iterable[str], *, grace: float, then: tuple[tuple[int, float], ...] = ((signal.SIGKILL, 0.5),)
    ) -> None:
        children = [service.child for service in self._services if service.name in names and service.child]
        self._family.stop(children, grace=grace, then=then)

    def _begin(self, name: str, begin: Callable[[], Child], *, port: int | None = None) -> Child:
        service = Service(name, begin, port=port)
        service.child = begin()
        self._services.append(service)
        self._write_state(doing="starting")
        return service.child

    def _web(self) -> Child:
        return self._stack.python("web", "-m", "backoffice.web", "--port", str(self._port), log="web")

    def _worker(self, name: str, queue: str) -> Child:
        level = self._project.given.get("LOG_LEVEL", "INFO")
        return self._stack.python(name, *WORKER, "-Q", queue, "-n", f"{name}@%h", "-l", level, log=name)

    def _beat(self) -> Child:
        schedule = self._project.data / "beat" / "schedule"
        schedule.parent.mkdir(mode=0o700, exist_ok=True)
        words = ("-m", "celery", "-A", "backoffice", "beat", "-s", schedule, "--pidfile=")
        return self._stack.python("beat", *words, "-l", self._project.given.get("LOG_LEVEL", "INFO"), log="beat")

    def _web_host(self) -> str:
        """A host name that the app takes."""
        first = self._stack.environment["ALLOWED_HOSTS"].split(",")[0].strip()
        return "localhost" if first in {"", "*"} else first.removeprefix(".")

    def _keep_up(self, service: Service) -> None:
        """Start a process again that has ended, each time a little later; LaunchError the fourth time in a minute."""
        child, now = service.child, time.monotonic()
        if child is not None and not child.running():
            self._family.forget(child)
            service.child = None
            service.restarts = [moment for moment in service.restarts if now - moment < 60]
            if len(service.restarts) >= RESTARTS_A_MINUTE:
                raise LaunchError(
                    f"{service.name} {how_it_ended(child)} for the {len(service.restarts) + 1}th time within a "
                    "minute, so everything is stopped: its log says why.",
                    log=child.log,
                )
            service.due = now + 0.5 * 2 ** len(service.restarts)
            self._say(f"{service.name} {how_it_ended(child)} and is started again; its last lines:")
            if child.log:
                print(indented(last_lines(child.log, 5)), flush=True)
        if service.child is None and now >= service.due:
            service.restarts.append(now)
            service.child = service.begin()
            self._write_state(doing="serving")

    def _fetch_catalogue(self) -> None:
        """Until there is a catalogue, ask for one again every minute (the app itself asks more rarely)."""
        if self._sync is None:
            if self._catalogue_due and time.monotonic() >= self._catalogue_due:
                self._sync = self._stack.manage("sync_catalogue", "--if-empty")
        elif not self._sync.running():
            fetched = self._sync.process.returncode == 0
            self._family.forget(self._sync)
            self._sync = None
            self._catalogue_due = 0.0 if fetched else time.monotonic() + CATALOGUE_RETRY_SECONDS
            if fetched:
                self._say("Catalogue is there")

    def _write_state(self, *, doing: str) -> None:
        """Tell `./run status`, `./run manage` and a second `./run` about this one."""
        own = {name: value for name, value in self._stack.environment.items() if name not in TERMINALS_OWN}
        stores = self._stack.stores
        ports = {"postgres": stores.postgres, "valkey": stores.valkey}
        listed: list[dict[str, object]] = [
            {"name": "launcher", "pid": os.getpid(), "port": None, "started": self._started},
            {"name": "guardian", "pid": self._family.guardian_pid, "port": None, "started": self._started},
        ]
        for child in stores.children():
            store = ports[child.name]
            listed.append(as_row(child, store.port if store else None))
        listed += [as_row(service.child, service.port) for service in self._services if service.child]
        write_state(
            self._project.data,
            {
                "doing": doing,
                "pid": os.getpid(),
                "address": self._address,
                "environment": own,
                "processes": listed,
            },
        )

    def _greet(self) -> None:
        self._say("Ready")
        lines = ["", f"  {self._address}"]
        if not self._project.sandboxed:
            lines += [
                f"  for the browser: the proxy in front of it, at {self._stack.environment['ALLOWED_HOSTS']}",
                "  the first admin: ./run manage createsuperuser",
            ]
        if self._project.sandboxed:
            lines += [
                f"  sign in as: {', '.join(DEMO_LOGINS)}",
                f"  the upstream is the sandbox, no real money: http://localhost:{self._stack.sandbox_port}",
            ]
        lines += [f"  logs: {self._project.logs}", "  stop: Ctrl-C", ""]
        print("\n".join(lines), flush=True)


def as_row(child: Child, port: int | None) -> dict[str, object]:
    """A child as state.json lists it."""
    return {"name": child.name, "pid": child.pid, "port": port, "started": child.started}


def how_it_ended(child: Child) -> str:
    """ "was killed (SIGKILL)" or "ended with exit code 1"."""
    code = child.process.returncode
    if code is not None and code < 0:
        with contextlib.suppress(ValueError):
            return f"was ended by {signal.Signals(-code).name}"
    return f"ended with exit code {code}"


def teller(started: float) -> Say:
    """A function that prints a line with the seconds since `started`."""

    def say(sentence: str) -> None:
        print(f"{time.monotonic() - started:6.1f} s  {sentence}", flush=True)

    return say


def whisper(sentence: str) -> None:
    """Print a line of ours beside a command whose standard output belongs to somebody else."""
    print(sentence, file=sys.stderr, flush=True)
