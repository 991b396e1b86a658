"""Check a table of many rows, and check it again as a release does: seconds by the clock and of CPU time.

    python benchmarks/batches.py [--rows 5000] [--times 5]

The rows are as people write them: denominations, names of brands, codes, a tenth of them wrong.
"""

import argparse
import random
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.servers import shop

_WANTED = {
    "0812": ("10", "20.000", "tsel 50", "TSEL25", "Rp 10.000", "11"),
    "0878": ("xl 10", "25", "XL50", "TSEL10"),
    "0857": ("5", "isat 20", "indosat 50"),
    "0896": ("3 10", "tri 20"),
}


def main() -> None:
    """Make the table, check it several times, print a table of the medians."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=5_000)
    parser.add_argument("--times", type=int, default=5)
    options = parser.parse_args()
    with shop():
        from django.conf import settings
        from django.db import transaction

        from batches.models import BatchRow
        from batches.services import check_table, seal_of
        from batches.services.checking import recheck
        from catalogue.services import sync_catalogue
        from testing.people import make_person
        from testing.sandbox_process import SandboxProcess
        from upstream.client import get_client

        process = SandboxProcess.fresh("batches")
        settings.UPSTREAM_BASE_URL = process.url
        settings.UPSTREAM_SECRET_ID, settings.UPSTREAM_SECRET_KEY = process.secret_id, process.secret_key
        get_client().budget.declare_fresh()
        sync_catalogue()
        process.remove()
        person = make_person("supervisor")
        print("| step | rows | seconds | CPU s |\n|---|---|---|---|")
        tables = [table(options.rows, seed) for seed in range(options.times)]
        batches = []

        def check(text: str) -> None:
            batches.append(check_table(text, name="", actor=person)[0])

        def again() -> None:
            with transaction.atomic():
                recheck(batches[-1])

        report("check", options.rows, [timed(partial(check, text)) for text in tables])
        report("check again", options.rows, [timed(again) for _time in tables])
        report("digest", options.rows, [timed(lambda: seal_of(batches[-1])) for _time in tables])
        print(BatchRow.objects.filter(batch=batches[-1]).counts())


def table(rows: int, seed: int) -> str:
    """A table of so many rows, each for a number of its own."""
    chosen = random.Random(seed)
    lines = []
    for row in range(rows):
        prefix = chosen.choice([*_WANTED])
        number, what = f"{prefix}{seed:02d}{row:06d}", chosen.choice(_WANTED[prefix])
        cells = [number, what] if row % 2 else [what, number]
        lines.append(";".join([*cells, f"Name {row}", "", f"INV-{seed}-{row}"]))
    return "\n".join(lines)


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """The work's seconds by the clock, and of this process's CPU time."""
    began, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - began, time.process_time() - cpu


def report(step: str, rows: int, times: list[tuple[float, float]]) -> None:
    """Print one line with the medians."""
    clock, cpu = (statistics.median(values) for values in zip(*times, strict=True))
    print(f"| {step} | {rows} | {clock:.2f} | {cpu:.2f} |")


if __name__ == "__main__":
    main()
