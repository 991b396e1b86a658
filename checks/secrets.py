"""`python -m checks.secrets`: looks for passwords, keys and tokens in the files of the project, by detect-secrets.

`secrets.json` lists texts that only look like a secret, by file and hash. `python -m checks.secrets accept` writes it
again; a review sees the change.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from detect_secrets.core.plugins.initialize import from_plugin_classname
from detect_secrets.core.potential_secret import PotentialSecret
from detect_secrets.core.secrets_collection import SecretsCollection
from detect_secrets.settings import transient_settings

ROOT = Path(__file__).resolve().parents[1]
ACCEPTED = Path(__file__).with_name("secrets.json")
# Locks and migrations hold hashes, translations and pictures hold no secrets, and tests invent theirs.
GENERATED = "/migrations/"
SKIPPED = (
    "tests/",
    "testing/",
    "benchmarks/",
    "locale/",
    "docs/pictures/",
    "requirements",
    "package-lock.json",
    "checks/secrets.json",
)
BY_SHAPE = [
    "AWSKeyDetector", "BasicAuthDetector", "GitHubTokenDetector", "GitLabTokenDetector", "JwtTokenDetector",
    "PrivateKeyDetector", "PypiTokenDetector", "SendGridDetector", "SlackDetector", "StripeDetector",
    "TelegramBotTokenDetector", "TwilioKeyDetector",
]  # fmt: skip
BY_LINE: list[dict[str, Any]] = [
    {"name": "KeywordDetector"},
    {"name": "HexHighEntropyString", "limit": 3.0},
    {"name": "Base64HighEntropyString", "limit": 4.5},
]
FILTERS = [
    "detect_secrets.filters.heuristic.is_likely_id_string",
    "detect_secrets.filters.heuristic.is_not_alphanumeric_string",
    "detect_secrets.filters.heuristic.is_potential_uuid",
    "detect_secrets.filters.heuristic.is_sequential_string",
    "detect_secrets.filters.heuristic.is_templated_secret",
]
_BY_NAME = "Secret Keyword"
Found = dict[str, list[str]]


def main(arguments: list[str]) -> int:
    """0 when nothing is new, else 1; `accept` writes all present findings to the list of accepted texts."""
    secrets_found = found_in(tracked_files())
    if arguments == ["accept"]:
        hashes: Found = {}
        for name, secret in secrets_found:
            hashes.setdefault(name, []).append(secret.secret_hash)
        kept = {name: sorted(set(hashes[name])) for name in sorted(hashes)}
        ACCEPTED.write_text(json.dumps(kept, indent=1) + "\n")
        return 0
    new = not_accepted(secrets_found, json.loads(ACCEPTED.read_text()))
    print("\n".join(new) or "No password, key or token in the files.")
    return 1 if new else 0


def tracked_files() -> list[str]:
    """The files in git that may hold a secret."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    ours = (name for name in listed.splitlines() if not name.startswith(SKIPPED) and GENERATED not in name)
    return [name for name in ours if (ROOT / name).is_file()]


def found_in(names: list[str], root: Path = ROOT) -> list[tuple[str, PotentialSecret]]:
    """Each text that looks like a secret, with its file."""
    secrets_found = [
        *scanned(names, root, BY_LINE),
        *scanned(shaped(names, root), root, [{"name": name} for name in BY_SHAPE]),
    ]
    # docs name settings, and any word after the name of a key looks like its value
    return [(name, secret) for name, secret in secrets_found if not (name.endswith(".md") and secret.type == _BY_NAME)]


def shaped(names: list[str], root: Path) -> list[str]:
    """The files that contain a shape: detect-secrets tries each shape on each line, which takes most of its time."""
    detectors: list[Any] = [from_plugin_classname(name) for name in BY_SHAPE]
    shapes = [shape for detector in detectors for shape in detector.denylist]
    texts = ((name, (root / name).read_text(errors="replace")) for name in names)
    return [name for name, text in texts if any(shape.search(text) for shape in shapes)]


def scanned(names: list[str], root: Path, plugins: list[dict[str, Any]]) -> SecretsCollection:
    """The findings of these detectors."""
    collection = SecretsCollection(root=str(root))
    with transient_settings({"plugins_used": plugins, "filters_used": [{"path": path} for path in FILTERS]}):
        collection.scan_files(*names)
    return collection


def not_accepted(secrets_found: list[tuple[str, PotentialSecret]], accepted: Found) -> list[str]:
    """A line for each text that is not accepted, without the text itself."""
    return [
        f"{name}:{secret.line_number}: looks like a secret ({secret.type}). Remove it, and change it where it is used; "
        "if it is none: python -m checks.secrets accept"
        for name, secret in secrets_found
        if secret.secret_hash not in accepted.get(name, [])
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
