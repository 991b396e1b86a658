"""Deliveries under way are known in memory: see `services/delivery.py`."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("sandbox", "0001_initial")]

    operations = [migrations.RemoveField(model_name="delivery", name="in_flight")]
