"""Signs checkpoints and brings them out of the database: each into the log and the file, one an hour to a web address.

The signature is Ed25519, in the format of signed notes (C2SP), which other tools can read; the web addresses are
`AUDIT_CHECKPOINT_URLS`.
"""

import base64
import datetime as dt
import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import mkstemp

import structlog
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from django.conf import settings
from django.db import transaction
from django.db.models import Subquery

from audit.models import Checkpoint, Sealing
from audit.services.sources import audited_tables
from audit.services.tree import leaves
from core import clock
from core.disk_lines import flush_names
from core.publish import publish
from core.slow_disk import SlowDisk

log = structlog.get_logger()

_ANNOUNCED_EVERY = dt.timedelta(hours=1)
ORIGIN = "merchant-backoffice/audit"
_ED25519 = b"\1"
# Of AUDIT_CHECKPOINT_FILE, which is elsewhere
_disk = SlowDisk(5.0)


def publish_checkpoints() -> int:
    """Publish the unpublished checkpoints, oldest first; return how many. One process works at a time."""
    latest = Checkpoint.objects.order_by("-size").values("size")[:1]
    if not Sealing.objects.filter(published__lt=Subquery(latest)).exists():
        return 0
    with transaction.atomic():
        state = Sealing.objects.select_for_update(skip_locked=True).first()
        if state is None:
            return 0
        published = []
        for checkpoint in Checkpoint.objects.filter(size__gt=state.published)[:100]:
            if settings.AUDIT_CHECKPOINT_FILE and not _is_written(line_of(checkpoint, state.published)):
                break
            root = checkpoint.note.splitlines()[2]
            log.info("audit_checkpoint", size=checkpoint.size, root=root, signature=checkpoint.note.split()[-1])
            state.published = checkpoint.size
            published.append(checkpoint)
        if published:
            _announce(state, published[-1])
            state.save(update_fields=["published", "announced_at"])
        return len(published)


def unwritten_since() -> dt.datetime | None:
    """The time of the oldest checkpoint that waits for its file; None if none waits, or there is no such file."""
    if not settings.AUDIT_CHECKPOINT_FILE:
        return None
    published = Sealing.objects.values("published")[:1]
    return Checkpoint.objects.filter(size__gt=Subquery(published)).values_list("at", flat=True).first()


def published_lines() -> Iterator[str]:
    """The lines of our own file of checkpoints; none if there is no such file, or its disk does not answer."""
    path = Path(settings.AUDIT_CHECKPOINT_FILE or os.devnull)
    try:
        is_there = _disk.ask(path.exists)
    except TimeoutError:
        log.error("audit_checkpoints_not_read")  # noqa: TRY400
        return
    if is_there:
        with path.open(encoding="utf-8", errors="replace") as file:
            yield from file


def line_of(checkpoint: Checkpoint, before: int) -> str:
    """A line of the file: the signed note, and the beginning of each leaf's hash since the checkpoint before.

    With this line a verification names the changed row, even if somebody computed the whole tree again.
    """
    names = {table.number: table.name for table in audited_tables()}
    rows = [[names.get(key.source, ""), key.row, leaf.hex()[:8]] for _, key, leaf in leaves(before, checkpoint.size)]
    return json.dumps({"note": checkpoint.note, "rows": rows}, separators=(",", ":"), ensure_ascii=False)


def _is_written(line: str) -> bool:
    """Append a line to our file of checkpoints; False when that fails: the next call tries it again.

    A disk that does not answer must not hold a thread of the background, nor its transaction.
    """
    try:
        _disk.ask(partial(_append, Path(settings.AUDIT_CHECKPOINT_FILE), line))
    except OSError as error:
        log.error("audit_checkpoint_not_written", fault=error.strerror or "no answer")  # noqa: TRY400
        return False
    return True


def _append(path: Path, line: str) -> None:
    with path.open("a+b") as file:
        is_torn = False
        if file.tell():
            file.seek(-1, os.SEEK_END)
            is_torn = file.read() != b"\n"  # a line that a crash cut off
        file.write((b"\n" if is_torn else b"") + f"{line}\n".encode())
        file.flush()
        os.fsync(file.fileno())


def _announce(state: Sealing, checkpoint: Checkpoint) -> None:
    now = clock.now()
    is_due = state.announced_at is None or abs(now - state.announced_at) >= _ANNOUNCED_EVERY
    if is_due and settings.AUDIT_CHECKPOINT_URLS and publish("alerts.tasks.send_checkpoint", checkpoint.note):
        state.announced_at = now


def private_key() -> Ed25519PrivateKey:
    """The key of `AUDIT_KEY`; without one, a key that is made once and kept in the data folder."""
    seed = base64.b64decode(settings.AUDIT_KEY) if settings.AUDIT_KEY else _kept_seed(settings.DATA_DIR / "audit.key")
    return Ed25519PrivateKey.from_private_bytes(seed)


def public_key() -> bytes:
    """The key with which others verify, 32 bytes."""
    return private_key().public_key().public_bytes_raw()


def signed_note(text: str) -> str:
    """The text with the signature below."""
    key = private_key()
    signature = _key_hash(key.public_key().public_bytes_raw()) + key.sign(text.encode())
    return f"{text}\n— {ORIGIN} {base64.b64encode(signature).decode()}\n"


def is_signed(note: str, key: bytes) -> bool:
    """Whether the note carries a signature of the holder of this public key."""
    text, _, signatures = note.rpartition("\n\n")
    for line in signatures.splitlines():
        try:
            signature = base64.b64decode(line.rsplit(" ", 1)[-1], validate=True)
            Ed25519PublicKey.from_public_bytes(key).verify(signature[4:], f"{text}\n".encode())
        except (ValueError, InvalidSignature):
            continue
        return signature[:4] == _key_hash(key)
    return False


def read_note(note: str) -> tuple[int, bytes]:
    """The size and root in a checkpoint's note."""
    _origin, size, root, *_ = note.splitlines()
    return int(size), base64.b64decode(root)


def _key_hash(key: bytes) -> bytes:
    return hashlib.sha256(f"{ORIGIN}\n".encode() + _ED25519 + key).digest()[:4]


def _kept_seed(path: Path) -> bytes:
    if not path.exists():
        _keep_new_seed(path)
    return base64.b64decode(path.read_bytes())


def _keep_new_seed(path: Path) -> None:
    """Keep it whole or not at all, also in a power cut; the first of several processes keeps its seed."""
    descriptor, written = mkstemp(dir=path.parent, prefix=f"{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(base64.b64encode(os.urandom(32)))
            file.flush()
            os.fsync(file.fileno())
        _give_name(Path(written), path)
    finally:
        Path(written).unlink(missing_ok=True)
    flush_names(path.parent)


def _give_name(written: Path, path: Path) -> None:
    """Let the file have this name, unless another file has it."""
    with suppress(FileExistsError):
        try:
            path.hardlink_to(written)
        except FileExistsError:
            raise
        except OSError:  # a file system without hard links, such as exFAT
            folder = os.open(path.parent, os.O_RDONLY)
            try:
                fcntl.flock(folder, fcntl.LOCK_EX)  # a rename replaces a file: one process at a time
                if not path.exists():
                    written.rename(path)
            finally:
                os.close(folder)
