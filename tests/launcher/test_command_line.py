"""The output and the exit code of `./run` without starting anything."""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from launcher import calling, project, status
from launcher.commands import read_arguments
from launcher.data_folder import Ports, held, read_json, write_json, write_state
from launcher.output import LaunchError, last_lines, quiet_output
from launcher.processes import ProcessGroup
from launcher.roles import count
from launcher.serving import choose_port
from launcher.stack import Stack, check_database, check_redis
from tests.launcher.conftest import clean_environment, occupied_port
from tests.launcher.helpers import ROOT, run

REAL = {
    "UPSTREAM_BASE_URL": "https://upstream.example.com",
    "UPSTREAM_SECRET_ID": "i",
    "UPSTREAM_SECRET_KEY": "k",
    "SECRET_KEY": "s3cret" * 9,
    "ALLOWED_HOSTS": "a.example",
}


def test_help_names_every_command(empty: Path) -> None:
    result = run("--help", data=empty)

    assert result.returncode == 0
    for command in ("up", "install", "manage", "status", "service", "test", "check", "lock", "reset"):
        assert f"\n    {command} " in result.stdout


def test_wrong_arguments_exit_with_2_and_are_named(empty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = {
        "--port eighty": "--port",
        "--port 80": "--port",
        "up --fast": "--fast",
        "up --only cook": "cook",
        "reset now": "now",
        "check --fast": "--fast",
    }
    result = run("serve", data=empty)
    said = {"serve": (result.returncode, result.stderr)}

    for words in wrong:
        with pytest.raises(SystemExit) as ended:
            read_arguments(words.split())
        said[words] = (ended.value.code, capsys.readouterr().err)

    for words, (code, sentence) in said.items():
        assert (code, len(sentence.splitlines())) == (2, 1), words
        assert {"serve": "'serve'", **wrong}[words] in sentence
        assert "--help" in sentence


def test_status_without_anything_running_exits_with_3(empty: Path) -> None:
    plain, as_json = run("status", data=empty), run("status", "--json", data=empty)

    assert (plain.returncode, as_json.returncode) == (3, 3)
    assert str(empty) in plain.stdout
    assert json.loads(as_json.stdout) == {"running": False, "data_folder": str(empty), "processes": []}


@pytest.mark.parametrize("words", [["run", "status"], ["manage.py", "diffsettings"]])
def test_output_nobody_reads_ends_it_without_a_word(words: list[str], empty: Path) -> None:
    # given: a reader that has ended, as `| head` does
    unread, output = os.pipe()
    os.close(unread)

    result = subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env=clean_environment(BACKOFFICE_DATA=str(empty), BACKOFFICE_SANDBOX="1", SECRET_KEY="k" * 50),
        stdout=output,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(output)

    assert (result.returncode, result.stderr) == (128 + signal.SIGPIPE, "")


def test_what_a_killed_launcher_wrote_counts_for_nothing(empty: Path) -> None:
    write_state(empty, {"doing": "serving", "pid": os.getpid(), "address": "http://localhost:8000", "processes": []})
    (empty / "lock").touch()

    assert run("status", data=empty).returncode == 3


def test_a_second_run_names_the_first_ones_address(empty: Path) -> None:
    with held(empty):
        write_state(empty, {"doing": "serving", "pid": 4242, "address": "http://localhost:8123", "processes": []})
        result = run(data=empty)

    assert result.returncode == 1
    assert "http://localhost:8123" in result.stderr
    assert "4242" in result.stderr


def test_settings_that_cannot_run_are_refused_before_a_start(empty: Path) -> None:
    upstream = {"UPSTREAM_BASE_URL": REAL["UPSTREAM_BASE_URL"]}
    secrets = {name: REAL[name] for name in ("SECRET_KEY", "UPSTREAM_SECRET_ID", "UPSTREAM_SECRET_KEY")}
    all_missing = ": SECRET_KEY, UPSTREAM_SECRET_ID, UPSTREAM_SECRET_KEY, ALLOWED_HOSTS."
    for words, environment, sentence in [
        (["up"], {**upstream, "SECRET_KEY": ""}, all_missing),  # an empty value counts as none
        (["manage", "check"], {**upstream, **secrets}, ": ALLOWED_HOSTS."),
        ([], REAL | {"UPSTREAM_BASE_URL": "notaurl"}, "UPSTREAM_BASE_URL"),
        (["up", "--only", "worker"], REAL, ": DATABASE_URL, REDIS_URL."),  # what installations share
        (["manage", "check"], REAL | {"SECRET_KEY": "k3y" * 16}, "SECRET_KEY has only 48 "),
    ]:
        result = run(*words, data=empty, **environment)

        assert result.returncode == 1, sentence
        assert sentence in result.stderr
        assert "k3yk3y" not in result.stderr
        assert not list(empty.iterdir()), "something was started before the refusal"
    addresses = ["notaurl", "upstream.example.com", "ftp://a.example", "https://", "https://a:b"]
    assert [address for address in addresses if project.is_web_address(address)] == []


def test_a_wrong_number_of_processes_is_refused(empty: Path) -> None:
    result = run(data=empty, WEB_PROCESSES="two")

    assert result.returncode == 1
    assert "WEB_PROCESSES" in result.stderr
    assert not (empty / "logs").exists(), "something was started before the refusal"
    for number in ("0", "65", "-1"):
        with pytest.raises(LaunchError, match="WEB_PROCESSES"):
            count({"WEB_PROCESSES": number}, "WEB_PROCESSES", 1)


def test_a_store_that_does_not_answer_is_named(empty: Path) -> None:
    for name, address in {
        "DATABASE_URL": "postgresql://u:very-secret@127.0.0.1:9/none",
        "SANDBOX_DATABASE_URL": "nonsense",
        "REDIS_URL": "redis://:very-secret@127.0.0.1:9/0",
    }.items():
        result = run("manage", "check", data=empty, **{name: address})

        assert result.returncode == 1, name
        assert f" at {name}" in result.stderr
        assert "very-secret" not in result.stderr
        assert "Traceback" not in result.stderr
        assert not (empty / "logs").exists(), "something was started before the refusal"


@pytest.mark.parametrize(
    "address",
    ["nonsense", "postgresql://u:ab@very-secret@127.0.0.1:9/none", "postgresql://u:very-secret/x@127.0.0.1:9/none"],
)
def test_an_address_that_is_not_understood_is_named_and_not_shown(address: str) -> None:
    with pytest.raises(LaunchError, match=" at DATABASE_URL") as refusal:
        check_database(address, "DATABASE_URL")

    assert "very-secret" not in str(refusal.value)
    with pytest.raises(LaunchError, match=" at REDIS_URL"):
        check_redis(address)


def test_a_wrong_password_is_named_as_such() -> None:
    # given: user, password and database are the same word, as in many compose files
    server = urlsplit(os.environ["DATABASE_URL"])
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as connection:
        connection.execute("CREATE ROLE told LOGIN PASSWORD 'another'")
        try:
            address = server._replace(netloc=f"told:told@{server.hostname}:{server.port}", path="/told").geturl()

            # when
            with pytest.raises(LaunchError) as refusal:
                check_database(address, "DATABASE_URL")
        finally:
            connection.execute("DROP ROLE told")

    # then
    assert "password authentication failed" in str(refusal.value)


def test_a_data_folder_that_cannot_be_made_is_named(empty: Path) -> None:
    (empty / "file").touch()

    result = run(data=empty / "file" / "data")

    assert result.returncode == 1
    assert str(empty / "file" / "data") in result.stderr
    assert "BACKOFFICE_DATA" in result.stderr


def test_reset_asks_first_and_deletes_only_what_run_has_made(empty: Path) -> None:
    (empty / "secrets.json").write_text("{}")

    unasked = run("reset", data=empty)
    assert unasked.returncode == 2
    assert "--yes" in unasked.stderr
    assert empty.exists()

    with held(empty):
        in_use = run("reset", "--yes", data=empty)
    assert in_use.returncode == 1
    assert str(empty) in in_use.stderr

    assert run("reset", "--yes", data=empty).returncode == 0
    assert not empty.exists()


def test_reset_never_claims_to_empty_another_database(empty: Path) -> None:
    (empty / "secrets.json").write_text("{}")
    elsewhere = {"DATABASE_URL": "postgresql://u:very-secret@127.0.0.1:9/shop"}

    refused = run("reset", "--yes", data=empty, **elsewhere)

    assert refused.returncode == 1
    assert "DATABASE_URL" in refused.stderr
    assert "very-secret" not in refused.stderr
    assert empty.exists()

    assert run("reset", "--yes", data=empty, DATABASE_URL="").returncode == 0
    assert not empty.exists()


def test_reset_deletes_nothing_under_a_role_that_runs(empty: Path) -> None:
    (empty / "secrets.json").write_text("{}")
    of_worker = empty / "roles/worker"
    of_worker.mkdir(parents=True)

    with held(of_worker):
        result = run("reset", "--yes", data=empty)

    assert result.returncode == 1
    assert "stop ./run first" in result.stderr
    assert of_worker.exists()


def test_reset_leaves_other_folders_alone(empty: Path) -> None:
    (empty / "photo.jpg").touch()

    result = run("reset", "--yes", data=empty)

    assert result.returncode == 1
    assert (empty / "photo.jpg").exists()


def test_the_next_free_port_replaces_a_busy_one() -> None:
    lines: list[str] = []
    with occupied_port() as taken:
        port = choose_port(taken, lines.append, is_fixed=False)

    assert port > taken
    assert [str(port) in line for line in lines] == [True]


def test_the_port_of_the_pages_is_not_the_one_that_the_sandbox_had_last_time(tmp_path: Path) -> None:
    pages = choose_port(0, [].append, is_fixed=False)
    write_json(tmp_path / "ports.json", {"sandbox": pages})

    assert Ports(tmp_path).take("sandbox", first=pages) > pages


def test_with_a_real_upstream_a_busy_port_is_an_error() -> None:
    lines: list[str] = []
    with occupied_port() as taken, pytest.raises(LaunchError, match=str(taken)):
        choose_port(taken, lines.append, is_fixed=True)

    assert lines == []


@pytest.mark.parametrize("given", [{}, {"UPSTREAM_SECRET_ID": "sid_new", "UPSTREAM_SECRET_KEY": "sk_new"}])
def test_given_sandbox_credentials_win_over_generated_ones(given: dict[str, str], empty: Path) -> None:
    stores = {name: os.environ[name] for name in ("DATABASE_URL", "REDIS_URL")}
    stores["SANDBOX_DATABASE_URL"] = stores["DATABASE_URL"]
    group = ProcessGroup()
    stack = Stack(project.Project(empty, {**stores, **given}), group)
    try:
        stack.start_stores(web_port=8000)
    finally:
        group.close()

    kept = read_json(empty / "secrets.json")
    assert stack.environment["BACKOFFICE_SANDBOX"] == "1"
    assert stack.environment["UPSTREAM_SECRET_ID"] == given.get("UPSTREAM_SECRET_ID", kept["upstream_id"])
    assert stack.environment["UPSTREAM_SECRET_KEY"] == given.get("UPSTREAM_SECRET_KEY", kept["upstream_key"])


def test_a_failure_shows_the_log_since_the_last_start(tmp_path: Path) -> None:
    log = tmp_path / "web.log"
    log.write_text("=== web starts\nan old trouble\n=== web starts\nline 1\nport is taken\n")

    text = str(LaunchError("web ended.", log=log))

    assert text.splitlines()[:3] == ["web ended.", "    line 1", "    port is taken"]
    assert str(log) in text
    assert last_lines(tmp_path / "none.log") == ""


def test_doctor_makes_no_shop_where_none_is(empty: Path) -> None:
    result = run("doctor", data=empty)

    assert (result.returncode, list(empty.iterdir())) == (1, [])
    assert "`./run`" in result.stderr
    assert "Traceback" not in result.stderr


def test_doctor_says_first_that_the_shop_is_not_running(empty: Path) -> None:
    (empty / "postgres").mkdir()
    said: list[str] = []

    calling.look_without_a_shop(project.Project(empty, {}), said.append)

    assert ["not running" in sentence for sentence in said] == [True]


def test_status_marks_the_process_whose_heartbeat_is_late(
    empty: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BACKOFFICE_DATA", str(empty))
    rows = [{"name": name, "pid": os.getpid(), "port": None, "started": 0.0} for name in ("worker", "beat")]
    monkeypatch.setattr(status.Pulse, "read", lambda _: status.Pulse({"worker": 2, "beat": 40}, {}))

    with held(empty):
        write_state(empty, {"doing": "serving", "pid": os.getpid(), "address": "", "processes": rows})
        code = status.run(ProcessGroup(), quiet_output, argparse.Namespace(as_json=False))

    late = [line.split()[0] for line in capsys.readouterr().out.splitlines() if line.endswith("late")]
    assert (code, late) == (1, ["beat"])


def test_with_a_full_disk_commands_still_reach_the_shop_that_runs(empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # given a shop that serves on a data folder without room
    monkeypatch.setenv("BACKOFFICE_DATA", str(empty))
    usage = shutil.disk_usage(empty)._replace(free=0)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    passed_on: list[list[str]] = []

    def become(_group: ProcessGroup, _environment: dict[str, str], words: list[str]) -> None:
        passed_on.append(words)
        raise InterruptedError  # the real function does not return

    monkeypatch.setattr(calling, "become_manage", become)

    with held(empty):
        write_state(empty, {"doing": "serving", "pid": os.getpid(), "processes": []})
        with pytest.raises(InterruptedError):
            calling.run(ProcessGroup(), quiet_output, argparse.Namespace(words=["doctor"]))

    assert passed_on == [["doctor"]]
