from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("purchases", "0003_bills_and_customers"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="order",
            name="order_never_forgotten",
        ),
        migrations.AddConstraint(
            model_name="order",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        models.Q(
                            ("status__in", ["pending", "queued", "sending", "unknown"]),
                            models.Q(("hold_reason", "never_arrived"), ("status", "held")),
                            _connector="OR",
                        ),
                        ("next_check_at__isnull", False),
                    ),
                    models.Q(
                        models.Q(
                            ("status__in", ["pending", "queued", "sending", "unknown"]),
                            models.Q(("hold_reason", "never_arrived"), ("status", "held")),
                            _connector="OR",
                            _negated=True,
                        ),
                        ("next_check_at__isnull", True),
                    ),
                    _connector="OR",
                ),
                name="order_never_forgotten",
            ),
        ),
    ]
