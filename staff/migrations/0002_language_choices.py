"""A new language needs no migration."""

from django.db import migrations, models

import staff.models


class Migration(migrations.Migration):
    dependencies = [("staff", "0001_initial")]

    operations = [
        migrations.AlterField(
            model_name="user",
            name="language",
            field=models.CharField(
                blank=True, choices=staff.models.languages, help_text="Empty: as the browser.", max_length=10
            ),
        ),
    ]
