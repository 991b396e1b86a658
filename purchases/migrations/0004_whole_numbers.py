"""The rights to customers' whole numbers: whoever sells sees them as before, an auditor asks for one."""

from typing import Any

from django.db import migrations

from staff.rights import grant

VIEW, REVEAL = "purchases.view_number", "purchases.reveal_number"


def give(apps: Any, _schema_editor: Any) -> None:
    for role in ("cashier", "supervisor", "administrator"):
        grant(apps, role, VIEW)
    for role in ("auditor", "administrator"):
        grant(apps, role, REVEAL)


class Migration(migrations.Migration):
    dependencies = [
        ("purchases", "0003_copies_come_from_triggers"),
        ("staff", "0002_history_of_factors"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="order",
            options={
                "permissions": [
                    ("buy", "Can buy products"),
                    ("resolve_order", "Can resolve orders that need action"),
                    ("propose_verdict", "Can propose verdicts on orders"),
                    ("decide_order", "Can approve and decline verdicts on orders"),
                    ("sell_below_cost", "Can sell below cost"),
                    ("view_number", "Can see customers' whole numbers"),
                    ("reveal_number", "Can show one whole number, and make files with whole numbers"),
                ]
            },
        ),
        migrations.RunPython(give, migrations.RunPython.noop),
    ]
