"""PostgreSQL and Valkey for one run of a benchmark: those that the environment names, else throw-away ones."""

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def shop() -> Iterator[None]:
    """Django with an empty, migrated database; the servers end with it."""
    from testing import services

    os.environ.update(services.UPSTREAM | services.SETTINGS)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "backoffice.settings")
    services.start_missing_services()
    try:
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        yield
    finally:
        services.pytest_unconfigure()
