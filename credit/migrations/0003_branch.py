import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("branches", "0001_initial"),
        ("credit", "0002_move_debts"),
    ]

    operations = [
        migrations.AddField(
            model_name="creditentry",
            name="branch",
            field=models.ForeignKey(
                db_index=False,
                help_text="Where it happened. Entries from before this column have none"
                " (`drawers.services.credit_of_branch`).",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="branches.branch",
            ),
        ),
    ]
