"""PostgreSQL and Valkey of a data folder: they answer, they keep what was written, they recover."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from backoffice.launcher.data_folder import read_json, write_json
from backoffice.launcher.processes import processes_inside
from tests.launcher.conftest import KEEPER, Keeper, all_gone, wait_until

Keep = Callable[[], Keeper]


def write_row(keeper: Keeper, text: str) -> None:
    with psycopg.connect(keeper.said["database_url"]) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS kept (text text)")
        connection.execute("INSERT INTO kept VALUES (%s)", [text])
    with redis.Redis.from_url(keeper.said["redis_url"]) as client:
        client.rpush("kept", text)


def rows(keeper: Keeper) -> tuple[list[str], list[str]]:
    with psycopg.connect(keeper.said["database_url"]) as connection:
        in_postgres = [str(row[0]) for row in connection.execute("SELECT text FROM kept ORDER BY text")]
    with redis.Redis.from_url(keeper.said["redis_url"], decode_responses=True) as client:
        in_valkey = sorted(client.lrange("kept", 0, -1))
    return in_postgres, in_valkey


def kill_all(pids: list[int]) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):  # some end by themselves when the first ones are dead
            os.kill(pid, signal.SIGKILL)


def test_databases_are_utf8_with_a_sort_order_that_no_machine_changes(keep: Keep) -> None:
    keeper = keep()

    with psycopg.connect(keeper.said["database_url"]) as connection:
        row = connection.execute(
            "SELECT pg_encoding_to_char(encoding), datlocprovider::text, datlocale FROM pg_database "
            "WHERE datname = current_database()"
        ).fetchone()

    assert row == ("UTF8", "b", "C.UTF-8")


def test_neither_service_lets_anybody_in_without_the_password(keep: Keep) -> None:
    keeper = keep()
    port = urlsplit(keeper.said["database_url"]).port

    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(f"postgresql://app:wrong@127.0.0.1:{port}/rows")
    with (
        redis.Redis(port=urlsplit(keeper.said["redis_url"]).port or 0, retry=Retry(NoBackoff(), 0)) as client,
        pytest.raises(redis.AuthenticationError),
    ):
        client.ping()


def test_the_passwords_are_readable_by_their_owner_only_and_on_no_command_line(keep: Keep, folder: Path) -> None:
    keeper = keep()
    secrets = [value for name, value in read_json(folder / "secrets.json").items() if name in {"postgres", "valkey"}]

    assert (folder / "secrets.json").stat().st_mode & 0o077 == 0
    assert (folder / "valkey/valkey.conf").stat().st_mode & 0o077 == 0
    lines = [Path(f"/proc/{pid}/cmdline").read_text(errors="replace") for pid in keeper.everyone()]
    assert len(lines) > 3
    assert not [line for line in lines for secret in secrets if secret in line]


def test_an_ordered_stop_leaves_no_process_and_the_next_start_has_every_row_at_the_same_address(keep: Keep) -> None:
    first = keep()
    write_row(first, "before the stop")
    everyone = first.everyone()

    first.stop()
    second = keep()

    assert first.process.returncode == 0
    assert all_gone(everyone)
    assert rows(second) == (["before the stop"], ["before the stop"])
    assert second.said["database_url"] == first.said["database_url"]
    assert second.said["redis_url"] == first.said["redis_url"]


def test_a_port_that_somebody_took_meanwhile_is_given_up(keep: Keep) -> None:
    first = keep()
    write_row(first, "kept")
    first.stop()
    taken = urlsplit(first.said["database_url"]).port

    with socket.create_server(("127.0.0.1", taken or 0)):
        second = keep()

        assert urlsplit(second.said["database_url"]).port != taken
        assert rows(second) == (["kept"], ["kept"])


def test_killing_the_launcher_leaves_no_process_and_loses_no_row(keep: Keep) -> None:
    first = keep()
    write_row(first, "before the kill")
    everyone = first.everyone()

    first.process.kill()
    first.process.wait()

    assert wait_until(lambda: all_gone(everyone)), "orphans"
    assert rows(keep()) == (["before the kill"], ["before the kill"])


def test_killing_launcher_and_guardian_together_leaves_no_process_either(keep: Keep) -> None:
    first = keep()
    everyone = first.everyone()

    os.kill(first.said["guardian"], signal.SIGKILL)
    first.process.kill()
    first.process.wait()

    assert wait_until(lambda: all_gone(everyone)), "orphans"


def test_a_killed_guardian_is_replaced(keep: Keep) -> None:
    keeper = keep()

    os.kill(keeper.said["guardian"], signal.SIGKILL)
    again = keeper.hear()["guardian"]
    everyone = keeper.everyone()
    keeper.process.kill()
    keeper.process.wait()

    assert again != keeper.said["guardian"]
    assert wait_until(lambda: all_gone(everyone)), "orphans"


def test_killing_everything_at_once_loses_no_row(keep: Keep) -> None:
    first = keep()
    write_row(first, "before the crash")
    everyone = first.everyone()

    kill_all(everyone)
    first.process.wait()
    second = keep()

    assert rows(second) == (["before the crash"], ["before the crash"])
    write_row(second, "the second life")
    assert rows(second)[0] == ["before the crash", "the second life"]


def test_a_start_while_the_killed_launchers_postgres_still_runs_waits_for_its_end(keep: Keep, folder: Path) -> None:
    # given: a launcher whose two nets were both cut, so that PostgreSQL and Valkey live on
    first = keep()
    write_row(first, "kept")
    for pid in [*first.said["children"]]:
        os.kill(pid, signal.SIGSTOP)
    os.kill(first.said["guardian"], signal.SIGKILL)
    first.process.kill()
    first.process.wait()
    assert processes_inside(folder / "valkey")

    # when
    second = keep()

    # then
    assert rows(second) == (["kept"], ["kept"])
    assert all_gone(first.said["children"])


@pytest.mark.parametrize("owner", ["another program", "a zombie"])
def test_a_stale_postmaster_pid_does_not_stop_the_start(keep: Keep, folder: Path, owner: str) -> None:
    # given: a killed PostgreSQL whose pid now belongs to somebody else
    first = keep()
    write_row(first, "kept")
    pid_file = (folder / "postgres/data/postmaster.pid").resolve()
    content = pid_file.read_text().splitlines()
    kill_all(first.everyone())
    first.process.wait()
    command = ["sleep", "60"] if owner == "another program" else ["true"]
    with subprocess.Popen(command) as other:
        if owner == "a zombie":
            assert wait_until(lambda: ") Z " in Path(f"/proc/{other.pid}/stat").read_text())
        pid_file.write_text("\n".join([str(other.pid), *content[1:]]) + "\n")

        # when
        second = keep()

        # then
        assert rows(second)[0] == ["kept"]
        other.kill()


def test_a_second_launcher_is_refused_while_the_first_lives(keep: Keep, folder: Path) -> None:
    keeper = keep()

    second = subprocess.run(
        [sys.executable, str(KEEPER), str(folder)], capture_output=True, text=True, timeout=20, check=False
    )

    assert second.returncode == 1
    assert "in use" in second.stderr
    assert not all_gone(keeper.said["children"])


def test_an_interrupted_set_up_is_done_again(keep: Keep, folder: Path) -> None:
    # given: initdb was killed half-way
    keep().stop()
    data = (folder / "postgres/data").resolve()
    data.rename(data.with_name("new"))
    (data.with_name("new") / "PG_VERSION").unlink()

    # when
    keeper = keep()

    # then
    write_row(keeper, "works")
    assert rows(keeper)[0] == ["works"]


def test_lost_secrets_are_explained_in_one_sentence(keep: Keep, folder: Path) -> None:
    keep().stop()
    write_json(folder / "secrets.json", {})

    result = subprocess.run(
        [sys.executable, str(KEEPER), str(folder)], capture_output=True, text=True, timeout=60, check=False
    )

    assert result.returncode != 0
    assert "PostgreSQL does not take the password" in result.stderr
    assert "./run reset" in result.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs PostgreSQL as another user")
def test_root_with_a_private_data_folder_keeps_postgres_where_its_user_can_be(keep: Keep, folder: Path) -> None:
    folder.parent.chmod(0o700)

    first = keep()
    write_row(first, "kept")
    first.stop()

    assert (folder / "postgres").is_symlink()
    assert rows(keep()) == (["kept"], ["kept"])
