"""`./run` reads settings from `.env`, from the environment, and from files with secrets."""

import os
from pathlib import Path
from unittest import mock

import pytest
from environs import Env

from launcher import project
from launcher.output import LaunchError

DOTENV = r"""
# a comment
A=1
export B = two words
C='it\'s # so' # not this
D="two\nlines"
E=${A}-${FROM_OUTSIDE}
F=
G="x=y"
"""


def test_launcher_and_settings_read_the_same_dotenv(tmp_path: Path) -> None:
    path = tmp_path / ".env"
    path.write_text(DOTENV)
    expected = {"A": "1", "B": "two words", "C": "it's # so", "D": "two\nlines", "E": "1-out", "F": "", "G": "x=y"}

    with mock.patch.dict(os.environ, {"FROM_OUTSIDE": "out"}, clear=True):
        launcher = project.read_dotenv(path)
        settings = Env()
        settings.read_env(str(path), recurse=False)

        assert launcher == expected
        assert {name: settings.str(name) for name in expected} == expected


@pytest.mark.parametrize("line", ["what is this", "A", "A='open"])
def test_a_bad_line_of_dotenv_is_named(line: str, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(f"B=1\n{line}\n")

    with pytest.raises(LaunchError, match=r"^Line 2 of "):
        project.read_dotenv(tmp_path / ".env")


def test_the_environment_wins_over_dotenv_empty_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".env").write_text("SHOP_NAME=From the file\nLOG_LEVEL=DEBUG\nUPSTREAM_BASE_URL=\n")
    monkeypatch.setattr(project, "ROOT", tmp_path)
    monkeypatch.setenv("SHOP_NAME", "From the environment")
    monkeypatch.delenv("LOG_LEVEL", raising=False)
    monkeypatch.delenv("UPSTREAM_BASE_URL")

    read = project.read_project()

    assert read.given["SHOP_NAME"] == "From the environment"
    assert read.given["LOG_LEVEL"] == "DEBUG"
    assert read.sandboxed


def test_a_place_is_the_same_for_the_launcher_and_the_app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".env").write_text("BACKUP_TO=~/backups\nBACKUP_STAMP=stamp\n")
    monkeypatch.setattr(project, "ROOT", tmp_path)
    monkeypatch.setenv("HOME", "/home/shop")
    monkeypatch.setenv("AUDIT_CHECKPOINT_FILE", "/mnt/elsewhere/checkpoints")

    given = project.read_project().given

    assert given["BACKUP_TO"] == "/home/shop/backups"
    assert given["BACKUP_STAMP"] == str(tmp_path / "stamp")
    assert given["AUDIT_CHECKPOINT_FILE"] == "/mnt/elsewhere/checkpoints"


@pytest.mark.parametrize("name", ["BACKUP_TO", "BACKOFFICE_DATA"])
def test_a_place_of_a_user_who_is_not_there_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "~nobody-has-this-name/backups")

    with pytest.raises(LaunchError, match=f"{name}=~nobody-has-this-name/backups names a user"):
        project.read_project()


def test_each_secret_may_come_from_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "secret").write_text("of-a-file\n")
    for name in project.SECRETS:
        with monkeypatch.context() as patch:
            patch.delenv(name, raising=False)
            patch.setenv(f"{name}_FILE", str(tmp_path / "secret"))

            given = project.read_project().given

            assert given[name] == "of-a-file"
            assert f"{name}_FILE" not in given
            patch.setenv(name, "another")
            with pytest.raises(LaunchError, match="different things"):
                project.read_project()
            patch.setenv(f"{name}_FILE", str(tmp_path / "none"))
            with pytest.raises(LaunchError, match=f"{name}_FILE"):
                project.read_project()
