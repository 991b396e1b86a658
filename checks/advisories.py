"""`python -m checks.advisories`: known vulnerabilities of the locked versions, by pip-audit. Only `.ci/run` calls it.

A vulnerability fails the check, unless `advisories.toml` says why it does not concern us, and until when. If no source
answers (no network, a mirror without advisories), it says so loudly, and passes.
"""

import datetime as dt
import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
LOCK, IGNORED = "requirements-dev.txt", Path(__file__).with_name("advisories.toml")
SECONDS = 300


def main() -> int:
    """Print the known vulnerabilities; 1 when any of them is not ignored."""
    command = [sys.executable, "-m", "pip_audit", "--requirement", LOCK, "--require-hashes", "--disable-pip"]
    command += ["--format", "json", "--progress-spinner", "off", "--timeout", "10"]
    try:
        result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=False)
        packages = json.loads(result.stdout)["dependencies"]
    except (subprocess.TimeoutExpired, ValueError, KeyError):
        return say_unknown("no answer")
    unknown = [package for package in packages if "skip_reason" in package]
    wrong = list(concerning(packages, read_ignored(), dt.datetime.now(dt.UTC).date()))
    for line in wrong:
        print(line)
    if wrong:
        print(f"Raise the version (./run lock), or write into {IGNORED.name} why it does not concern us.")
        return 1
    if unknown:
        return say_unknown(f"{len(unknown)} of {len(packages)} packages are not known to it")
    print(f"No known vulnerability in {len(packages)} packages.")
    return 0


def say_unknown(reason: str) -> int:
    """Say that no source answered, so that nobody takes the result for a pass."""
    frame = "!" * 100
    print(f"{frame}\nKNOWN VULNERABILITIES WERE NOT CHECKED: the advisory service gave no answer ({reason}).\n{frame}")
    return 0


def read_ignored() -> dict[str, dt.date]:
    """Vulnerability → the day from which it counts again; entries without a reason are left out."""
    rows = tomllib.loads(IGNORED.read_text()).get("ignored", [])
    return {row["id"]: row["until"] for row in rows if row["reason"]}


def concerning(packages: list[dict[str, Any]], ignored: Mapping[str, dt.date], today: dt.date) -> Iterator[str]:
    """A line for each vulnerability that is not ignored today."""
    for package in packages:
        for vulnerability in package.get("vulns", []):
            names = {vulnerability["id"], *vulnerability.get("aliases", [])}
            if not any(ignored.get(name, today) > today for name in names):
                fixed = ", ".join(vulnerability.get("fix_versions", [])) or "no version"
                yield f"{package['name']} {package['version']}: {vulnerability['id']}, fixed in {fixed}"


if __name__ == "__main__":
    sys.exit(main())
