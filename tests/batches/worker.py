"""A process that places and sends due orders, as the workers do, in children that a test kills with signal 9.

It loads the app once. Each line on its standard input starts another child; it prints the child's process id.
"""

import os
import sys

import django


def work() -> None:
    """Do due work until the process is ended."""
    from batches.services import DUE_BATCHES, place_rows  # noqa: PLC0415 - once Django is set up
    from purchases.services import DUE_ORDERS, poll, submit  # noqa: PLC0415
    from purchases.services.sweeping import SUBMIT  # noqa: PLC0415
    from upstream.budget import CallClass  # noqa: PLC0415

    while True:
        for due in DUE_BATCHES.take(5):
            place_rows(due.pk)
        for due in DUE_ORDERS.take(5):
            (submit if due.task == SUBMIT else poll)(due.pk, call_class=CallClass.BACKGROUND)


def main() -> None:
    """Start children, one for each line."""
    django.setup()
    print("ready", flush=True)
    for _line in sys.stdin:
        if pid := os.fork():
            print(pid, flush=True)
            os.waitpid(pid, 0)
            print("ended", flush=True)
        else:
            work()


if __name__ == "__main__":
    main()
