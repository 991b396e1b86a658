"""Fetches what the lock files name: Python packages into `.venv`, front-end packages into `node_modules`.

A stamp with the lock's hash beside the packages tells when nothing has to be done, which is every start but the first.
"""

import contextlib
import fcntl
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from backoffice.launcher.data_folder import read_json, write_json
from backoffice.launcher.failures import LaunchError
from backoffice.launcher.processes import Family, finish
from backoffice.launcher.project import Project

RUNTIME, DEVELOPMENT, NODE = "requirements.txt", "requirements-dev.txt", "requirements-node.txt"
INSTALL_SECONDS = 1800.0
Say = Callable[[str], None]


def enter_venv(project: Project, family: Family, say: Say, *, development: bool, arguments: Sequence[str]) -> None:
    """Make `.venv` hold what the lock names, then go on in its Python: does not return unless already there."""
    lock = DEVELOPMENT if development else RUNTIME
    stamp = project.venv / "installed.json"
    if not is_current(project, stamp, lock):
        with only_one(project):
            if not is_current(project, stamp, lock):
                make_venv(project, family, say)
                install(project, family, say, lock)
                # the development lock holds all of the other one in the same versions (`./run check` sees to it)
                covered = [RUNTIME, DEVELOPMENT] if development else [RUNTIME]
                write_json(stamp, {**read_json(stamp), **{name: digest(project.root / name) for name in covered}})
    if Path(sys.prefix).resolve() != project.venv.resolve():
        family.close()
        os.execv(project.python, [str(project.python), str(project.root / "run"), *arguments])  # noqa: S606


def is_current(project: Project, stamp: Path, lock: str) -> bool:
    """Whether `.venv` was made from this very lock, and its Python still exists."""
    return project.python.exists() and read_json(stamp).get(lock) == digest(project.root / lock)


def digest(path: Path) -> str:
    """The SHA-256 of a lock file; LaunchError when it is missing."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise LaunchError(f"Cannot read {path} ({error.strerror}): is this a whole checkout?") from error


def make_venv(project: Project, family: Family, say: Say) -> None:
    """Make the virtual environment (again, when its Python has gone)."""
    if importlib.util.find_spec("ensurepip") is None or importlib.util.find_spec("venv") is None:
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        raise LaunchError(
            f"This Python {version} cannot make virtual environments: install the module first "
            f"(Debian and Ubuntu: `apt install python{version}-venv`)."
        )
    if not project.python.exists():
        say("Making .venv")
        python = getattr(sys, "_base_executable", sys.executable)
        log = project.root / ".venv.log"
        child = family.start(
            "venv", [python, "-m", "venv", "--clear", project.venv], env=os.environ, cwd=project.root, log=log
        )
        if finish(family, child, seconds=300) != 0:
            raise LaunchError(f"Could not make {project.venv}: is the folder yours and the disk not full?", log=log)
        log.unlink(missing_ok=True)
    # the project itself can be imported from anywhere in its environment, plain `pytest` included
    for packages in (project.venv / "lib").glob("python*/site-packages"):
        (packages / "project.pth").write_text("../../../..\n")


def install(project: Project, family: Family, say: Say, lock: str) -> None:
    """Install one lock file with pip, every file checked against its hash."""
    say(f"Installing the Python packages of {lock} (a minute or two, this once)")
    log = project.venv / "install.log"
    log.unlink(missing_ok=True)
    command: list[str | Path] = [
        project.python,
        "-m",
        "pip",
        "install",
        "--require-hashes",
        "--no-input",
        "--disable-pip-version-check",
    ]
    child = family.start("pip", [*command, "-r", lock], env=os.environ, cwd=project.root, log=log)
    if finish(family, child, seconds=INSTALL_SECONDS) != 0:
        raise LaunchError(
            f"Could not install the Python packages of {lock}: is there a network (or the package index that pip is "
            "configured for), and room on the disk? Then start again.",
            log=log,
        )


def install_front_end(project: Project, family: Family, say: Say, *, development: bool) -> None:
    """Make `node_modules` hold what package-lock.json names; LaunchError when npm cannot."""
    stamp = project.root / "node_modules/.installed.json"
    wanted = digest(project.root / "package-lock.json")

    def current() -> bool:
        return read_json(stamp).get("lock") == wanted and (read_json(stamp)["development"] or not development)

    if current():
        return
    with only_one(project):
        if current():
            return
        npm = find_npm(project, family, say)
        say("Fetching the front-end packages")
        log = project.venv / "npm.log"
        log.unlink(missing_ok=True)
        environment = node_environment(npm)
        command: list[str | Path] = [npm, "ci", "--ignore-scripts", *([] if development else ["--omit=dev"])]
        child = family.start("npm", command, env=environment, cwd=project.root, log=log)
        if finish(family, child, seconds=INSTALL_SECONDS) != 0:
            raise LaunchError(
                "Could not fetch the front-end packages: is there a network (or the registry that npm is configured "
                "for)? Then start again.",
                log=log,
            )
        write_json(stamp, {"lock": wanted, "development": development})


def node_environment(npm: Path) -> dict[str, str]:
    """An environment where npm finds the node beside it and trusts what the machine trusts, as pip does."""
    path = f"{npm.parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    return {"NODE_USE_SYSTEM_CA": "1", **os.environ, "PATH": path}


def find_npm(project: Project, family: Family, say: Say) -> Path:
    """The machine's npm, or one from a wheel in `.venv` where there is none."""
    if on_path := shutil.which("npm"):
        return Path(on_path)
    npm = project.venv / "bin/npm"
    if not npm.exists():
        say("No npm on this machine: installing one into .venv")
        install(project, family, say, NODE)
    return npm


@contextlib.contextmanager
def only_one(project: Project) -> Iterator[None]:
    """Let one launcher at a time install into this checkout; the next one waits and then finds it done."""
    descriptor = os.open(project.root, os.O_RDONLY)
    try:
        deadline = time.monotonic() + INSTALL_SECONDS
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise LaunchError(
                        "Another ./run is still installing packages: wait for it, then start again."
                    ) from None
            time.sleep(0.2)
        yield
    finally:
        os.close(descriptor)


def compile_translations(project: Project, say: Say) -> None:
    """Compile the .po files whose .mo is missing or older; `manage.py compile_po` does it without gettext."""
    sources = list((project.root / "locale").glob("*/LC_MESSAGES/*.po"))
    compiled = [source.with_suffix(".mo") for source in sources]
    if all(mo.exists() and mo.stat().st_mtime >= po.stat().st_mtime for po, mo in zip(sources, compiled, strict=True)):
        return
    say("Compiling the translations")
    environment = {**os.environ, "SECRET_KEY": "compiling needs none", "BACKOFFICE_SANDBOX": "1"}
    result = subprocess.run(
        [project.python, "manage.py", "compile_po"],
        cwd=project.root,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode != 0:
        raise LaunchError("Could not compile the translations.", output=result.stdout + result.stderr)
