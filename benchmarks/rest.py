"""What the shop costs while nobody does anything: CPU time and SQL statements, and exit code 1 when it is too much.

    python benchmarks/rest.py [--seconds 240]

Starts the demo (`./run`) in a throw-away folder, sells a few products, waits until all of it is settled, and then lets
it be. CPU: of web, workers and beat together. SQL: every statement in the app's database, BEGIN and COMMIT included, as
PostgreSQL's own log has them.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psycopg

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.processes import ROOT, demo
from benchmarks.shop import cpu_of, print_table
from launcher.postgresql import SUPERUSER

MOST_CPU, MOST_STATEMENTS = 4.0, 2.0  # percent of one core; a second
SETTLING_SECONDS = 90
_STATEMENT = re.compile(rb"LOG:  (statement|execute)\b")


def main() -> None:
    """Measure, and print one row."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=240)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="rest-"))
    folder.chmod(0o711)  # as root, PostgreSQL runs as another user
    try:
        with demo(folder, processes=2):
            for number in range(1, 6):
                destination = f"08129000100{number}"
                run(folder, "manage", "buy", "--product", "TSEL10", "--destination", destination, "--wait", "60")
            log_statements(folder)
            time.sleep(SETTLING_SECONDS)
            cpu, statements = measure(folder, options.seconds)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print_table(
        ["at rest for", "CPU of web, workers and beat", "SQL statements"],
        [[f"{options.seconds:.0f} s", f"**{cpu:.1f} %** of one core", f"**{statements:.2f}** a second"]],
    )
    sys.exit(1 if cpu > MOST_CPU or statements > MOST_STATEMENTS else 0)


def run(folder: Path, *words: str) -> str:
    """What a command of the demo prints."""
    environment = {**os.environ, "BACKOFFICE_DATA": str(folder)}
    command: Sequence[str] = [sys.executable, str(ROOT / "run"), *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True, cwd=ROOT).stdout


def processes(folder: Path) -> dict[str, dict[str, Any]]:
    """The rows of `./run status`, by name."""
    return {row["name"]: row for row in json.loads(run(folder, "status", "--json"))["processes"]}


def log_statements(folder: Path) -> None:
    """From now on PostgreSQL's log has every statement in the app's database; its connections are made again."""
    password = json.loads((folder / "secrets.json").read_text())["postgres"]
    port = processes(folder)["postgres"]["port"]
    address = f"postgresql://{SUPERUSER}:{password}@127.0.0.1:{port}/postgres"
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("ALTER DATABASE backoffice SET log_statement = 'all'")
        connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'backoffice'")


def measure(folder: Path, seconds: float) -> tuple[float, float]:
    """Percent of one core, and statements a second, over so many seconds."""
    log = folder / "logs" / "postgres.log"
    ours = [row["pid"] for name, row in processes(folder).items() if re.match("web|worker|background|beat", name)]
    used, read_from, began = sum(map(cpu_of, ours)), log.stat().st_size, time.monotonic()
    time.sleep(seconds)
    took = time.monotonic() - began
    used = sum(map(cpu_of, ours)) - used
    with log.open("rb") as file:
        file.seek(read_from)
        statements = sum(1 for line in file if _STATEMENT.search(line))
    return used / took * 100, statements / took


if __name__ == "__main__":
    main()
