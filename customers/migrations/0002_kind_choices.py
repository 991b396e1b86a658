"""A new kind of product needs no migration."""

from django.db import migrations, models

import customers.models


class Migration(migrations.Migration):
    dependencies = [("customers", "0001_initial")]

    operations = [
        migrations.AlterField(
            model_name="savednumber",
            name="kind",
            field=models.CharField(choices=customers.models.kinds, max_length=10),
        ),
    ]
