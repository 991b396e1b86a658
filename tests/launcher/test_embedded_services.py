"""PostgreSQL and Valkey of a data folder: they answer, keep their rows and keys, and recover."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
import redis
from psycopg.errors import InsufficientPrivilege
from redis.backoff import NoBackoff
from redis.retry import Retry

from launcher.data_folder import read_json
from launcher.database_roles import APP, OWNER, SANDBOX
from launcher.output import LaunchError
from launcher.postgresql import DURABLE, PostgreSQL
from launcher.process_table import end_left_over, processes_inside
from launcher.processes import ProcessGroup
from launcher.roles import numbers
from tests.launcher.conftest import KEEPER, Keeper, all_gone, keepers, wait_until

Keep = Callable[[], Keeper]


def write_row(keeper: Keeper, text: str) -> None:
    with psycopg.connect(keeper.state["database_url"]) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS kept (text text)")
        connection.execute("INSERT INTO kept VALUES (%s)", [text])
    with redis.Redis.from_url(keeper.state["redis_url"]) as client:
        client.rpush("kept", text)


def rows(keeper: Keeper) -> tuple[list[str], list[str]]:
    with psycopg.connect(keeper.state["database_url"]) as connection:
        in_postgres = [str(row[0]) for row in connection.execute("SELECT text FROM kept ORDER BY text")]
    with redis.Redis.from_url(keeper.state["redis_url"], decode_responses=True) as client:
        in_valkey = sorted(client.lrange("kept", 0, -1))
    return in_postgres, in_valkey


def kill_all(pids: list[int]) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):  # some end by themselves after the first ones are dead
            os.kill(pid, signal.SIGKILL)


@pytest.fixture(scope="module")
def steady(template: Path) -> Iterator[Keeper]:
    """A keeper for tests that only look."""
    with keepers(template) as start:
        yield start()


def test_on_many_cores_each_thread_has_a_connection_to_postgresql(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(64))
    run = numbers({})

    ours = 8 * run["web"] + 9 * (run["worker"] + run["background"])
    sandbox, start = 12, 2

    assert ours + sandbox + start < int(DURABLE["max_connections"])
    assert numbers({"WORKER_PROCESSES": "3"})["worker"] == 3


def test_a_user_without_a_name_is_told_so_before_any_file_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 471_100)

    with pytest.raises(LaunchError, match="You run as user 471100, who has no name on this machine"):
        PostgreSQL(tmp_path, ProcessGroup()).start()


def test_databases_are_utf8_with_a_fixed_sort_order(steady: Keeper) -> None:
    with psycopg.connect(steady.state["database_url"]) as connection:
        row = connection.execute(
            "SELECT pg_encoding_to_char(encoding), datlocprovider::text, datlocale FROM pg_database "
            "WHERE datname = current_database()"
        ).fetchone()

    assert row == ("UTF8", "b", "C.UTF-8")


def test_neither_service_answers_without_the_password(steady: Keeper) -> None:
    port = urlsplit(steady.state["database_url"]).port

    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(f"postgresql://app:wrong@127.0.0.1:{port}/rows")
    with (
        redis.Redis(port=urlsplit(steady.state["redis_url"]).port or 0, retry=Retry(NoBackoff(), 0)) as client,
        pytest.raises(redis.AuthenticationError),
    ):
        client.ping()


def test_only_the_owner_can_read_the_passwords(steady: Keeper, template: Path) -> None:
    secrets = [value for name, value in read_json(template / "secrets.json").items() if name in {"postgres", "valkey"}]

    assert (template / "secrets.json").stat().st_mode & 0o077 == 0
    assert (template / "valkey/valkey.conf").stat().st_mode & 0o077 == 0
    lines = [Path(f"/proc/{pid}/cmdline").read_text(errors="replace") for pid in steady.everyone()]
    assert len(lines) > 3
    assert not [line for line in lines for secret in secrets if secret in line]


def test_a_second_launcher_is_refused_while_one_runs(steady: Keeper, template: Path) -> None:
    second = subprocess.run(
        [sys.executable, str(KEEPER), str(template)], capture_output=True, text=True, timeout=20, check=False
    )

    assert second.returncode == 1
    assert "in use" in second.stderr
    assert not all_gone(steady.state["children"])


def test_after_a_stop_rows_stay_and_the_address_if_it_is_free(keep: Keep) -> None:
    first = keep()
    write_row(first, "before the stop")
    everyone = first.everyone()

    # when: it stops and starts
    first.stop()
    second = keep()

    assert first.process.returncode == 0
    assert all_gone(everyone)
    assert rows(second) == (["before the stop"], ["before the stop"])
    assert second.state["database_url"] == first.state["database_url"]
    assert second.state["redis_url"] == first.state["redis_url"]

    # when: another server takes its port meanwhile
    second.stop()
    taken = urlsplit(first.state["database_url"]).port
    with socket.create_server(("127.0.0.1", taken or 0)):
        third = keep()

        assert urlsplit(third.state["database_url"]).port != taken
        assert rows(third) == (["before the stop"], ["before the stop"])


def test_killed_with_its_watchdog_or_not_no_process_is_left(keep: Keep) -> None:
    first = keep()
    write_row(first, "before the kill")
    everyone = first.everyone()

    first.kill()

    assert wait_until(lambda: all_gone(everyone)), "orphans"
    second = keep()
    assert rows(second) == (["before the kill"], ["before the kill"])

    # when: both are killed
    everyone = second.everyone()
    os.kill(second.state["watchdog"], signal.SIGKILL)
    second.kill()

    assert wait_until(lambda: all_gone(everyone)), "orphans"

    # when: the watchdog alone is killed, it is replaced
    third = keep()
    os.kill(third.state["watchdog"], signal.SIGKILL)
    again = third.hear()["watchdog"]
    everyone = third.everyone()
    third.kill()

    assert again != third.state["watchdog"]
    assert wait_until(lambda: all_gone(everyone)), "orphans"


def test_killing_everything_loses_no_row_whoever_has_the_pid(keep: Keep, folder: Path) -> None:
    first = keep()
    write_row(first, "1")
    pid_file = (folder / "postgres/data/postmaster.pid").resolve()

    kill_all(first.everyone())
    first.process.wait()
    second = keep()

    assert rows(second) == (["1"], ["1"])
    write_row(second, "2")

    # when: the pid of the killed PostgreSQL belongs to another program, and then to a zombie
    last = second
    for command, is_zombie in ((["sleep", "60"], False), (["true"], True)):
        content = pid_file.read_text().splitlines()
        kill_all(last.everyone())
        last.process.wait()
        with subprocess.Popen(command) as other:
            if is_zombie:
                assert wait_until(lambda pid=other.pid: ") Z " in Path(f"/proc/{pid}/stat").read_text())
            pid_file.write_text("\n".join([str(other.pid), *content[1:]]) + "\n")
            last = keep()

            assert rows(last)[0] == ["1", "2"]
            other.kill()


def test_a_power_cut_that_damages_valkeys_file_stops_no_start(keep: Keep, folder: Path) -> None:
    # given: the end of the file is zeros, as a file system leaves it
    first = keep()
    write_row(first, "kept")
    first.stop()
    (written,) = (folder / "valkey/appendonlydir").glob("*.incr.aof")
    with written.open("ab") as file:
        file.write(bytes(4096))

    second = keep()

    # then: PostgreSQL has everything; what Valkey had is put aside
    assert rows(second) == (["kept"], [])
    assert [path.name for path in (folder / "valkey/damaged").iterdir()]
    write_row(second, "more")
    second.stop()
    assert rows(keep()) == (["kept", "more"], ["more"])


def test_a_start_waits_for_a_long_recovery_and_says_so(folder: Path, group: ProcessGroup) -> None:
    # given: a recovery, whose disk answers slowly
    server = PostgreSQL(folder, group)
    data = (folder / "postgres/data").resolve()
    (data / "recovery.signal").touch()
    os.chown(data / "recovery.signal", data.stat().st_uid, data.stat().st_gid)
    server.start({"restore_command": "sleep 1; false", "hot_standby": "off", "recovery_target_action": "promote"})
    begun, said = time.monotonic(), []

    server.wait_ready("rows", seconds=2.5, say=said.append)

    assert time.monotonic() - begun > 2.5
    assert said == ["PostgreSQL recovers after a crash; this may take minutes"]
    server.stop()


def test_a_start_waits_until_left_over_stores_have_ended(keep: Keep, folder: Path) -> None:
    # given: neither the kernel nor a watchdog ended a killed launcher's PostgreSQL and Valkey, and both end slowly
    first = keep()
    write_row(first, "kept")
    for pid in first.state["children"]:
        os.kill(pid, signal.SIGSTOP)
    os.kill(first.state["watchdog"], signal.SIGKILL)
    first.kill()
    assert processes_inside(folder / "valkey")

    # when
    with subprocess.Popen(["sh", "-c", f"sleep 0.5; kill -CONT {' '.join(map(str, first.state['children']))}"]):
        second = keep()

    # then
    assert rows(second) == (["kept"], ["kept"])
    assert all_gone(first.state["children"])


def test_a_left_over_process_that_does_not_end_is_killed(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "60"], cwd=tmp_path) as process:
        process.send_signal(signal.SIGSTOP)

        end_left_over(tmp_path, name="sleep", graces=(0.0, 0.1, 10.0))

        assert process.wait(1) == -signal.SIGKILL


def test_an_interrupted_set_up_is_done_again(keep: Keep, folder: Path) -> None:
    # given: initdb was killed half-way
    data = (folder / "postgres/data").resolve()
    data.rename(data.with_name("new"))
    (data.with_name("new") / "PG_VERSION").unlink()

    # when
    keeper = keep()

    # then
    write_row(keeper, "works")
    assert rows(keeper)[0] == ["works"]


def test_lost_secrets_end_the_start_and_are_named(folder: Path) -> None:
    for end in ('"}', ""):  # wrong, and cut off
        (folder / "secrets.json").write_text(f'{{"postgres": "another{end}')

        result = subprocess.run(
            [sys.executable, str(KEEPER), str(folder)], capture_output=True, text=True, timeout=60, check=False
        )

        assert result.returncode != 0, end
        assert str(folder / "secrets.json") in result.stderr
        assert "./run reset" in result.stderr
        assert '"postgres": "another' in (folder / "secrets.json").read_text(), "what is left is kept"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs PostgreSQL as another user")
def test_in_roots_private_folder_postgres_lives_elsewhere(empty: Path) -> None:
    empty.parent.chmod(0o700)

    with keepers(empty) as keep:
        first = keep()
        write_row(first, "kept")
        first.stop()

        assert (empty / "postgres").is_symlink()
        assert rows(keep()) == (["kept"], ["kept"])


def test_what_a_superuser_made_before_gets_its_owner(folder: Path) -> None:
    # given: a folder of the time without roles, with a table, a column's sequence, a sequence of its own, a function
    group = ProcessGroup()
    server = PostgreSQL(folder, group)
    try:
        server.start()
        server.wait_ready("rows")
        with psycopg.connect(server.url("rows")) as connection:
            connection.execute("CREATE TABLE old (id bigserial PRIMARY KEY, text text); CREATE SEQUENCE numbers")
            connection.execute("CREATE FUNCTION one() RETURNS int LANGUAGE sql AS 'SELECT 1'")
            connection.execute("INSERT INTO old (text) VALUES ('kept')")

        # when: twice, as at every start
        for _ in range(2):
            server.set_up_roles({"rows": OWNER}, guests={"rows": (APP,)})

        # then
        with psycopg.connect(server.url("rows", OWNER)) as connection:
            assert connection.execute("SELECT text FROM old").fetchone() == ("kept",)
            connection.execute("ALTER TABLE old ADD COLUMN more text")
            connection.execute("DROP SEQUENCE numbers; DROP FUNCTION one()")
        with psycopg.connect(server.url("rows", APP)) as connection, pytest.raises(InsufficientPrivilege):
            connection.execute("SELECT text FROM old")
        with pytest.raises(psycopg.OperationalError, match="permission denied for database"):
            psycopg.connect(server.url("rows", SANDBOX))
    finally:
        server.stop()
        group.close()
