#!/usr/bin/env python
"""Django's command line for this project. `./run manage …` calls it with the services up."""

import os
import sys

from django.core.management import execute_from_command_line

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "backoffice.settings")
    if os.environ["DJANGO_SETTINGS_MODULE"] == "backoffice.settings":
        # A command's standard error is for one sentence about what went wrong, not for the log.
        os.environ.setdefault("LOG_LEVEL", "ERROR")
    execute_from_command_line(sys.argv)
