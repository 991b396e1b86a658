"""The rights about selling prices, for the shops of before: who sees the cost, who changes prices, who sells below cost."""

from typing import Any

from django.db import migrations

from staff.rights import grant


def give_rights(apps: Any, _schema_editor: Any) -> None:
    grant(apps, "auditor", "catalogue.view_cost")
    grant(apps, "supervisor", "catalogue.view_cost", "purchases.sell_below_cost")
    grant(apps, "administrator", "catalogue.view_cost", "purchases.sell_below_cost", "catalogue.change_pricerule")


class Migration(migrations.Migration):
    dependencies = [("staff", "0002_history_of_factors")]

    operations = [migrations.RunPython(give_rights, migrations.RunPython.noop)]
