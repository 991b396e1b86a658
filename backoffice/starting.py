"""The steps of each process before it takes any work."""

import logging
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

from django.apps import apps
from django.conf import settings
from django.db import connection
from django.template import engines
from django.urls import get_resolver

from core.schema import WrongSchema, refuse_newer_schema

log = logging.getLogger(__name__)

# Modules that no process of the shop uses
_OF_COMMANDS = (".management", ".migrations", ".history")


def make_ready() -> None:
    """Load all code, and end with one sentence and exit code 1 when the database is a newer version's."""
    load_code()
    try:
        refuse_newer_schema()
    except WrongSchema as error:
        log.critical(str(error))
        sys.exit(1)
    finally:
        connection.close()  # the threads that work have their own


def load_code() -> None:
    """Import every module of ours, so that a new version that is installed later changes nothing in this process."""
    for app in apps.get_app_configs():
        if Path(app.path).resolve().parent == settings.BASE_DIR:
            for module in walk_packages([app.path], f"{app.name}."):
                if not any(part in module.name for part in _OF_COMMANDS):
                    import_module(module.name)
    _ = get_resolver().url_patterns


def load_everything() -> None:
    """Load all that any process of the shop loads: proves that this version is complete, and writes its bytecode."""
    for name in ("backoffice.web", "backoffice.celery", "celery.apps.worker", "celery.apps.beat"):
        import_module(name)
    load_code()
    load_templates()


def load_templates() -> None:
    """Load every template of ours, and the code of its tags (0.7 s), for the process that serves the pages."""
    folder = settings.BASE_DIR / "templates"
    for file in folder.rglob("*.*"):
        engines["django"].get_template(str(file.relative_to(folder)))
