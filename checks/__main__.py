"""Runs every check of pyproject.toml, two at a time, and prints a line for each and the output of those that fail."""

import signal
import subprocess
import sys
import textwrap
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def run(name: str) -> tuple[str, float]:
    """Run one check; return its output if it failed, and its seconds."""
    started = time.monotonic()
    command = [sys.executable, "-m", "poethepoet", "--quiet", name]
    result = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    output = "" if result.returncode == 0 else result.stdout.strip() or f"exit code {result.returncode}"
    return output, time.monotonic() - started


def main() -> int:
    """Run all of them; 0 when all pass, 1 otherwise."""
    tasks = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["poe"]["groups"]["checks"]["tasks"]
    failed = []
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends this and each check at once
    with ThreadPoolExecutor(max_workers=2) as pool:
        for (name, task), (output, seconds) in zip(tasks.items(), pool.map(run, tasks), strict=True):
            print(f"{'FAILED' if output else 'ok    '} {task['help']:<48} {seconds:5.1f} s", flush=True)
            if output:
                failed.append(name)
                print(textwrap.indent(output, "    "), flush=True)
    if failed:
        print(f"\n{len(failed)} of {len(tasks)} checks failed. One again: .venv/bin/poe {failed[0]}")
        return 1
    print(f"\nAll {len(tasks)} checks pass.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
