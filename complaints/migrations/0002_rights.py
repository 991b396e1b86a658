"""Who sees complaints, and who opens, answers and closes them."""

from typing import Any

from django.db import migrations

from staff.rights import grant


def give_rights(apps: Any, _schema_editor: Any) -> None:
    for role in ("cashier", "supervisor", "administrator"):
        grant(apps, role, "complaints.view_complaint", "complaints.handle_complaint")
    grant(apps, "auditor", "complaints.view_complaint")


class Migration(migrations.Migration):
    dependencies = [("complaints", "0001_initial"), ("staff", "0004_copies_come_from_triggers")]

    operations = [migrations.RunPython(give_rights, migrations.RunPython.noop)]
