from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("drawers", "0010_payment_in_no_shift"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="payment",
            index=models.Index(
                condition=models.Q(("buyer__isnull", False)), fields=["branch", "buyer"], name="payment_buyers"
            ),
        ),
    ]
