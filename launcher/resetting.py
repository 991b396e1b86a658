"""`./run reset`: deletes the data folder."""

import argparse
import contextlib
import os
import shutil
import sys

from launcher.data_folder import DataFolderInUseError, held
from launcher.output import LaunchError, Say
from launcher.processes import ProcessGroup
from launcher.project import read_project, roles_folder


def run(_group: ProcessGroup, _say: Say, options: argparse.Namespace) -> int:
    """Delete the data folder and everything in it, after a question."""
    project = read_project()
    data = project.data
    if "DATABASE_URL" in project.given:
        raise LaunchError(
            "Nothing was deleted: DATABASE_URL names a database outside the data folder, and ./run reset never touches "
            f"that. Empty it with its own tools. To delete the folder {data} alone: DATABASE_URL= ./run reset"
        )
    if not data.is_dir():
        print(f"There is no data folder {data}: nothing to delete.")
        return 0
    if not (data / "secrets.json").exists() and any(data.iterdir()):
        raise LaunchError(f"{data} holds files, but none that ./run made: it is not deleted.")
    if not options.yes:
        if not sys.stdin.isatty():
            raise LaunchError(f"./run reset deletes {data}: confirm it with --yes.", exit_code=2)
        answer = input(f"Delete {data} with every order, login and setting in it? Type yes: ")
        if answer.strip().lower() != "yes":
            print("Nothing was deleted.")
            return 1
    try:
        with contextlib.ExitStack() as folders:
            for folder in (data, *roles_folder(data).glob("*")):
                folders.enter_context(held(folder))
            elsewhere = data / "postgres"
            if elsewhere.is_symlink():  # PostgreSQL's user could not enter the data folder
                shutil.rmtree(os.path.realpath(elsewhere), ignore_errors=True)
            shutil.rmtree(data)
    except DataFolderInUseError:
        raise LaunchError(f"The data folder {data} is in use: stop ./run first.") from None
    except OSError as error:
        raise LaunchError(f"Could not delete all of {data} ({error.strerror}): delete the rest by hand.") from error
    print(f"Deleted {data}. The next ./run starts with an empty one.")
    return 0
