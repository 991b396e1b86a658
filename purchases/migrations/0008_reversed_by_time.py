from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("purchases", "0007_erased_numbers"),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name="order",
            name="order_reversed",
        ),
        migrations.AddIndex(
            model_name="order",
            index=models.Index(
                condition=models.Q(("status", "reversed")), fields=["created_at", "final_at"], name="order_reversed"
            ),
        ),
    ]
