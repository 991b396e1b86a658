from django.conf import settings
from django.db import migrations, models
from django.db.models.functions import Right


class Migration(migrations.Migration):
    dependencies = [
        ("catalogue", "0002_public_list"),
        ("drawers", "0006_buyer"),
        ("purchases", "0005_no_index_of_codes"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddIndex(
            model_name="order",
            index=models.Index(Right("ref_id", 6), name="order_by_end_of_ref_id"),
        ),
        # Without statistics of the expression PostgreSQL expects 1 of 200 orders to end so, and reads the newest first.
        migrations.RunSQL("ANALYZE purchases_order", migrations.RunSQL.noop),
    ]
