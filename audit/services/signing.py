"""The signature below a checkpoint: Ed25519, in the format of signed notes (C2SP), which other tools read, too."""

from __future__ import annotations

import base64
import hashlib
import os
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from django.conf import settings

ORIGIN = "merchant-backoffice/audit"
_ED25519 = b"\1"


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
    """Size and root that a checkpoint's note says."""
    _origin, size, root, *_ = note.splitlines()
    return int(size), base64.b64decode(root)


def _key_hash(key: bytes) -> bytes:
    return hashlib.sha256(f"{ORIGIN}\n".encode() + _ED25519 + key).digest()[:4]


def _kept_seed(path: Path) -> bytes:
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(base64.b64encode(os.urandom(32)))
    except FileExistsError:
        pass
    return base64.b64decode(path.read_bytes())
