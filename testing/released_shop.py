"""The shop of a released version: a demo after its month, as plain SQL, with which a test of upgrades begins.

`.venv/bin/poe released-shop`, at a release and before `released-migrations`, writes the files of the version that lies
here. They have what the embedded PostgreSQL and the sandbox's database hold, and no owner, address or path of the
machine. `AUDIT_KEY` has signed the checkpoints in them: a test that restores them sets the same key.
"""

import gzip
import os
import subprocess
import tempfile
from pathlib import Path

import launcher
from launcher.database_roles import APP, OWNER, SANDBOX
from launcher.postgresql import PostgreSQL, bundled
from launcher.processes import ProcessGroup
from launcher.project import Project
from launcher.stack import APP_DATABASE, SANDBOX_DATABASE, Stack

RELEASED = launcher.ROOT / "tests/launcher/released"
AUDIT_KEY = "b25seSBmb3IgdGhlIHRlc3RzIG9mIHVwZ3JhZGVzISE="  # "only for the tests of upgrades!!"
GIVEN = {"AUDIT_KEY": AUDIT_KEY, "SANDBOX_CUT_OFF": "0"}
SEAL = "from audit.tasks import seal_rows; seal_rows()"
OWNERS = {APP_DATABASE: OWNER, SANDBOX_DATABASE: SANDBOX}


def main() -> None:
    """Let a demo live through its month in a throw-away folder, and keep its databases."""
    group = ProcessGroup()
    folder = Path(tempfile.mkdtemp(prefix="released-shop-"))
    folder.chmod(0o711)  # as root, PostgreSQL runs as another user
    group.discard_at_end(folder)
    project = Project(folder, {**os.environ, **GIVEN})
    project.make_ready()
    stack = Stack(project, group)
    try:
        stack.start_stores(web_port=8000)
        stack.finish_preparing(stack.manage("prepare_app"))
        stack.prepare_sandbox()
        stack.await_sandbox(stack.start_sandbox())
        stack.finish(stack.open_demo(), "The demo's shop has not its whole month.")
        stack.finish(stack.manage("shell", "-c", SEAL), "The audit is not sealed.")
        assert stack.stores.postgres
        for database in OWNERS:
            file = dump_of(launcher.version(), database)
            keep(stack.stores.postgres, database, file)
            print(f"{file.relative_to(launcher.ROOT)}: {file.stat().st_size // 1024} KiB")
    finally:
        group.close()


def dump_of(version: str, database: str) -> Path:
    """The file of a released version's database."""
    return RELEASED / f"{version}-{database}.sql.gz"


def keep(server: PostgreSQL, database: str, file: Path) -> None:
    """Write a database as plain SQL, without caches and sessions."""
    words = ["--no-owner", "--no-privileges", "--restrict-key=released"]
    words += ["--exclude-table-data=django_session", "--exclude-table-data=django_cache"]
    text = program("pg_dump", server.url(database), *words)
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(gzip.compress(text, mtime=0))


def restore(server: PostgreSQL, version: str) -> None:
    """Make the databases of a released version on a new, running server; each belongs to its owner."""
    server.wait_ready(*OWNERS)
    for database in OWNERS:
        text = gzip.decompress(dump_of(version, database).read_bytes())
        program("psql", server.url(database), "--quiet", "--single-transaction", "-v", "ON_ERROR_STOP=1", text=text)
    server.set_up_roles(OWNERS, guests={APP_DATABASE: (APP,)})


def program(name: str, url: str, *words: str, text: bytes = b"") -> bytes:
    """The output of one of PostgreSQL's programs for this database."""
    command = [str(bundled() / "bin" / name), *words, "--dbname", url]
    return subprocess.run(command, input=text, stdout=subprocess.PIPE, check=True).stdout


if __name__ == "__main__":
    main()
