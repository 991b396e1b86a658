"""The lock files: `stale`, `pins` and `addresses` check them, `compile [--upgrade]` makes them again.

They are made from pyproject.toml and package.json. Without `--upgrade`, compiling keeps the versions in them.
"""

import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RUNTIME, DEVELOPMENT, NODE, NEWER_PIP = LOCKS = (
    "requirements.txt",
    "requirements-dev.txt",
    "requirements-node.txt",
    "requirements-pip.txt",
)
# The source of each lock
SOURCES = {
    RUNTIME: ["pyproject.toml"],
    DEVELOPMENT: ["pyproject.toml", "--group", "dev"],
    NODE: ["--group", "node"],
    NEWER_PIP: ["--group", "pip"],
}
# --system-certs: trust what the machine trusts, as pip does
UV = "uv --system-certs pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-emit-find-links"
# a lock holds hashes, never the address of a file
ADDRESS = re.compile(r"https?://|file://|--index-url|--extra-index-url|--find-links")
ADDRESS_OF_NPM = re.compile('"resolved"')


def compile_lock(lock: str, target: Path, *options: str) -> None:
    """Compile a lock into `target`, from the package index that pip is configured for."""
    asked = [sys.executable, "-m", "pip", "config", "get", "global.index-url"]
    index = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    environment = os.environ | ({"UV_DEFAULT_INDEX": index} if index else {})
    command = [*UV.split(), "--no-header", *options, *SOURCES[lock], "--output-file", str(target)]
    subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, check=True)


def compile_all(*options: str) -> None:
    """Compile every lock again; `--upgrade` takes the newest versions that are allowed."""
    for lock in LOCKS:
        compile_lock(lock, ROOT / lock, *options)
        print(f"{lock}: {len(pins(ROOT / lock))} packages", flush=True)
    subprocess.run(["npm", "install", "--package-lock-only", "--ignore-scripts"], cwd=ROOT, check=True)


def stale() -> list[str]:
    """The changes of the locks if compiled again. Hashes do not count: a release may get another file at any time."""
    differences: list[str] = []
    for lock in LOCKS:
        with tempfile.TemporaryDirectory() as folder:
            target = Path(folder) / lock
            shutil.copy(ROOT / lock, target)
            compile_lock(lock, target)
            old, new = without_hashes(ROOT / lock), without_hashes(target)
            differences += difflib.unified_diff(old, new, lock, "./run lock", n=0, lineterm="")
    return differences


def without_hashes(path: Path) -> list[str]:
    """The lines of a lock without hashes: packages, versions, conditions, and what needs them."""
    lines = [line.rstrip(" \\") for line in path.read_text().splitlines()]
    return [line for line in lines if not line.lstrip().startswith("--hash")]


def pins(path: Path) -> dict[str, str]:
    """Package → version, as a lock pins them."""
    return dict(re.findall(r"^([a-z0-9][a-z0-9._-]*)==([^\s;\\]+)", path.read_text(), flags=re.MULTILINE))


def differing_pins(root: Path = ROOT) -> list[str]:
    """Packages that would run in another version than the tested one."""
    tested = pins(root / DEVELOPMENT)
    return [f"{n}: {v} and {tested.get(n)}" for n, v in pins(root / RUNTIME).items() if v != tested.get(n)]


def addresses(root: Path = ROOT) -> list[str]:
    """Lines of a lock that say where something is fetched from."""
    return [
        f"{lock}:{number}: {line.strip()}"
        for lock, pattern in {**dict.fromkeys(LOCKS, ADDRESS), "package-lock.json": ADDRESS_OF_NPM}.items()
        for number, line in enumerate((root / lock).read_text().splitlines(), 1)
        if pattern.search(line)
    ]


def main(what: str, *options: str) -> int:
    """Do one of the four; 1 when a check finds something or a tool fails."""
    try:
        if what == "compile":
            compile_all(*options)
            return 0
        wrong = {"stale": stale, "pins": differing_pins, "addresses": addresses}[what]()
    except subprocess.CalledProcessError as error:
        print(f"{error.cmd[0]} failed (exit code {error.returncode}): is there a network?")
        return 1
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
