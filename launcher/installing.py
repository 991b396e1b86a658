"""Fetches the packages of the lock files: Python packages into `.venv`, front-end packages into `node_modules`.

A mark beside the packages holds the lock's hash: while the hash fits, there is nothing to do.
"""

import contextlib
import fcntl
import hashlib
import importlib.util
import os
import secrets
import shutil
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from launcher import PYTHON, ROOT, VENV
from launcher.accounts import owner
from launcher.data_folder import read_json, write_json
from launcher.output import LaunchError, Say
from launcher.processes import Child, ProcessGroup

RUNTIME, DEVELOPMENT, NODE = "requirements.txt", "requirements-dev.txt", "requirements-node.txt"
NEWER_PIP = "requirements-pip.txt"
MARK = VENV / "installed.json"  # lock → the hash of its text; if it is missing, making .venv was interrupted
NODE_MARK = ROOT / "node_modules/.installed.json"
PIP = (PYTHON, "-m", "pip", "install", "--require-hashes", "--no-input", "--disable-pip-version-check", "-r")
INSTALL_SECONDS = 1800.0


def enter_venv(group: ProcessGroup, say: Say, *, lock: str | None, arguments: Sequence[str]) -> None:
    """Fill `.venv` with the packages of `lock`, then go on in its Python; returns only if it runs there already.

    Without a lock any complete `.venv` will do.
    """
    fill_venv(group, say, lock=lock)
    if not runs_there() or own_packages() not in sys.path:  # a folder that was made just now is not in the path
        group.close()
        os.execv(PYTHON, [str(PYTHON), str(ROOT / "run"), *arguments])  # noqa: S606


def fill_venv(group: ProcessGroup, say: Say, *, lock: str | None) -> None:
    """Fill `.venv` with the packages of `lock`; without a lock any complete `.venv` will do."""

    def current() -> bool:
        return is_made() and (lock is None or read_mark(MARK).get(lock) == digest(lock))

    if current():
        return
    require_writable(VENV)
    with locked(ROOT, group):
        if not current():
            make_venv(group, say)
            development = lock == DEVELOPMENT
            beside = shutil.which("npm") if lock and not has_front_end(development=development) else None
            npm = begin_front_end(group, say, Path(beside), development=development) if beside else None
            install(group, say, lock or RUNTIME)
            if npm:
                finish_front_end(group, npm, development=development)
            # the development lock holds all of the runtime lock in the same versions (`./run check` proves it)
            covered = [RUNTIME, DEVELOPMENT] if lock == DEVELOPMENT else [RUNTIME]
            write_mark(MARK, {**read_mark(MARK), **{name: digest(name) for name in covered}})


def is_made() -> bool:
    """Whether `.venv` was made to its end and its Python still exists.

    An upgrade of the system may have put a newer Python there, without the packages: it finds that out itself.
    """
    is_there = os.access(MARK, os.F_OK) and os.access(PYTHON, os.F_OK)
    return is_there and (not runs_there() or os.access(own_packages(), os.F_OK))


def runs_there() -> bool:
    """Whether this is the Python of `.venv`."""
    return Path(sys.prefix).resolve() == VENV.resolve()


def own_packages() -> str:
    """The folder of the packages of this Python."""
    return sysconfig.get_path("purelib")


def read_mark(path: Path) -> dict[str, Any]:
    """The mark of the last install; LaunchError when this user may not read it, because the state is unknown then."""
    if os.access(path, os.F_OK) and not os.access(path, os.R_OK):
        raise LaunchError(f"You may not read {path}: let {owner(path)} give everybody the right (chmod a+r {path}).")
    return read_json(path)


def write_mark(path: Path, value: dict[str, Any]) -> None:
    """Note the installation, readable for every user: another user may run the shop."""
    write_json(path, value, mode=0o644)


def require_writable(packages: Path) -> None:
    """LaunchError when packages are missing and this user may not write here."""
    folder = packages if packages.exists() else ROOT
    if not os.access(folder, os.W_OK | os.X_OK):
        if os.path.lexists(PYTHON) and not os.access(PYTHON, os.X_OK):
            raise LaunchError(
                f"You may not run {PYTHON.resolve()}, which {packages} uses: let {owner(folder)} delete {packages} and "
                "call ./run install with a Python that everybody may run."
            )
        raise LaunchError(
            f"Not everything that the locks name is in {packages}, and you may not write there: let {owner(folder)} "
            "call ./run install."
        )


def digest(lock: str) -> str:
    """The SHA-256 of a lock file."""
    return hashlib.sha256((ROOT / lock).read_bytes()).hexdigest()


def make_venv(group: ProcessGroup, say: Say) -> None:
    """Make the virtual environment if it is missing; begin again if an earlier try was interrupted."""
    if is_made():
        return
    if importlib.util.find_spec("ensurepip") is None or importlib.util.find_spec("venv") is None:
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        raise LaunchError(
            f"This Python {version} cannot make virtual environments: install the module first "
            f"(Debian and Ubuntu: `apt install python{version}-venv`)."
        )
    say("Making .venv")
    MARK.unlink(missing_ok=True)
    log = ROOT / ".venv.log"
    command = [getattr(sys, "_base_executable", sys.executable), "-m", "venv", "--clear", VENV]
    advice = f"Could not make {VENV}: is the folder yours and the disk not full?"
    run_step(group, "venv", command, env=os.environ, log=log, advice=advice)
    log.unlink()
    # the project itself can be imported from anywhere in its environment, plain `pytest` included
    for packages in (VENV / "lib").glob("python*/site-packages"):
        (packages / "project.pth").write_text("../../../..\n")
    write_mark(MARK, {})


def run_step(
    group: ProcessGroup, name: str, command: Sequence[str | Path], *, env: Mapping[str, str], log: Path, advice: str
) -> None:
    """Run one command to its end; LaunchError with `advice` and its log when it fails."""
    finish_step(group, begin_step(group, name, command, env=env, log=log), advice)


def begin_step(
    group: ProcessGroup, name: str, command: Sequence[str | Path], *, env: Mapping[str, str], log: Path
) -> Child:
    """Start one command with a log of its own."""
    log.unlink(missing_ok=True)
    return group.start(name, command, env=env, cwd=ROOT, log=log)


def finish_step(group: ProcessGroup, step: Child, advice: str) -> None:
    """Wait for a command to end; LaunchError with `advice` and its log when it fails."""
    if group.finish(step, seconds=INSTALL_SECONDS) != 0:
        raise LaunchError(advice, log=step.log)


def install(group: ProcessGroup, say: Say, lock: str) -> None:
    """Install one lock file with pip, every file checked against its hash."""
    say(f"Installing the Python packages of {lock} (a minute or two, this once)")
    advice = (
        f"Could not install the Python packages of {lock}: is there a network (or the package index that pip is "
        "configured for), and room on the disk? Then start again."
    )
    log = VENV / "install.log"
    # The pip that comes with an older Python takes twice as long for the packages.
    for each in (NEWER_PIP, lock):
        run_step(group, "pip", [*PIP, each, "--no-compile"], env=os.environ, log=log, advice=advice)
    # The user who runs the shop may not write here, so its packages are compiled now. Few development packages are ever
    # loaded: Python compiles those when it loads them.
    if lock != DEVELOPMENT:
        compile_packages(group)


def compile_packages(group: ProcessGroup) -> None:
    """Compile the installed packages on all processors (pip uses one); skip files that do not compile."""
    command: list[str | Path] = [PYTHON, "-m", "compileall", "-q", "-j", "0", VENV / "lib"]
    step = begin_step(group, "compileall", command, env=os.environ, log=VENV / "compileall.log")
    group.finish(step, seconds=INSTALL_SECONDS)


def install_front_end(group: ProcessGroup, say: Say, *, development: bool) -> None:
    """Fill `node_modules` with the packages of package-lock.json; LaunchError when npm fails."""
    if has_front_end(development=development):
        return
    require_writable(NODE_MARK.parent)
    with locked(ROOT, group):
        if not has_front_end(development=development):
            npm = begin_front_end(group, say, find_npm(group, say), development=development)
            finish_front_end(group, npm, development=development)


def has_front_end(*, development: bool) -> bool:
    """Whether `node_modules` has the packages of package-lock.json; LaunchError if this user may not read its mark."""
    mark = read_mark(NODE_MARK)
    return mark.get("lock") == digest("package-lock.json") and (mark["development"] or not development)


def begin_front_end(group: ProcessGroup, say: Say, npm: Path, *, development: bool) -> Child:
    """Start fetching the front-end packages."""
    say("Fetching the front-end packages")
    # npm finds the node beside it, and trusts what the machine trusts, as pip does
    path = f"{npm.parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    env = {"NODE_USE_SYSTEM_CA": "1", **os.environ, "PATH": path}
    command: list[str | Path] = [npm, "ci", "--ignore-scripts", *([] if development else ["--omit=dev"])]
    return begin_step(group, "npm", command, env=env, log=VENV / "npm.log")


def finish_front_end(group: ProcessGroup, npm: Child, *, development: bool) -> None:
    """Wait for npm, and note the installation; LaunchError when npm failed."""
    advice = (
        "Could not fetch the front-end packages: is there a network (or the registry that npm is configured for)? "
        "Then start again."
    )
    finish_step(group, npm, advice)
    write_mark(NODE_MARK, {"lock": digest("package-lock.json"), "development": development})


def find_npm(group: ProcessGroup, say: Say) -> Path:
    """The machine's npm, or else one from a wheel in `.venv`."""
    if on_path := shutil.which("npm"):
        return Path(on_path)
    npm = VENV / "bin/npm"
    if not npm.exists():
        say("No npm on this machine: installing one into .venv")
        install(group, say, NODE)
    return npm


def compile_translations(group: ProcessGroup) -> None:
    """Compile the translations for every user; do nothing without the code, as in the image's first layer."""
    if (ROOT / "manage.py").exists():
        any_key = {**os.environ, "BACKOFFICE_SANDBOX": "1", "SECRET_KEY": secrets.token_hex(32)}
        command: list[str | Path] = [PYTHON, "manage.py", "compile_po"]
        advice = f"Could not compile the translations in {ROOT / 'locale'}: is the folder yours?"
        run_step(group, "compile_po", command, env=any_key, log=VENV / "compile.log", advice=advice)


@contextlib.contextmanager
def locked(folder: Path, group: ProcessGroup) -> Iterator[None]:
    """Wait for this folder's lock and hold it: to install into the checkout, or to upgrade."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                group.pause(0.2)
        yield
    finally:
        os.close(descriptor)


def installed(package: str) -> Path:
    """The folder of an installed package, without importing it."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise LaunchError(f"The package {package} is not installed: see requirements.txt.")
    return Path(spec.origin).parent
