"""`./run service install`: systemd units that keep `./run up` running, with only the rights that it needs."""

import argparse
import os
import pwd
import shutil
import subprocess
import sys
from pathlib import Path

from launcher import PYTHON, ROOT
from launcher.accounts import account
from launcher.output import LaunchError, Say
from launcher.processes import ProcessGroup
from launcher.project import Project, read_project

SYSTEM_UNITS = Path("/etc/systemd/system")
HARDENED = """\
NoNewPrivileges=yes
CapabilityBoundingSet=
AmbientCapabilities=
ProtectSystem=strict
ProtectHome={home}
ReadWritePaths={writable}
PrivateTmp=yes
PrivateDevices=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectProc=invisible
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
UMask=0077"""
UNIT = """\
# Written by `./run service install`; settings are in {root}/.env
[Unit]
Description={description}
Documentation=file://{root}/docs/deployment.md
Wants=network-online.target
After=network-online.target
# It is tried until it can start: the database may come later, or ./run upgrade hold the folder.
StartLimitIntervalSec=0

[Service]
Type=exec
User={user}
WorkingDirectory={root}
ExecStart={command}
Environment=BACKOFFICE_DATA={data}
Restart=always
RestartSec=2
# The launcher stops its processes in order, and finishes the requests in hand.
KillMode=mixed
TimeoutStopSec=20
{weight}{hardened}

[Install]
WantedBy=multi-user.target
"""


def run(_group: ProcessGroup, say: Say, options: argparse.Namespace) -> int:
    """Write the units, verify them with systemd-analyze if there is one, and say how to start them."""
    project = read_project()
    folder = Path(options.to) if options.to else SYSTEM_UNITS
    user = account(options.user)
    if folder == SYSTEM_UNITS:
        require_runnable(user)
    names = {f"backoffice-{role}.service": [role] for role in options.only or []} or {"backoffice.service": []}
    units = {name: unit(project, user, roles) for name, roles in names.items()}
    make_data_folder(project.data, user)
    paths = [write(folder / name, text) for name, text in units.items()]
    verify(paths, say)
    for path in paths:
        print(path)
    if folder == SYSTEM_UNITS:
        say(f"Start them now and at every boot: systemctl daemon-reload && systemctl enable --now {' '.join(units)}")
    else:
        say(f"Nothing was installed: copy them to {SYSTEM_UNITS}, or call this as root without --to.")
    return 0


def require_runnable(user: str, python: Path = PYTHON) -> None:
    """LaunchError unless this user, as whom the unit runs, may run the Python of the packages."""
    if os.geteuid() != 0:
        return  # then writing the unit fails, too, and reports it
    who = pwd.getpwnam(user)
    try:
        subprocess.run([python, "-c", ""], user=who.pw_uid, group=who.pw_gid, extra_groups=[], check=True)
    except PermissionError as error:
        raise LaunchError(
            f"{user} may not run {python.resolve()}, which the packages use: delete {python.parent.parent} and call "
            "./run install with a Python that everybody may run."
        ) from error


def make_data_folder(data: Path, user: str) -> None:
    """Make the unit's data folder for that user; LaunchError when the folder exists and is not theirs."""
    if data.exists() and data.stat().st_uid != pwd.getpwnam(user).pw_uid:
        raise LaunchError(
            f"The data folder {data} is not {user}'s, and the service could not write there: give it to them "
            f"(chown -R {user} {data}), or name its owner with --user."
        )
    try:
        if not data.exists():
            data.mkdir(mode=0o700, parents=True)
            if os.geteuid() == 0:
                shutil.chown(data, user)
    except OSError as error:
        advice = "choose another folder with BACKOFFICE_DATA"
        raise LaunchError(f"Cannot make the data folder {data} ({error.strerror}): {advice}.") from error


def unit(project: Project, user: str, roles: list[str]) -> str:
    """The text of one unit: for all of `./run up`, or for these of its roles."""
    outside = written_outside(project)
    for path in (ROOT, project.data, *outside):
        if any(character.isspace() or character in "%\"'\\" for character in str(path)):
            raise LaunchError(f"systemd cannot name the folder {path}: move it to one without spaces, quotes and %.")
    words = ["up", *(word for role in roles for word in ("--only", role))]
    # the interpreter's folder, too: `.venv` only links to it
    needed = [path.resolve() for path in (ROOT, project.data, *outside, Path(sys.base_prefix))]
    at_home = [path for path in needed for home in ("/home", "/root") if path.is_relative_to(home)]
    # each start compiles the translations in `locale`; "-": the disk of another folder may not be there at a start
    writable = [project.data, ROOT / "locale", *(f"-{path}" for path in outside)]
    return UNIT.format(
        description=f"Merchant backoffice ({', '.join(roles)})" if roles else "Merchant backoffice",
        root=ROOT,
        user=user,
        command=" ".join([str(PYTHON), str(ROOT / "run"), *words]),
        data=project.data,
        # below the default of 100, because people wait at `web`; in a single unit, core.priority sees to that
        weight="CPUWeight=10\n" if roles and "web" not in roles else "",
        hardened=HARDENED.format(
            home="read-only" if at_home else "yes", writable=" ".join(str(path) for path in writable)
        ),
    )


def written_outside(project: Project) -> list[Path]:
    """The folders of the backups and of the audit's checkpoints, where settings name them."""
    backups, checkpoints = (project.given.get(name) for name in ("BACKUP_TO", "AUDIT_CHECKPOINT_FILE"))
    return [*([Path(backups)] if backups else []), *([Path(checkpoints).parent] if checkpoints else [])]


def write(path: Path, text: str) -> Path:
    """Write one unit; LaunchError when that is not allowed."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    except OSError as error:
        advice = "call this as root, or write the units elsewhere with --to FOLDER"
        raise LaunchError(f"Cannot write {path} ({error.strerror}): {advice}.") from error
    return path


def verify(paths: list[Path], say: Say) -> None:
    """LaunchError with systemd's own words when systemd does not accept a unit."""
    program = shutil.which("systemd-analyze")
    if program is None:
        say("There is no systemd-analyze on this machine: the units were not verified.")
        return
    result = subprocess.run(
        [program, "verify", "--man=no", *paths], env=os.environ, capture_output=True, text=True, check=False
    )
    if result.returncode != 0:
        raise LaunchError(f"systemd does not take these units: {result.stderr.strip()}")
