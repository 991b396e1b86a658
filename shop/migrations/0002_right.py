"""Administrators of shops that are there already may change the settings, too."""

from typing import Any

from django.db import migrations

from staff.rights import grant


def give(apps: Any, _schema_editor: Any) -> None:
    grant(apps, "administrator", "shop.change_settings")


class Migration(migrations.Migration):
    dependencies = [("shop", "0001_initial"), ("staff", "0002_history_of_factors")]

    operations = [migrations.RunPython(give, migrations.RunPython.noop)]
