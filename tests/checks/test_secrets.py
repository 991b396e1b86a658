"""The scan finds secrets that must not be in a file, and does not print them."""

from pathlib import Path

import pytest

from checks import secrets

KEY = "AKIA" + "IOSFODNN7EXAMPLQ"
MADE_UP = {
    "aws.py": f'KEY = "{KEY}"',
    "key.pem": "-----BEGIN " + "RSA PRIVATE KEY-----",
    "env": "URL=postgresql://shop:" + "Zx81kPq0@db.example.com/shop",
    "settings.py": 'API_PASSWORD = "' + 'correct-horse-7Battery"',
}


@pytest.mark.parametrize("name", MADE_UP)
def test_a_secret_in_a_file_is_found_and_not_shown(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(MADE_UP[name] + "\n")

    lines = secrets.not_accepted(secrets.found_in([name], tmp_path), {})

    assert lines
    assert lines[0].startswith(f"{name}:1: looks like a secret")
    assert KEY not in lines[0]


def test_what_is_accepted_is_accepted_in_that_file_alone(tmp_path: Path) -> None:
    (tmp_path / "aws.py").write_text(MADE_UP["aws.py"])
    secrets_found = secrets.found_in(["aws.py"], tmp_path)

    assert not secrets.not_accepted(secrets_found, {"aws.py": [secret.secret_hash for _name, secret in secrets_found]})
    assert secrets.not_accepted(secrets_found, {"other.py": [secret.secret_hash for _name, secret in secrets_found]})
