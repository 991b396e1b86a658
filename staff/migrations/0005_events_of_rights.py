"""From here on a right that a role gets without an event is named by a verification of the audit."""

from typing import Any

from django.db import migrations

from staff.rights import begin_events


def begin(apps: Any, _schema_editor: Any) -> None:
    begin_events(apps)


class Migration(migrations.Migration):
    dependencies = [("audit", "0001_initial"), ("staff", "0004_copies_come_from_triggers")]

    operations = [migrations.RunPython(begin, migrations.RunPython.noop)]
