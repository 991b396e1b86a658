from django.db import migrations, models

# Files that were read before: the days of the rows that they brought.
_DAYS_OF_ROWS = """
    UPDATE bank_bankfile file SET first_day = days.first, last_day = days.last
      FROM (SELECT file_id, min(day) AS first, max(day) AS last FROM bank_bankrow GROUP BY file_id) days
     WHERE days.file_id = file.id
"""


class Migration(migrations.Migration):
    dependencies = [
        ("bank", "0001_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="bankfile",
            name="first_day",
            field=models.DateField(null=True),
        ),
        migrations.AddField(
            model_name="bankfile",
            name="last_day",
            field=models.DateField(null=True),
        ),
        migrations.RunSQL(_DAYS_OF_ROWS, migrations.RunSQL.noop),
        migrations.AddIndex(
            model_name="bankfile",
            index=models.Index(fields=["first_day", "last_day"], name="bank_file_by_days"),
        ),
    ]
