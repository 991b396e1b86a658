"""Becomes a child of the launcher, then the command: `child.py PARENT_PID SIGNAL USER NICENESS COMMAND…`.

Run as a script by `processes.py`. It becomes USER (`-` keeps the present one), adds NICENESS to its parent's, and has
the kernel send SIGNAL when its parent dies. It keeps this order, because a change of user clears the request.
"""

import ctypes
import os
import pwd
import signal
import sys
import time

PR_SET_PDEATHSIG = 1


def main() -> None:
    """Take the user, tie this process to its parent and become the command; exit code 127 when it cannot run."""
    parent, death_signal, user, nicer, *command = sys.argv[1:]
    if user != "-":
        account = pwd.getpwnam(user)
        os.initgroups(user, account.pw_gid)
        os.setgid(account.pw_gid)
        os.setuid(account.pw_uid)
        here = os.getcwd()  # noqa: PTH109 (pathlib starts slower than the rest of this script)
        try:
            os.chdir(here)  # check by the whole path: root may have put this process where the user cannot enter
        except OSError as error:
            sys.exit(f"user {user} cannot enter {here}: {error.strerror}")
    if niceness := os.nice(int(nicer)):
        weigh_session(niceness)
    # a launcher started in the background by a shell ignores these, and the command must not
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, int(death_signal), 0, 0, 0)
    if os.getppid() != int(parent):
        sys.exit("the launcher is gone")
    try:
        os.execvp(command[0], command)  # noqa: S606
    except OSError as error:
        print(f"cannot run {command[0]}: {error.strerror}", file=sys.stderr)
        sys.exit(127)


def weigh_session(niceness: int, pid: int = 0) -> None:
    """Give this niceness to the session that the process leads, where the kernel weighs sessions (autogroup).

    Without that its niceness counts only against processes of the same session. `pid`: 0 for this process.
    """
    if os.getsid(pid) != (pid or os.getpid()):
        return
    for _ in range(5):
        try:
            with open(f"/proc/{pid or 'self'}/autogroup", "w") as file:  # noqa: PTH123 (as above)
                file.write(str(niceness))
        except BlockingIOError:  # the kernel takes one change in a tenth of a second, from all processes
            time.sleep(0.15)
        except OSError:  # a kernel without autogroup: the niceness alone counts
            return
        else:
            return


if __name__ == "__main__":
    main()
