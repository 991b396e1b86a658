"""`python -m checks.migrations` compares the released migrations with the list: nobody may rewrite them.

The list, `checks/migrations.txt`, has the SHA-256 and the path of each, as `sha256sum --check` reads it. A new
migration may change until a release adds it to the list: `python -m checks.migrations add`.
"""

import hashlib
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIST = Path("checks/migrations.txt")


def migrations(root: Path) -> dict[str, str]:
    """Path → SHA-256 of each migration in the project."""
    paths = sorted(root.glob("*/migrations/[0-9]*.py"))
    return {path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def released(root: Path) -> dict[str, str]:
    """Path → SHA-256 of each migration in the list."""
    rows = (line.split(maxsplit=1) for line in (root / LIST).read_text().splitlines())
    return {path: digest for digest, path in rows}


def rewritten(root: Path) -> list[str]:
    """The migrations of the list that are gone or changed."""
    here = migrations(root)
    return [path for path, digest in released(root).items() if here.get(path) != digest]


def add(root: Path) -> int:
    """Add the migrations that are not in the list; returns how many."""
    kept = released(root)
    listed = migrations(root) | kept
    (root / LIST).write_text("".join(f"{digest}  {path}\n" for path, digest in sorted(listed.items())))
    return len(listed) - len(kept)


def main(what: str = "", *, root: Path = ROOT) -> int:
    """Compare, or `add`; 1 when a migration of the list was rewritten."""
    if what == "add":
        print(f"{add(root)} migrations more in {LIST}")
        return 0
    wrong = rewritten(root)
    for path in wrong:
        print(f"{path}: databases have run it as it was. Put it back, and write a new migration for the change.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
