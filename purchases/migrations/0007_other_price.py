from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("purchases", "0006_wait_for_topup")]

    operations = [
        migrations.AlterField(
            model_name="incident",
            name="kind",
            field=models.CharField(
                choices=[
                    ("contradiction", "The upstream contradicts a final status"),
                    ("price_above_max", "Charged more than the confirmed price"),
                    ("other_price", "The upstream names another price than before, or none"),
                    ("mismatch", "The answer names another product or destination"),
                    ("lost", "Accepted before, now not found"),
                ],
                max_length=20,
            ),
        ),
    ]
