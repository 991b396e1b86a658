"""Who may release batches in a shop that has its roles already."""

from typing import Any

from django.db import migrations

from core.rights import Right, Role
from staff.rights import grant


def give(apps: Any, _schema_editor: Any) -> None:
    for role in sorted(Right.RELEASE_BATCHES.begins_with - {Role.OWNER}):
        grant(apps, role, Right.RELEASE_BATCHES)


class Migration(migrations.Migration):
    dependencies = [
        ("batches", "0001_initial"),
        ("staff", "0003_bound_since"),
    ]

    operations = [migrations.RunPython(give, migrations.RunPython.noop)]
