"""What a restore needs of a bucket, brought into a folder as BACKUP_TO has it."""

import argparse
import contextlib
import datetime as dt
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyrage

from launcher.backups import number_of
from launcher.bucket import BACKUP, SEALED, Bucket, manifests_in, open_file, open_folder
from launcher.encrypting import private_key
from launcher.output import LaunchError, Say
from launcher.project import Project
from launcher.shop_time import in_words

FOLDER = "fetched"
NO_KEY = "All in a bucket is encrypted: name the private key that opens it, --key FILE."
WRONG_KEY = "The key in {} does not open what is in this bucket: name the right one."


@contextlib.contextmanager
def fetched(project: Project, options: argparse.Namespace, say: Say) -> Iterator[Path]:
    """A folder with the newest backup of the bucket from before `--to`, the log and the journal; it goes in the end.

    LaunchError without such a backup, without its key, or when the bucket does not answer.
    """
    if options.key is None:
        raise LaunchError(NO_KEY)
    identity, bucket = private_key(options.key), Bucket(project, options.source)
    folder = project.data / FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700, parents=True)
    try:
        fetch(bucket, identity, folder, options.to, say)
        yield folder
    except pyrage.DecryptError as error:
        raise LaunchError(WRONG_KEY.format(options.key)) from error
    except OSError as error:
        raise LaunchError(f"Cannot write {folder}: {error.strerror or error}.") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def fetch(bucket: Bucket, identity: Any, folder: Path, to: dt.datetime | None, say: Say) -> None:
    """Bring the backup and what follows it."""
    manifests = manifests_in(bucket)
    ended = {name: dt.datetime.fromisoformat(manifest["ended_at"]) for name, manifest in manifests.items()}
    names = [name for name in manifests if to is None or ended[name] <= to]
    if not names:
        before = f" from before {in_words(to)}" if to else ""
        earliest = f": the earliest time for --to is {in_words(min(ended.values()))}" if ended else ""
        raise LaunchError(f"There is no finished backup in {bucket.address}{before}{earliest}.")
    name, sizes = names[-1], bucket.sizes()
    wanted = [each for each in sizes if each.startswith("sent/") or is_needed(each, manifests[name]["first_segment"])]
    size = sizes[f"{name}{BACKUP}"] + sum(sizes[each] for each in wanted)
    say(f"The backup {name} and what follows are brought from the bucket: {size / 1_000_000:.0f} MB")
    sealed = folder / f"{name}{BACKUP}"
    bucket.fetch(sealed.name, sealed)
    open_folder(sealed, identity, folder)
    sealed.unlink()
    for each in wanted:
        path = folder / each.removesuffix(SEALED)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_bytes(open_file(bucket.get(each), identity))


def is_needed(name: str, first_segment: int) -> bool:
    """Whether it is a segment of the log from this one on, or the history of a timeline."""
    path = Path(name.removesuffix(SEALED))
    return name.startswith("wal/") and (path.suffix == ".history" or number_of(path) >= first_segment)
