from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("reconciliation", "0001_initial"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="expectedtopup",
            index=models.Index(
                condition=models.Q(("cancelled_at", None)), fields=["announced_at"], name="expected_topup_by_time"
            ),
        ),
    ]
