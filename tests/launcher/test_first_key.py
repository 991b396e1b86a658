"""The launcher's facts from `prepare_app`: the key while the shop has no owner, and a restore."""

import hashlib
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from launcher.output import LaunchError
from launcher.project import Project
from launcher.stack import NO_OWNER, RESTORED, Stack

REAL = {"UPSTREAM_BASE_URL": "https://upstream.example.com", "ALLOWED_HOSTS": "shop.example.com"}


def prepared(data: Path, said: str, *, code: int = 0, **given: str) -> Stack:
    """The stack after `prepare_app` has printed this."""
    group: Any = SimpleNamespace(finish=lambda _child, **_limit: code)
    (data / "prepare.log").write_text(f"  heartbeats (0.1 s)\n{said}\n")
    stack = Stack(Project(data, {**REAL, **given}), group)
    child: Any = SimpleNamespace(log=data / "prepare.log")
    stack.finish_preparing(child)
    return stack


def test_the_app_gets_the_digest_of_the_key_alone(tmp_path: Path) -> None:
    stack = prepared(tmp_path, f"  {NO_OWNER}")

    assert len(stack.first_key) >= 32
    assert stack.environment["FIRST_KEY_DIGEST"] == hashlib.sha256(stack.first_key.encode()).hexdigest()
    kept = [file.read_text() for file in tmp_path.rglob("*") if file.is_file()]
    assert stack.first_key not in json.dumps([stack.environment, stack.owners_environment, kept])


def test_no_key_with_an_owner_or_a_provider(tmp_path: Path) -> None:
    for said, given in (("  no demo staff", {}), (f"  {NO_OWNER}", {"OIDC_ISSUER": "https://id.example.com"})):
        stack = prepared(tmp_path, said, **given)

        assert stack.first_key == "", said
        assert "FIRST_KEY_DIGEST" not in stack.environment


def test_a_restored_shop_that_is_not_open_is_known(tmp_path: Path) -> None:
    assert prepared(tmp_path, f"  {RESTORED}").is_restored
    assert not prepared(tmp_path, "  no demo staff").is_restored


def test_a_refused_setting_is_not_taken_for_the_database(tmp_path: Path) -> None:
    for said, headline in {
        "SystemCheckError: ...": "The settings are refused.",
        "a fault": "The database could not be prepared.",
    }.items():
        with pytest.raises(LaunchError) as refusal:
            prepared(tmp_path, said, code=1)

        assert str(refusal.value).splitlines()[0] == headline
