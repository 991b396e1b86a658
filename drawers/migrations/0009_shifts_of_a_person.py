import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("drawers", "0008_payment_of_buyer"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AlterField(
            model_name="shift",
            name="cashier",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="shifts", to=settings.AUTH_USER_MODEL
            ),
        ),
    ]
