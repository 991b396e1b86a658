"""`python -m checks.sbom`: prints the bill of materials of an installation (CycloneDX 1.6), from the locks alone."""

import base64
import json
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from checks.locks import ROOT, RUNTIME

# A package with its version, then a hash for each of its files
_PIN = re.compile(r"^([a-z0-9][a-z0-9._-]*)==([^\s;\\]+)((?:.*\\\n)*.*)$", re.MULTILINE)
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def bill(root: Path = ROOT) -> dict[str, Any]:
    """The bill of materials; the same locks give the same text."""
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    us = {"type": "application", "name": project["name"], "version": project["version"]}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": us},
        "components": [*_of_python(root / RUNTIME), *_of_browser(root / "package-lock.json")],
    }


def _of_python(lock: Path) -> Iterator[dict[str, Any]]:
    for name, version, rest in _PIN.findall(lock.read_text()):
        yield _component(f"pkg:pypi/{name}@{version}", name, version, "SHA-256", _HASH.findall(rest))


def _of_browser(lock: Path) -> Iterator[dict[str, Any]]:
    """The packages of the pages, without those that only tests use."""
    for path, package in json.loads(lock.read_text())["packages"].items():
        if path and not package.get("dev"):
            name = path.rpartition("node_modules/")[2]
            digest = base64.b64decode(package["integrity"].removeprefix("sha512-")).hex()
            purl = f"pkg:npm/{name.replace('@', '%40')}@{package['version']}"
            yield _component(purl, name, package["version"], "SHA-512", [digest])


def _component(purl: str, name: str, version: str, algorithm: str, digests: list[str]) -> dict[str, Any]:
    hashes = [{"alg": algorithm, "content": digest} for digest in digests]
    facts = {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}
    return {**facts, "hashes": hashes}


if __name__ == "__main__":
    json.dump(bill(), sys.stdout, indent=1)
    sys.stdout.write("\n")
