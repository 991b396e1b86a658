"""A drill brings a whole shop back beside the running one, proves it, and leaves nothing behind."""

from pathlib import Path

from launcher.backing_up import make_backup
from launcher.backups import backups_in
from launcher.drilling import drill
from launcher.encrypting import OF_DATA_FOLDER
from launcher.postgresql import PostgreSQL
from launcher.processes import ProcessGroup
from launcher.project import Project
from testing.released_shop import GIVEN


def test_a_drill_proves_what_a_backup_brings_back(released: Path, tmp_path: Path, group: ProcessGroup) -> None:
    # given: a backup of a shop that goes on
    for name in OF_DATA_FOLDER:
        (released / name).touch()  # AUDIT_KEY is in the environment
    project = Project(released, GIVEN)
    server = PostgreSQL(released, group)
    server.start()
    server.wait_ready()
    make_backup(project, server, tmp_path)
    (backup,) = backups_in(tmp_path)

    result = drill(project, group, backup)

    assert result["backup"] == backup.folder.name
    assert (result["orders"], result["entries"]) == (backup.manifest["orders"], backup.manifest["entries"])
    assert result["orders"] > 50
    assert not (released / "drill").exists()
    assert server.size() > 0  # the shop's own database was left alone
    server.stop()
