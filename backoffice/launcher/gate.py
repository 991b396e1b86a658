"""`./run test`, `./run check` and `./run lock`."""

import contextlib
import difflib
import os
import re
import shutil
import subprocess
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from backoffice.launcher.embedded import Stores
from backoffice.launcher.failures import LaunchError, indented
from backoffice.launcher.installing import DEVELOPMENT, NODE, RUNTIME, Say, node_environment
from backoffice.launcher.processes import Family
from backoffice.launcher.project import Project
from backoffice.launcher.stack import APP_DATABASE, SANDBOX_DATABASE
from backoffice.launcher.translations import untranslated

LOCKS = (RUNTIME, DEVELOPMENT, NODE)
# --system-certs: trust what the machine trusts, as pip does
COMPILE = (
    "--system-certs",
    "pip",
    "compile",
    "--quiet",
    "--universal",
    "--generate-hashes",
    "--no-emit-index-url",
    "--no-emit-find-links",
)
# a lock holds hashes, never where a file came from
ADDRESS = re.compile(r"https?://|file://|--index-url|--extra-index-url|--find-links")
# what an installation with a real upstream has, so that Django's deployment checks look at the real thing
PRODUCTION = {
    "SECRET_KEY": "zq8-only-for-the-deployment-check-Jv3mWx7RkT0bNcYd5LhPfG2sUaEoQi9",
    "ALLOWED_HOSTS": "backoffice.example.com",
    "CSRF_TRUSTED_ORIGINS": "https://backoffice.example.com",
    "UPSTREAM_BASE_URL": "https://upstream.example.com",
    "UPSTREAM_SECRET_ID": "id",
    "UPSTREAM_SECRET_KEY": "key",
    "DATABASE_URL": "postgresql://127.0.0.1:9/none",
    "REDIS_URL": "redis://127.0.0.1:9/0",
    "BACKOFFICE_SANDBOX": "0",
    "DEBUG": "0",
    "HTTPS": "1",
    "DJANGO_SETTINGS_MODULE": "backoffice.settings",
}


def test(project: Project, family: Family, words: list[str]) -> int:
    """Become pytest, in parallel unless the arguments say otherwise. tests/services.py starts what the tests need."""
    alone = any(word.startswith(("-n", "--numprocesses", "--pdb", "--trace")) or word == "no:xdist" for word in words)
    workers = [] if alone else ["-n", str(max(2, os.cpu_count() or 2))]
    family.close()
    os.chdir(project.root)
    os.execv(project.python, [str(project.python), "-m", "pytest", *workers, *words])  # noqa: S606


@dataclass(frozen=True)
class Check:
    """A named look at the project: None when all is well, else what is wrong."""

    name: str
    look: Callable[[], str | None]


def check(project: Project, family: Family) -> int:
    """Run every check, two at a time; a line for each, the output of those that fail; 0 when all pass."""
    failed = []
    started = time.monotonic()
    with throw_away_stores(family) as stores, ThreadPoolExecutor(max_workers=2) as pool:
        running = [(item, pool.submit(timed, item)) for item in all_checks(project, stores)]
        for item, future in running:
            while not future.done():
                if family.interruptions:
                    pool.shutdown(cancel_futures=True)
                family.pause(0.02)
            wrong, seconds = future.result()
            print(f"{'ok    ' if wrong is None else 'FAILED'} {item.name:<48} {seconds:5.1f} s", flush=True)
            if wrong is not None:
                failed.append(item.name)
                print(indented(wrong), flush=True)
    seconds = time.monotonic() - started
    if failed:
        print(f"\n{len(failed)} of {len(running)} checks failed: {', '.join(failed)}")
        return 1
    print(f"\nAll {len(running)} checks pass ({seconds:.0f} s)")
    return 0


@contextlib.contextmanager
def throw_away_stores(family: Family) -> Iterator[Stores]:
    """A PostgreSQL with two empty databases: whether migrations fit together is asked of a real one."""
    folder = Path(tempfile.mkdtemp(prefix="backoffice-check-"))
    folder.chmod(0o711)  # as root, PostgreSQL runs as another user
    family.discard_at_end(folder)
    stores = Stores(folder, family, durable=False, valkey=False)
    stores.start(APP_DATABASE, SANDBOX_DATABASE)
    try:
        yield stores
    finally:
        stores.stop(grace=1.0)


def timed(item: Check) -> tuple[str | None, float]:
    """What a check found and how many seconds it took."""
    started = time.monotonic()
    found = item.look()
    return found, time.monotonic() - started


def all_checks(project: Project, stores: Stores) -> list[Check]:
    """The checks, longest first so that two at a time end soonest."""
    if stores.postgres is None:
        raise LaunchError("The checks need a PostgreSQL of their own.")
    databases = {
        "DATABASE_URL": stores.postgres.url(APP_DATABASE),
        "SANDBOX_DATABASE_URL": stores.postgres.url(SANDBOX_DATABASE),
    }
    npm_words = [str(npm(project)), "ci", "--dry-run", "--ignore-scripts"]
    of_sandbox = {**databases, "DJANGO_SETTINGS_MODULE": "sandbox.settings"}
    python = str(project.python)
    tools = project.venv / "bin"

    def command(name: str, *words: str, **environment: str) -> Check:
        return Check(name, lambda: outcome(project, [*words], environment))

    def django(name: str, *words: str, **environment: str) -> Check:
        return command(name, python, "manage.py", *words, **{**PRODUCTION, **databases, **environment})

    templates = [str(path) for path in tracked(project, "*.html")]
    return [
        Check("types (mypy)", lambda: types(project, "backoffice.settings")),
        Check("types of the sandbox (mypy)", lambda: types(project, "sandbox.settings")),
        command("who may import whom (import-linter)", python, str(tools / "lint-imports"), "--no-cache"),
        django("migrations match the models", "makemigrations", "--check", "--dry-run"),
        django("migrations match the models (sandbox)", "makemigrations", "--check", "--dry-run", **of_sandbox),
        django("ready to deploy (check --deploy)", "check", "--deploy", "--fail-level", "WARNING"),
        Check("translations are complete", lambda: untranslated(project, PRODUCTION)),
        Check("locks are up to date", lambda: stale_locks(project)),
        Check("locks agree with each other", lambda: differing_pins(project)),
        Check("no address in a lock", lambda: addresses(project)),
        command("front-end lock is up to date (npm ci)", *npm_words, **node_environment(npm(project))),
        command("lint (ruff check)", python, "-m", "ruff", "check", "--no-cache", "."),
        command("format (ruff format)", python, "-m", "ruff", "format", "--check", "--no-cache", "."),
        command("templates (djade)", str(tools / "djade"), "--check", "--target-version", "5.2", *templates),
    ]  # fmt: skip


def npm(project: Project) -> Path:
    """npm's command: the machine's, or the one in .venv (either was there to fetch the packages)."""
    return Path(shutil.which("npm") or project.venv / "bin/npm")


def outcome(project: Project, words: list[str], environment: dict[str, str]) -> str | None:
    """Run a command: None when it succeeds, else everything it said."""
    path = f"{os.environ.get('PATH', os.defpath)}{os.pathsep}{project.venv / 'bin'}"
    result = subprocess.run(
        words,
        cwd=project.root,
        env={**os.environ, "PATH": path, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    return (
        None if result.returncode == 0 else (result.stdout + result.stderr).strip() or f"exit code {result.returncode}"
    )


def types(project: Project, settings: str) -> str | None:
    """Run mypy over what these settings govern: the sandbox, or everything else.

    The plugin knows one settings module at a time, so that the sandbox is read with a copy of the configuration.
    """
    text = (project.root / "pyproject.toml").read_text()
    rooms = [str(room) for room in tomllib.loads(text)["tool"]["mypy"]["files"]]
    environment = {**PRODUCTION, "DJANGO_SETTINGS_MODULE": settings}
    cache = project.root / ".mypy_cache" / settings
    command = [str(project.python), "-m", "mypy", "--cache-dir", str(cache)]
    with tempfile.TemporaryDirectory() as folder:
        configuration = Path(folder) / "pyproject.toml"
        configuration.write_text(text.replace('"backoffice.settings"', f'"{settings}"'))
        chosen = ["sandbox"] if settings == "sandbox.settings" else [room for room in rooms if room != "sandbox"]
        return outcome(project, [*command, "--config-file", str(configuration), *chosen], environment)


def tracked(project: Project, pattern: str) -> list[Path]:
    """The project's own files of one kind, without what was fetched or generated."""
    skipped = {".venv", "node_modules", ".data", "staticfiles"}
    return sorted(
        path
        for path in project.root.rglob(pattern)
        if not skipped & set(path.relative_to(project.root).parts) and path.is_file()
    )


def compile_lock(project: Project, lock: str, target: Path) -> str | None:
    """Compile a lock into `target`, keeping the versions that it holds; None when it worked."""
    source = lock.replace(".txt", ".in")
    command = [str(project.venv / "bin/uv"), *COMPILE, "--no-header", source, "--output-file", str(target)]
    # the package index that pip is configured for
    asked = [str(project.python), "-m", "pip", "config", "get", "global.index-url"]
    index = subprocess.run(asked, cwd=project.root, capture_output=True, text=True, check=False).stdout.strip()
    return outcome(project, command, {"UV_DEFAULT_INDEX": index} if index else {})


def stale_locks(project: Project) -> str | None:
    """The locks that their .in files would change. Hashes are left out: a release may get another file any day."""
    wrong = []
    for lock in LOCKS:
        with tempfile.TemporaryDirectory() as folder:
            target = Path(folder) / lock
            target.write_text((project.root / lock).read_text())
            if failed := compile_lock(project, lock, target):
                wrong.append(f"{lock}: {failed}")
            elif difference := list(difflib.ndiff(without_hashes(project.root / lock), without_hashes(target))):
                changed = [line for line in difference if line.startswith(("+", "-"))]
                wrong += [f"{lock} is not what {lock.replace('.txt', '.in')} gives (`./run lock`):"] if changed else []
                wrong += changed[:20]
    return "\n".join(wrong) or None


def without_hashes(path: Path) -> list[str]:
    """The lines of a lock that say which packages, versions and conditions, and for whom."""
    lines = [line.rstrip(" \\") for line in path.read_text().splitlines()]
    return [line for line in lines if not line.lstrip().startswith("--hash")]


def pins(path: Path) -> dict[str, str]:
    """Package → version, as a lock pins them."""
    return dict(re.findall(r"^([a-z0-9][a-z0-9._-]*)==([^\s;\\]+)", path.read_text(), flags=re.MULTILINE))


def differing_pins(project: Project) -> str | None:
    """Packages that would run in another version than they are tested in."""
    runtime, development = pins(project.root / RUNTIME), pins(project.root / DEVELOPMENT)
    wrong = [
        f"{name}: {runtime[name]} and {development.get(name)}"
        for name in runtime
        if development.get(name) != runtime[name]
    ]
    return "\n".join(wrong) or None


def addresses(project: Project) -> str | None:
    """Lines of a lock that say where something is fetched from."""
    wrong = []
    for lock in LOCKS:
        lines = (project.root / lock).read_text().splitlines()
        wrong += [f"{lock}:{number}: {line.strip()}" for number, line in enumerate(lines, 1) if ADDRESS.search(line)]
    lines = (project.root / "package-lock.json").read_text().splitlines()
    wrong += [
        f"package-lock.json:{number}: {line.strip()}" for number, line in enumerate(lines, 1) if '"resolved"' in line
    ]
    return "\n".join(wrong) or None


def lock(project: Project, say: Say, *, upgrade: bool) -> int:
    """Compile every lock again from its .in file: the versions it holds are kept, or with `upgrade` made the newest."""
    for name in LOCKS:
        target = project.root / name
        if upgrade:
            with contextlib.suppress(FileNotFoundError):
                target.unlink()
        if failed := compile_lock(project, name, target):
            raise LaunchError(f"Could not compile {name}: is there a network?", output=failed)
        say(f"{name}: {len(pins(target))} packages")
    npm_words = [str(npm(project)), "install", "--package-lock-only", "--ignore-scripts"]
    if failed := outcome(project, npm_words, node_environment(npm(project))):
        raise LaunchError("Could not compile package-lock.json: is there a network?", output=failed)
    say("package-lock.json")
    return 0
