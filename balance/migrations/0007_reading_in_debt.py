from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("balance", "0006_alerts_told")]

    operations = [
        migrations.RemoveConstraint(model_name="reading", name="reading_balance_not_negative"),
        migrations.AlterField(
            model_name="reading",
            name="balance",
            field=models.BigIntegerField(help_text="Rupiah; below zero when the account is in debt."),
        ),
    ]
