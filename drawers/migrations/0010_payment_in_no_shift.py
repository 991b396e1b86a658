from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("drawers", "0009_shifts_of_a_person"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="payment",
            index=models.Index(
                condition=models.Q(("agreed_in__isnull", True), ("seller__isnull", False), ("sold_in__isnull", True)),
                fields=["at"],
                name="payment_in_no_shift",
            ),
        ),
    ]
