"""The shop's secrets as one encrypted file (age): anybody may keep the file, and only the private key opens it."""

import io
import tarfile
from pathlib import Path

import pyrage

from launcher import ROOT
from launcher.data_folder import new_file
from launcher.output import LaunchError

OF_DATA_FOLDER = ("secrets.json", "audit.key")
SETTINGS = ".env"


def make_key(path: Path) -> str:
    """Write a new private key into a new file that only its owner may read; returns the public key."""
    if path.exists():
        raise LaunchError(f"{path} exists already: name a new file.")
    identity = pyrage.x25519.Identity.generate()
    try:
        with new_file(path) as file:
            file.write(f"# public key: {identity.to_public()}\n{identity}\n")
    except OSError as error:
        raise LaunchError(f"Cannot write {path}: {error.strerror}.") from error
    return str(identity.to_public())


def public_key(recipient: str) -> pyrage.x25519.Recipient:
    """The public key in BACKUP_RECIPIENT; LaunchError when that is not a public key."""
    try:
        return pyrage.x25519.Recipient.from_str(recipient)
    except pyrage.RecipientError as error:
        raise LaunchError("BACKUP_RECIPIENT is not a public key: `./run backup --new-key FILE` makes one.") from error


def private_key(key_file: Path) -> pyrage.x25519.Identity:
    """The private key in this file; LaunchError when the file cannot be read or holds none."""
    try:
        lines = key_file.read_text().split()
        return pyrage.x25519.Identity.from_str(next(line for line in lines if line.startswith("AGE-SECRET-KEY-")))
    except OSError as error:
        raise LaunchError(f"Cannot read the key {key_file}: {error.strerror}.") from error
    except (StopIteration, pyrage.IdentityError) as error:
        raise LaunchError(
            f"{key_file} holds no private key: name the file that `./run backup --new-key` made."
        ) from error


def seal_secrets(data: Path, recipient: str) -> bytes:
    """The secrets of a data folder and `.env`, encrypted for this public key."""
    key = public_key(recipient)
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        for path in [*(data / name for name in OF_DATA_FOLDER), ROOT / SETTINGS]:
            if path.exists():
                tar.add(path, arcname=path.name)
    return bytes(pyrage.encrypt(archive.getvalue(), [key]))


def open_secrets(sealed: bytes, key_file: Path) -> dict[str, bytes]:
    """The sealed files by their names; LaunchError when this key does not open them."""
    try:
        archive = pyrage.decrypt(sealed, [private_key(key_file)])
    except pyrage.DecryptError as error:
        raise LaunchError(
            f"The key in {key_file} does not open this backup's secrets: name the right one. If it is the right one, "
            "secrets.age is damaged: use an older backup."
        ) from error
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        files = {member.name: tar.extractfile(member) for member in tar.getmembers()}
        return {name: file.read() for name, file in files.items() if file}
