"""A drill restores a whole shop, proves it, and leaves nothing: here from a bucket, with only its key."""

from launcher.archiving import LogCopies
from launcher.backing_up import make_backup
from launcher.backups import backups_in
from launcher.bucket import Bucket
from launcher.bucket_checks import DRILLED
from launcher.bucket_copies import Copier
from launcher.data_folder import read_json
from launcher.postgresql import PostgreSQL
from launcher.project import Project
from launcher.restoring import without_log
from testing.released_shop import GIVEN
from tests.launcher.conftest import wait_until
from tests.launcher.helpers import run


def test_a_drill_from_the_bucket_proves_what_it_brings_back(released, empty, bucket, tmp_path, group):
    # given: the backup of a shop that goes on, in a bucket with the log that follows; its AUDIT_KEY is a setting
    target = tmp_path / "backups"
    target.mkdir()
    project = Project(released, {**GIVEN, **bucket, "BACKUP_TO": str(target)})
    server = PostgreSQL(released, group)
    server.start()
    server.wait_ready()
    copies = LogCopies(project, server, target).begin()
    make_backup(project, server, target)
    (backup,) = backups_in(target)
    assert wait_until(lambda: not without_log(backup), seconds=60)
    copier = Copier(project, Bucket(project, bucket["BACKUP_BUCKET"]), target)
    copier.copy_backups()
    copier.copy_files()

    # when: a person with the key drills it on another machine
    words = ["--from", bucket["BACKUP_BUCKET"], "--key", bucket["KEY"]]
    drilled = run("drill", *words, data=empty, **GIVEN, **bucket)
    assert drilled.returncode == 0, drilled.stderr

    # then: it was whole, nothing of it stays there, and the shop gets the result
    copier.compare()
    result = read_json(released / DRILLED)
    assert (result["backup"], result["fault"]) == (backup.folder.name, "")
    assert (result["orders"], result["entries"]) == (backup.manifest["orders"], backup.manifest["entries"])
    assert result["orders"] > 50
    assert {path.name for path in empty.iterdir()} <= {DRILLED, "logs"}
    assert server.size() > 0  # the shop's own database was not changed
    server.stop()
    group.stop([copies], grace=2)


def test_a_drill_without_a_place_or_a_key_is_no_failed_one(empty):
    for words, said in (([], "set BACKUP_TO"), (["--from", "s3://shop/backups"], "name the private key")):
        result = run("drill", *words, data=empty)

        assert result.returncode == 2
        assert said in result.stderr
        assert list(empty.iterdir()) == []
