from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("ledger", "0003_index_of_rare_kinds")]

    operations = [
        migrations.AddField(
            model_name="books",
            name="posted_at",
            field=models.DateTimeField(help_text="The time of the last entry: none is dated before it.", null=True),
        ),
        migrations.RunSQL(
            "UPDATE ledger_books SET posted_at = (SELECT at FROM ledger_entry ORDER BY id DESC LIMIT 1)",
            migrations.RunSQL.noop,
        ),
    ]
