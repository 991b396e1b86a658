from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("drawers", "0011_buyers_of_a_branch"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="payment",
            index=models.Index(
                condition=models.Q(("branch", 1), _negated=True), fields=["branch"], name="payment_elsewhere"
            ),
        ),
    ]
