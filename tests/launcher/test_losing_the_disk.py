"""A shop of 2,000 orders loses its disk while it sells; restore and journal bring back each acknowledged order."""

import datetime as dt
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import psycopg
import pytest

from launcher import PYTHON, ROOT
from launcher.archiving import LogCopies
from launcher.backing_up import make_backup
from launcher.backups import backups_in
from launcher.data_folder import read_json, write_json
from launcher.drilling import RESULT, is_due
from launcher.encrypting import OF_DATA_FOLDER
from launcher.output import LaunchError
from launcher.postgresql import PostgreSQL, copy_segment
from launcher.processes import ProcessGroup
from launcher.project import Project
from launcher.restoring import bring_journal, finish, recover
from launcher.sent_copies import copy_lines
from launcher.stack import APP_DATABASE, Stack
from testing.sandbox_process import SandboxProcess
from tests.launcher.conftest import new_folder, wait_until
from tests.launcher.helpers import run
from tests.launcher.seller import ORDERS

SELLER = Path(__file__).with_name("seller.py")
SOLD = 100  # at least: the seller goes on while a backup is made
MOST_SECONDS = 300  # so that a fault ends the test


@pytest.fixture
def target(tmp_path: Path) -> Path:
    (tmp_path / "backups").mkdir()
    return tmp_path / "backups"


def project_in(data: Path) -> Project:
    """A demo's project in that folder, without settings of this machine."""
    return Project(data, {})


def begin_to_sell(stack: Stack, sandbox: SandboxProcess, log: Path) -> subprocess.Popen[bytes]:
    """Start the seller's process, which writes the acknowledged orders into `log`."""
    rates = dict.fromkeys(("UPSTREAM_ACCOUNT_RATE", "UPSTREAM_IP_RATE", "UPSTREAM_PRODUCTS_RATE"), "100000/minute")
    account = {
        "UPSTREAM_BASE_URL": sandbox.url,
        "UPSTREAM_SECRET_ID": sandbox.secret_id,
        "UPSTREAM_SECRET_KEY": sandbox.secret_key,
    }
    sandbox.control("reset")
    with log.open("w") as output:
        assert stack.stores.postgres
        as_superuser = {"DATABASE_URL": stack.stores.postgres.url(APP_DATABASE)}  # the fill goes past the triggers
        environment = {**stack.owners_environment, **rates, **account, **as_superuser}
        return subprocess.Popen([PYTHON, SELLER], cwd=ROOT, env=environment, stdout=output)


def sold(log: Path) -> list[str]:
    """The orders that were acknowledged."""
    return [line for line in log.read_text().splitlines() if line.startswith("B")]


def await_sold(count: int, seller: subprocess.Popen[bytes], log: Path) -> None:
    """Return once so many orders were acknowledged."""
    assert wait_until(lambda: seller.poll() is not None or len(sold(log)) >= count, seconds=MOST_SECONDS)
    assert seller.poll() is None


def interrupted_backup(project: Project, server: PostgreSQL, target: Path) -> None:
    """A backup whose copying program is killed with `kill -9` while it copies."""
    with ThreadPoolExecutor() as pool:
        made = pool.submit(make_backup, project, server, target)
        assert wait_until(lambda: bool(copying(target)) or made.done(), seconds=MOST_SECONDS)
        for program in copying(target):
            program.kill()
        with pytest.raises(LaunchError):
            made.result()
    assert backups_in(target) == []
    assert [*target.glob(".*.new")]


def copying(target: Path) -> list[psutil.Process]:
    """The programs that copy PostgreSQL's files to that folder."""
    programs = psutil.process_iter(["name", "cmdline"])
    return [
        program
        for program in programs
        if program.info["name"] == "pg_basebackup"
        and any(str(target) in word for word in program.info["cmdline"] or ())
    ]


def await_copies(server: PostgreSQL) -> None:
    """Return once the last commit has reached the copy of the log."""
    with psycopg.connect(server.url(APP_DATABASE)) as rows:
        flushed = "SELECT flush_lsn >= pg_current_wal_lsn() FROM pg_stat_replication"
        assert wait_until(lambda: rows.execute(flushed).fetchone() == (True,))


def restore(target: Path, data: Path, group: ProcessGroup, moment: dt.datetime) -> tuple[set[str], dict[str, int]]:
    """Do as `./run restore --to` does; returns the ref_ids of the sold orders, and the list with their orders."""
    restored = project_in(data)
    restored.make_ready()
    known, _fault = recover(restored, group, backups_in(target)[0], moment, print)
    bring_journal(target, restored)
    assert finish(restored, group, known) >= ORDERS
    server = PostgreSQL(data, group)
    server.start()
    server.wait_ready()
    with psycopg.connect(server.url(APP_DATABASE)) as rows:
        orders = {ref for (ref,) in rows.execute("SELECT ref_id FROM purchases_order WHERE ref_id LIKE 'B%'")}
        listed = dict(rows.execute("SELECT ref_id, order_id FROM purchases_lostorder").fetchall())
    server.stop()
    return orders, listed


@pytest.mark.long
def test_every_acknowledged_order_is_there_or_on_the_list(
    empty: Path, target: Path, tmp_path: Path, group: ProcessGroup, sandbox_process: SandboxProcess
):
    # given: a selling shop of 1,900 orders, whose log is copied
    project, log = project_in(empty), tmp_path / "sold"
    project.make_ready()
    stack = Stack(project, group)
    stack.start_stores(web_port=8080)
    stack.finish_preparing(stack.manage("prepare_app"))
    server = stack.stores.postgres
    assert server
    copies = LogCopies(project, server, target).begin()
    seller = begin_to_sell(stack, sandbox_process, log)
    await_sold(SOLD // 4, seller, log)

    # when: a backup is killed, the next one is made, and the disk is lost, all while it sells
    interrupted_backup(project, server, target)
    make_backup(project, server, target)
    await_sold(SOLD - 10, seller, log)
    moment, before = dt.datetime.now(dt.UTC), len(sold(log))  # "a second before the end"
    await_sold(before + 10, seller, log)
    seller.kill()
    seller.wait()
    copy_lines(empty / "sent", target)
    await_copies(server)
    assert server.child
    server.child.process.kill()
    group.stop([server.child, copies], grace=0)
    stack.stores.stop(grace=0)
    keys = {name: (empty / name).read_bytes() for name in OF_DATA_FOLDER}
    shutil.rmtree((empty / "postgres").resolve())
    shutil.rmtree(empty)

    # then: each acknowledged sale is an order again, some by the list
    with new_folder() as data:
        for name, content in keys.items():
            (data / name).write_bytes(content)
        orders, listed = restore(target, data, group, moment)
    assert set(sold(log)) <= orders
    assert set(listed) <= orders
    assert len(listed) >= 5
    assert None not in listed.values()


def test_a_drill_is_due_with_the_first_backup_and_then_once_a_month(tmp_path):
    now, result = dt.datetime(2026, 11, 26, tzinfo=dt.UTC), tmp_path / RESULT
    assert not is_due(result, tmp_path, now)
    backup = tmp_path / "20261125-000000Z"
    backup.mkdir()
    write_json(backup / "manifest.json", {"ended_at": "2026-11-25T00:00:09+00:00"})
    assert is_due(result, tmp_path, now)

    write_json(result, {"at": now.isoformat(), "fault": ""})
    assert not is_due(result, tmp_path, now + dt.timedelta(days=29))
    assert is_due(result, tmp_path, now + dt.timedelta(days=30))

    write_json(result, {"at": now.isoformat(), "fault": "the disk is away"})
    assert is_due(result, tmp_path, now + dt.timedelta(days=1))


def test_a_drill_that_fails_keeps_its_reason(folder: Path, target: Path):
    without = run("drill", data=folder)
    assert without.returncode == 2
    assert "set BACKUP_TO" in without.stderr

    result = run("drill", "--from", str(target), data=folder)

    assert result.returncode == 1
    assert "There is no finished backup" in result.stderr
    assert "There is no finished backup" in read_json(folder / RESULT)["fault"]
    assert not (folder / "drill").exists()


def test_a_segment_that_becomes_whole_while_a_drill_copies_it_is_copied(tmp_path):
    copies, log = tmp_path / "wal", tmp_path / "log"
    copies.mkdir()
    log.mkdir()
    (copies / "000000010000000000000007").write_text("whole")

    copy_segment(copies / "000000010000000000000007.partial", log)

    assert (log / "000000010000000000000007").read_text() == "whole"
