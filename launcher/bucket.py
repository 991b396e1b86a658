"""A bucket that speaks S3, as the second place of the backups. All in it is encrypted (age) for BACKUP_RECIPIENT.

PREFIX/20261126-190000Z.tar.gz.age            a backup: its whole folder
PREFIX/20261126-190000Z.json                  its manifest, with its first segment of the log; written last
PREFIX/wal/20261126-185901Z/0000….gz.age      the log since then by segment; the last one is replaced as it grows
PREFIX/sent/20261126-4f1d2c3b.jsonl.gz.age    the journal of that day's sent orders
PREFIX/drilled/last.json                      the result of the last `./run drill` from this bucket
"""

import contextlib
import datetime as dt
import gzip
import json
import os
import shutil
import tarfile
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple
from urllib.parse import urlsplit

import pyrage

from launcher.encrypting import public_key
from launcher.installing import installed
from launcher.output import LaunchError
from launcher.project import LEAST_FREE_BYTES, Project, is_web_address

SCHEME = "s3://"
SEALED = ".gz.age"
BACKUP = ".tar.gz.age"
NAMES = ("BACKUP_BUCKET_KEY_ID", "BACKUP_BUCKET_SECRET")
_PART_BYTES = 8 * 1024 * 1024
_RETRY = {"max_retries": 3, "retry_timeout": dt.timedelta(seconds=60)}


class BucketError(LaunchError):
    """The bucket refused, or does not answer."""


class Stored(NamedTuple):
    """An object as the bucket describes it: its bytes, and its ETag, which changes with its content."""

    size: int
    etag: str | None


class Bucket:
    """The objects below one prefix. Every refusal of the bucket is a `BucketError`."""

    def __init__(self, project: Project, address: str) -> None:
        """`address`: s3://BUCKET/PREFIX. LaunchError when a setting is missing or wrong."""
        given, parts = project.given, urlsplit(address)
        if not (address.startswith(SCHEME) and parts.netloc):
            raise LaunchError(f"{address} is not the address of a bucket: write s3://BUCKET/FOLDER.")
        if missing := [name for name in NAMES if name not in given]:
            raise LaunchError(f"The bucket {address} needs {' and '.join(missing)}: set them in .env.")
        endpoint = given.get("BACKUP_BUCKET_ENDPOINT")
        if endpoint and not is_usable(endpoint):
            raise LaunchError("BACKUP_BUCKET_ENDPOINT must be https://HOST (http:// only to this machine): correct it.")
        installed("obstore")  # 16 MB, which the image leaves out (deploy/slim_image.py)
        import obstore  # noqa: PLC0415
        from obstore.exceptions import BaseError  # noqa: PLC0415
        from obstore.store import S3Store  # noqa: PLC0415

        self.address = address
        self._objects, self._refusals = obstore, (BaseError, FileNotFoundError, PermissionError)
        self._store = S3Store(
            parts.netloc,
            prefix=parts.path.strip("/") or None,
            region=given.get("BACKUP_BUCKET_REGION", "us-east-1"),
            access_key_id=given[NAMES[0]],
            secret_access_key=given[NAMES[1]],
            client_options={
                "allow_http": is_loopback(endpoint),
                "timeout": "10 minutes",
                "connect_timeout": "5 seconds",
            },
            retry_config=_RETRY,  # type: ignore[arg-type]
            endpoint=endpoint,  # None: Amazon's
        )

    def objects(self, folder: str = "") -> dict[str, Stored]:
        """The objects in a folder, or all, by their names."""
        with self._answers():
            rows = [row for rows in self._objects.list(self._store, folder or None) for row in rows]
        return {row["path"]: Stored(row["size"], row["e_tag"]) for row in rows}

    def sizes(self, folder: str = "") -> dict[str, int]:
        """The names of the objects in a folder, or of all, with their bytes."""
        return {name: stored.size for name, stored in self.objects(folder).items()}

    def put(self, name: str, content: bytes | Path) -> Stored:
        """Store an object, in place of an old one."""
        size = len(content) if isinstance(content, bytes) else content.stat().st_size
        with self._answers():
            return Stored(size, self._objects.put(self._store, name, content)["e_tag"])

    def get(self, name: str) -> bytes:
        """The content of a small object."""
        with self._answers():
            return bytes(self._objects.get(self._store, name).bytes())

    def fetch(self, name: str, target: Path) -> None:
        """Bring an object into a file."""
        with self._answers(), target.open("wb") as file:
            for part in self._objects.get(self._store, name).stream(min_chunk_size=_PART_BYTES):
                file.write(part)

    def delete(self, names: Sequence[str]) -> None:
        """Delete these objects."""
        if names:
            with self._answers():
                self._objects.delete(self._store, list(names))

    @contextlib.contextmanager
    def _answers(self) -> Iterator[None]:
        try:
            yield
        except self._refusals as error:
            first = str(error).partition("\n")[0]
            raise BucketError(f"The bucket {self.address} refuses, or does not answer: {first}") from error


def is_usable(endpoint: str) -> bool:
    """Whether this is the address of a service; the library that calls it would end the process by another one."""
    return is_web_address(endpoint) and (urlsplit(endpoint).scheme == "https" or is_loopback(endpoint))


def is_loopback(endpoint: str | None) -> bool:
    """Whether the bucket is on this machine; only then plain http is allowed."""
    return urlsplit(endpoint or "").hostname in {"127.0.0.1", "localhost", "::1"}


def manifests_in(bucket: Bucket) -> dict[str, dict[str, Any]]:
    """The manifest of each complete backup by its name, the oldest first."""
    names = sorted(name for name in bucket.sizes() if "/" not in name and name.endswith(".json"))
    return {name.removesuffix(".json"): json.loads(bucket.get(name)) for name in names}


def seal_file(source: Path, recipient: str) -> bytes:
    """A small file, compressed and encrypted."""
    return bytes(pyrage.encrypt(gzip.compress(source.read_bytes(), 1), [public_key(recipient)]))


def open_file(sealed: bytes, identity: Any) -> bytes:
    """The content of a sealed file."""
    return gzip.decompress(pyrage.decrypt(sealed, [identity]))


def seal_folder(source: Path, recipient: str, target: Path) -> None:
    """Write a whole folder as one compressed and encrypted file, in bounded memory.

    LaunchError before it fills the disk of `target`, on which the shop works.
    """

    def with_room(member: tarfile.TarInfo) -> tarfile.TarInfo:
        require_room(target.parent, member.size)
        return member

    def pack(out: IO[bytes]) -> None:
        with out, gzip.open(out, "wb", compresslevel=1) as packed, tarfile.open(fileobj=packed, mode="w|") as tar:
            tar.add(source, arcname=source.name, filter=with_room)

    key = public_key(recipient)
    with target.open("wb") as file, _piped(pack) as packed:
        pyrage.encrypt_io(packed, file, [key])


def require_room(folder: Path, needed: int) -> None:
    """LaunchError unless so many bytes leave the shop on this disk enough room."""
    free = shutil.disk_usage(folder).free
    if free - needed < LEAST_FREE_BYTES:
        raise LaunchError(
            f"{needed // 1_000_000} MB do not fit into {folder}, where {free // 1_000_000} MB are free and the shop "
            f"needs {LEAST_FREE_BYTES // 1_000_000} MB: make room."
        )


def open_folder(sealed: Path, identity: Any, target: Path) -> None:
    """Unpack a sealed folder into `target`."""

    def decrypt(out: IO[bytes]) -> None:
        with out, sealed.open("rb") as file:
            pyrage.decrypt_io(file, out, [identity])

    with _piped(decrypt) as opened, gzip.open(opened, "rb") as packed:
        with tarfile.open(fileobj=packed, mode="r|") as tar:
            for member in tar:
                unpack(tar, member, target)
        while packed.read(_PART_BYTES):
            pass  # read to the end, where the checksum is


def unpack(tar: tarfile.TarFile, member: tarfile.TarInfo, target: Path) -> None:
    """Unpack one file or folder for us alone, inside `target`: anybody who may write to the bucket may have made it.

    By hand, because Python has filters for this from 3.11.4 on, and Debian 12 has 3.11.2.
    """
    path = Path(member.name)
    if path.is_absolute() or ".." in path.parts or not (member.isfile() or member.isdir()):
        raise LaunchError(f"{member.name} does not belong into a backup: somebody has changed what is in the bucket.")
    member.mode = 0o700 if member.isdir() else 0o600
    member.uid, member.gid, member.uname, member.gname = os.geteuid(), os.getegid(), "", ""
    tar.extract(member, target)


@contextlib.contextmanager
def _piped(write: Callable[[IO[bytes]], None]) -> Iterator[IO[bytes]]:
    """A file to read the bytes that `write` writes in a thread of its own; a fault there is raised here."""
    faults: list[BaseException] = []
    reader, writer = os.pipe()

    def run() -> None:
        try:
            write(os.fdopen(writer, "wb"))
        except BaseException as error:
            faults.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        with os.fdopen(reader, "rb") as out:
            yield out
    except BaseException as error:
        thread.join()
        # the side that ends first breaks the pipe of the other: raise the first fault
        real = next((fault for fault in faults if not isinstance(fault, BrokenPipeError)), error)
        raise real from error
    thread.join()
    if faults:
        raise faults[0]
