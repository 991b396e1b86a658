from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("exports", "0001_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="export",
            name="whole_numbers",
            field=models.BooleanField(db_default=False, default=False, help_text="It holds customers' numbers whole."),
        ),
    ]
