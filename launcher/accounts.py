"""Users of this machine."""

import pwd
from pathlib import Path

from launcher import ROOT
from launcher.output import LaunchError


def account(name: str | None) -> str:
    """The user that the services run as; LaunchError when it is unknown, or root."""
    user = name or owner(ROOT)
    try:
        entry = pwd.getpwnam(user)
    except KeyError as error:
        raise LaunchError(f"There is no user {user!r}: make it first, or name another with --user.") from error
    if entry.pw_uid == 0:
        raise LaunchError(
            "The services need no root: name an ordinary user with --user (and let this folder be its own)."
        )
    return user


def owner(path: Path) -> str:
    """The name of a file's owner, or "user" and the number if the owner has no name."""
    number = path.stat().st_uid
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"user {number}"


def check_has_name(number: int) -> None:
    """LaunchError when this user has no name here: initdb looks the name up and fails without one."""
    try:
        pwd.getpwuid(number)
    except KeyError as error:
        raise LaunchError(
            f"You run as user {number}, who has no name on this machine, and PostgreSQL makes its files only for a user"
            f" with a name. Add one (as root: `useradd --uid {number} shop`), or run as another user."
        ) from error
