"""The cost of the shop at rest: CPU time and SQL statements, and exit code 1 when it is too much.

    python benchmarks/rest.py [--seconds 240]

Starts the demo (`./run`) in a throw-away folder, sells a few products, waits until all are settled, and then measures
the idle shop. CPU: of web, workers and beat together. SQL: every statement in the app's database, BEGIN and COMMIT
included, from PostgreSQL's own log.
"""

import argparse
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.processes import demo, run, status, superuser
from benchmarks.shop import cpu_of, print_table

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


def log_statements(folder: Path) -> None:
    """Have PostgreSQL log every statement in the app's database from now on; its connections are made again."""
    with superuser(folder) as connection:
        connection.execute("ALTER DATABASE backoffice SET log_statement = 'all'")
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = 'backoffice' AND pid <> pg_backend_pid()"
        )


def measure(folder: Path, seconds: float) -> tuple[float, float]:
    """Percent of one core, and statements a second, over so many seconds."""
    log = folder / "logs" / "postgres.log"
    ours = [row["pid"] for name, row in status(folder).items() if re.match("web|worker|background|beat", name)]
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
