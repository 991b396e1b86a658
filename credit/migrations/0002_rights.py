"""Who may sell on credit, see what is owed, and give credit; owners may everything anyway."""

from typing import Any

from django.db import migrations

from staff.rights import grant
from staff.roles import ROLES


def give_rights(apps: Any, _schema_editor: Any) -> None:
    for role, names in ROLES.items():
        if ours := [name for name in names if name.startswith("credit.")]:
            grant(apps, role.value, *ours)


class Migration(migrations.Migration):
    dependencies = [
        ("credit", "0001_initial"),
        ("staff", "0002_history_of_factors"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]

    operations = [migrations.RunPython(give_rights, migrations.RunPython.noop)]
