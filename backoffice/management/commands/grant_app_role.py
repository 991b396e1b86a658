"""`manage.py grant_app_role`: gives the role of our processes its rights on every table, and no other."""

from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.db import connection

from audit.services import close_way_past_triggers
from backoffice.database_rights import excess, grant_rights
from core.commands import PlainCommand


class Command(PlainCommand):
    """Safe to repeat; each start does it after the migrations."""

    help = "Grant the role of DATABASE_URL what backoffice/database_rights.py says. Runs as DATABASE_OWNER_URL."

    def handle(self, *args: Any, **options: Any) -> None:
        role = settings.DATABASE_APP_ROLE
        if connection.settings_dict["USER"] == role:
            raise CommandError(
                "DATABASE_OWNER_URL must name the owner of the tables, another role than the one of DATABASE_URL."
            )
        close_way_past_triggers()  # a migration that makes a trigger opens it
        self.stdout.write(f"{role}: {grant_rights(role)} changes")
        if faults := list(excess(role)):
            raise CommandError(f"{role} can do more than it should: it {'; '.join(faults)}.")
