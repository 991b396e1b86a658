"""What `./run` says and returns without starting anything."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from backoffice.launcher import failures, project
from backoffice.launcher.data_folder import held, read_json, write_state
from backoffice.launcher.failures import LaunchError
from backoffice.launcher.processes import Family
from backoffice.launcher.serving import choose_port
from backoffice.launcher.stack import Stack
from tests.launcher.conftest import occupied_port

ROOT = Path(__file__).resolve().parents[2]
REAL = {
    "UPSTREAM_BASE_URL": "https://upstream.example.com",
    "UPSTREAM_SECRET_ID": "i",
    "UPSTREAM_SECRET_KEY": "k",
    "SECRET_KEY": "s3cret" * 9,
    "ALLOWED_HOSTS": "a.example",
}


def run(*words: str, data: Path, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Call `./run` on a data folder, with nothing of the test's own environment that names services."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("UPSTREAM_", "SANDBOX"))}
    for name in ("DATABASE_URL", "REDIS_URL", "SECRET_KEY", "ALLOWED_HOSTS", "BACKOFFICE_SANDBOX"):
        kept.pop(name, None)
    return subprocess.run(
        [sys.executable, str(ROOT / "run"), *words],
        env={**kept, "BACKOFFICE_DATA": str(data), **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_help_names_every_command(folder: Path) -> None:
    result = run("--help", data=folder)

    assert result.returncode == 0
    for command in ("up", "manage", "status", "test", "check", "lock", "reset"):
        assert f"\n    {command} " in result.stdout


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["serve"], "There is no command serve"),
        (["--port", "eighty"], "a port is a number from 1024 to 65535"),
        (["--port", "80"], "a port is a number from 1024 to 65535"),
        (["up", "--fast"], "Unrecognized arguments: --fast"),
        (["reset", "now"], "Unrecognized arguments: now"),
    ],
)
def test_wrong_arguments_get_one_sentence_and_exit_code_2(words: list[str], sentence: str, folder: Path) -> None:
    result = run(*words, data=folder)

    assert result.returncode == 2
    assert sentence in result.stderr
    assert "Traceback" not in result.stderr
    assert "--help" in result.stderr


def test_status_says_that_nothing_runs(folder: Path) -> None:
    plain, as_json = run("status", data=folder), run("status", "--json", data=folder)

    assert (plain.returncode, as_json.returncode) == (3, 3)
    assert "Not running" in plain.stdout
    assert json.loads(as_json.stdout) == {"running": False, "data_folder": str(folder), "processes": []}


def test_what_a_killed_launcher_wrote_is_not_taken_for_a_running_one(folder: Path) -> None:
    write_state(folder, {"doing": "serving", "pid": os.getpid(), "address": "http://localhost:8000", "processes": []})
    (folder / "lock").touch()

    assert run("status", data=folder).returncode == 3


def test_a_second_run_names_the_first_ones_address(folder: Path) -> None:
    with held(folder):
        write_state(folder, {"doing": "serving", "pid": 4242, "address": "http://localhost:8123", "processes": []})
        result = run(data=folder)

    assert result.returncode == 1
    assert "is in use: ./run is already running at http://localhost:8123 (process 4242)" in result.stderr


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ({}, "SECRET_KEY and UPSTREAM_SECRET_ID and UPSTREAM_SECRET_KEY and ALLOWED_HOSTS are missing"),
        ({"SECRET_KEY": "s", "UPSTREAM_SECRET_ID": "i", "UPSTREAM_SECRET_KEY": "k"}, "but ALLOWED_HOSTS is missing"),
        (
            {"SECRET_KEY": "", "UPSTREAM_SECRET_ID": "i", "UPSTREAM_SECRET_KEY": "k", "ALLOWED_HOSTS": "a.example"},
            "but SECRET_KEY is missing",
        ),
    ],
)
@pytest.mark.parametrize("words", [["up"], ["manage", "check"]])
def test_a_real_upstream_is_refused_while_its_settings_are_missing(
    words: list[str], given: dict[str, str], missing: str, folder: Path
) -> None:
    result = run(*words, data=folder, UPSTREAM_BASE_URL="https://upstream.example.com", **given)

    assert result.returncode == 1
    assert missing in result.stderr
    assert not list(folder.iterdir()), "something was started before the refusal"


@pytest.mark.parametrize("address", ["notaurl", "upstream.example.com", "ftp://a.example", "https://", "https://a:b"])
def test_an_upstream_that_is_no_web_address_is_refused(address: str, folder: Path) -> None:
    result = run(data=folder, **REAL | {"UPSTREAM_BASE_URL": address})

    assert result.returncode == 1
    assert "UPSTREAM_BASE_URL is no http or https address" in result.stderr
    assert not list(folder.iterdir()), "something was started before the refusal"


def test_a_key_that_could_be_guessed_is_refused_with_a_real_upstream_and_not_told(folder: Path) -> None:
    result = run("manage", "check", data=folder, **REAL | {"SECRET_KEY": "k3y" * 16})

    assert result.returncode == 1
    assert "SECRET_KEY has only 48 characters" in result.stderr
    assert "k3yk3y" not in result.stderr
    assert not list(folder.iterdir()), "something was started before the refusal"


@pytest.mark.parametrize(
    ("name", "address", "sentence"),
    [
        ("DATABASE_URL", "postgresql://u:very-secret@127.0.0.1:9/none", "Cannot sign in at DATABASE_URL"),
        ("DATABASE_URL", "nonsense", "Cannot sign in at DATABASE_URL"),
        ("REDIS_URL", "redis://:very-secret@127.0.0.1:9/0", "No answer at REDIS_URL"),
        ("REDIS_URL", "nonsense", "No answer at REDIS_URL"),
    ],
)
def test_an_address_where_nobody_answers_is_explained_without_its_password(
    name: str, address: str, sentence: str, folder: Path
) -> None:
    result = run("manage", "check", data=folder, **{name: address})

    assert result.returncode == 1
    assert sentence in result.stderr
    assert "very-secret" not in result.stderr
    assert "Traceback" not in result.stderr


def test_a_data_folder_that_cannot_be_made_is_explained(folder: Path) -> None:
    (folder / "file").touch()

    result = run(data=folder / "file" / "data")

    assert result.returncode == 1
    assert "Cannot make the data folder" in result.stderr
    assert "BACKOFFICE_DATA" in result.stderr


def test_reset_asks_first_and_deletes_only_what_run_has_made(folder: Path) -> None:
    (folder / "secrets.json").write_text("{}")

    unasked = run("reset", data=folder)
    assert unasked.returncode == 2
    assert "--yes" in unasked.stderr
    assert folder.exists()

    with held(folder):
        in_use = run("reset", "--yes", data=folder)
    assert in_use.returncode == 1
    assert "stop ./run first" in in_use.stderr

    assert run("reset", "--yes", data=folder).returncode == 0
    assert not folder.exists()


def test_reset_leaves_a_folder_of_somebody_else_alone(folder: Path) -> None:
    (folder / "photo.jpg").touch()

    result = run("reset", "--yes", data=folder)

    assert result.returncode == 1
    assert (folder / "photo.jpg").exists()


def test_a_busy_port_gives_way_to_the_next_free_one_said_aloud() -> None:
    said: list[str] = []
    with occupied_port() as taken:
        port = choose_port(taken, said.append)

    assert port > taken
    assert said == [f"Port {taken} is in use: taking {port}"]


def test_dotenv_is_read_with_quotes_comments_and_exports(tmp_path: Path) -> None:
    path = tmp_path / ".env"
    path.write_text("# a comment\n\nA=1\nexport B = two words \nC='it # is' # not\nD=\"x=y\"\nE=5 # five\nF=\n")

    values = project.read_dotenv(path)

    assert values == {"A": "1", "B": "two words", "C": "it # is", "D": "x=y", "E": "5", "F": ""}


def test_a_line_of_dotenv_that_is_none_is_named(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("A=1\nwhat is this\n")

    with pytest.raises(LaunchError, match=r"Line 2 of .* is not KEY=VALUE"):
        project.read_dotenv(tmp_path / ".env")


def test_the_environment_wins_over_dotenv_and_an_empty_value_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".env").write_text("SHOP_NAME=From the file\nLOG_LEVEL=DEBUG\nUPSTREAM_BASE_URL=\n")
    monkeypatch.setattr(project, "ROOT", tmp_path)
    monkeypatch.setenv("SHOP_NAME", "From the environment")
    monkeypatch.delenv("LOG_LEVEL", raising=False)
    monkeypatch.delenv("UPSTREAM_BASE_URL")

    found = project.read_project()

    assert found.given["SHOP_NAME"] == "From the environment"
    assert found.given["LOG_LEVEL"] == "DEBUG"
    assert found.sandboxed


@pytest.mark.parametrize("given", [{}, {"UPSTREAM_SECRET_ID": "sid_new", "UPSTREAM_SECRET_KEY": "sk_new"}])
def test_the_sandboxs_credentials_are_the_given_ones_else_generated_and_kept(
    given: dict[str, str], folder: Path
) -> None:
    stores = {name: os.environ[name] for name in ("DATABASE_URL", "REDIS_URL")}
    stores["SANDBOX_DATABASE_URL"] = stores["DATABASE_URL"]
    family = Family()
    stack = Stack(project.Project(ROOT, folder, {**stores, **given}), family)
    try:
        stack.start_stores(web_port=8000)
    finally:
        family.close()

    kept = read_json(folder / "secrets.json")
    assert stack.environment["BACKOFFICE_SANDBOX"] == "1"
    assert stack.environment["UPSTREAM_SECRET_ID"] == given.get("UPSTREAM_SECRET_ID", kept["upstream_id"])
    assert stack.environment["UPSTREAM_SECRET_KEY"] == given.get("UPSTREAM_SECRET_KEY", kept["upstream_key"])


def test_a_failure_shows_only_what_the_child_said_since_its_last_start(tmp_path: Path) -> None:
    log = tmp_path / "web.log"
    log.write_text("=== web starts\nan old trouble\n=== web starts\nline 1\nport is taken\n")

    text = str(LaunchError("web ended.", log=log))

    assert text.splitlines()[:3] == ["web ended.", "    line 1", "    port is taken"]
    assert str(log) in text
    assert failures.last_lines(tmp_path / "none.log") == ""
