from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("purchases", "0008_reversed_by_time"),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name="order",
            name="order_by_number",
        ),
        migrations.AddIndex(
            model_name="order",
            index=models.Index(
                fields=["destination", "-created_at", "-id"],
                name="order_by_number",
                opclasses=["varchar_pattern_ops", "timestamptz_ops", "int8_ops"],
            ),
        ),
    ]
