from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("balance", "0005_decisions"),
    ]

    operations = [
        migrations.RemoveField(model_name="alert", name="last_sent_at"),
        migrations.AlterField(
            model_name="alert",
            name="kind",
            field=models.CharField(
                choices=[
                    ("low_balance", "Balance is low"),
                    ("unexplained_difference", "Unexplained difference"),
                    ("not_compared", "Books not compared for long"),
                    ("credentials_refused", "The upstream refuses our account"),
                    ("upstream_unreachable", "The upstream cannot be reached"),
                    ("order_unknown", "Outcome of an order unknown for long"),
                    ("process_silent", "A process is silent"),
                ],
                max_length=30,
            ),
        ),
        migrations.AddField(
            model_name="alertnotice",
            name="failures",
            field=models.PositiveSmallIntegerField(default=0, help_text="Attempts in a row that certainly failed."),
        ),
        migrations.AlterField(
            model_name="alertnotice",
            name="claimed_until",
            field=models.DateTimeField(
                help_text="Not told before this: somebody is at it now, or it has just failed.", null=True
            ),
        ),
        migrations.AlterField(
            model_name="alertnotice",
            name="fault",
            field=models.CharField(blank=True, help_text="Why the last attempt failed, or may have.", max_length=100),
        ),
    ]
