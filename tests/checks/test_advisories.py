"""Known vulnerabilities fail the check, unless ignored with reason and date; without an answer it warns and passes."""

import datetime as dt
import json
import subprocess
from typing import Any

import pytest

from checks import advisories

TODAY = dt.date(2026, 11, 22)
FOUND = [
    {
        "name": "django",
        "version": "5.2.1",
        "vulns": [{"id": "PYSEC-1", "aliases": ["CVE-1"], "fix_versions": ["5.2.2"]}],
    },
    {"name": "redis", "version": "7.4.1", "vulns": []},
]


def answer(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    result = subprocess.CompletedProcess([], 1, stdout=text, stderr="")
    monkeypatch.setattr(advisories.subprocess, "run", lambda *_, **__: result)


def test_a_vulnerability_counts_unless_ignored_until_later() -> None:
    later = TODAY + dt.timedelta(days=1)
    for ignored, lines in [
        ({}, 1),
        ({"CVE-1": later}, 0),
        ({"PYSEC-1": later}, 0),
        ({"CVE-1": TODAY}, 1),
        ({"CVE-2": later}, 1),
    ]:
        assert len(list(advisories.concerning(FOUND, ignored, TODAY))) == lines, ignored


def test_a_vulnerability_fails_the_gate(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    answer(monkeypatch, json.dumps({"dependencies": FOUND}))

    assert advisories.main() == 1
    assert "django 5.2.1: PYSEC-1, fixed in 5.2.2" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["", json.dumps({"dependencies": [{"name": "django", "skip_reason": "not found"}]})])
def test_without_an_answer_the_gate_passes_and_shouts(monkeypatch: pytest.MonkeyPatch, capsys: Any, text: str) -> None:
    answer(monkeypatch, text)

    assert advisories.main() == 0
    assert "WERE NOT CHECKED" in capsys.readouterr().out


def test_what_is_ignored_has_a_reason_and_a_date() -> None:
    assert all(isinstance(until, dt.date) for until in advisories.read_ignored().values())
