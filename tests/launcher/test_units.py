"""`./run service install` writes units that systemd accepts, with few rights."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from launcher import units
from launcher.output import LaunchError
from launcher.project import Project
from tests.launcher.helpers import run

NOBODY = ("--user", "nobody")


def test_one_unit_runs_everything(empty: Path, tmp_path: Path) -> None:
    result = run("service", "install", "--to", str(tmp_path / "units"), *NOBODY, data=tmp_path / "data")

    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == [str(tmp_path / "units/backoffice.service")]
    text = (tmp_path / "units/backoffice.service").read_text()
    assert "User=nobody\n" in text
    assert f"ReadWritePaths={tmp_path / 'data'} " in text
    assert " up\n" in text
    assert "StartLimitIntervalSec=0\n" in text.partition("[Service]")[0], "systemd never gives up"


def test_a_unit_may_write_backups_and_checkpoints(tmp_path: Path) -> None:
    given = {"BACKUP_TO": "/mnt/backups", "AUDIT_CHECKPOINT_FILE": "/home/ani/kept/checkpoints"}

    text = units.unit(Project(data=tmp_path, given=given), "nobody", [])

    assert " -/mnt/backups -/home/ani/kept\n" in text, "a disk that is not there ends no start"
    assert "ProtectHome=read-only\n" in text


def test_each_named_role_has_a_unit_of_its_own(tmp_path: Path) -> None:
    words = ("--only", "web", "--only", "beat", *NOBODY)
    result = run("service", "install", "--to", str(tmp_path / "units"), *words, data=tmp_path / "data")

    assert result.returncode == 0, result.stderr
    units = {path.name: path.read_text() for path in (tmp_path / "units").iterdir()}
    assert set(units) == {"backoffice-web.service", "backoffice-beat.service"}
    assert " up --only beat\n" in units["backoffice-beat.service"]
    assert "CPUWeight=10\n" in units["backoffice-beat.service"]
    assert "CPUWeight" not in units["backoffice-web.service"]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd-analyze here")
def test_systemd_finds_the_unit_well_protected(tmp_path: Path) -> None:
    run("service", "install", "--to", str(tmp_path / "units"), *NOBODY, data=tmp_path / "data")

    command = ["systemd-analyze", "security", "--offline=true", "--threshold=30", tmp_path / "units/backoffice.service"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)

    assert result.returncode == 0, result.stdout[-300:]


def test_root_and_unknown_users_are_refused(tmp_path: Path) -> None:
    for user in ("root", "nobody-has-this-name"):
        result = run("service", "install", "--to", str(tmp_path / "units"), "--user", user, data=tmp_path / "data")

        assert result.returncode == 1, user
        assert "--user" in result.stderr
        assert not (tmp_path / "units").exists()


def test_a_folder_that_systemd_cannot_name_is_refused(empty: Path, tmp_path: Path) -> None:
    result = run("service", "install", "--to", str(tmp_path), *NOBODY, data=empty)

    assert result.returncode == 1
    assert f"systemd cannot name the folder {empty}" in result.stderr


def test_what_systemd_refuses_is_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refuses = tmp_path / "systemd-analyze"
    refuses.write_text("#!/bin/sh\necho 'Unknown key' >&2; exit 1\n")
    refuses.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")

    with pytest.raises(LaunchError, match="Unknown key"):
        units.verify([tmp_path / "a.service"], lambda _: None)


def test_a_data_folder_of_somebody_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()

    result = run("service", "install", "--to", str(tmp_path / "units"), *NOBODY, data=tmp_path / "data")

    assert result.returncode == 1
    assert f"chown -R nobody {tmp_path / 'data'}" in result.stderr
    assert not (tmp_path / "units").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root starts something as somebody else")
def test_a_python_that_the_user_may_not_run_is_refused(tmp_path: Path) -> None:
    own = tmp_path / "venv" / "bin" / "python"
    own.parent.mkdir(parents=True)
    own.write_text("#!/bin/sh\n")
    own.chmod(0o700)

    with pytest.raises(LaunchError, match=r"nobody may not run .*/venv/bin/python.*\./run install"):
        units.require_runnable("nobody", own)


@pytest.mark.parametrize("home", ["/home/ani/.pyenv/versions/3.11", "/root/.pyenv/versions/3.11"])
def test_an_interpreter_in_somebodys_home_can_be_read(
    home: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "base_prefix", home)
    monkeypatch.setattr(units, "ROOT", Path("/srv/backoffice"))

    text = units.unit(Project(data=Path("/srv/data"), given={}), "nobody", [])

    assert "ProtectHome=read-only\n" in text
