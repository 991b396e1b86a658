"""Who may note that a customer has the money back, and what was owed before there was a list of it."""

from typing import Any

from django.db import migrations

from staff.rights import grant

_OWED = """
    INSERT INTO drawers_refund (order_id, amount, since, method, note)
    SELECT o.id, coalesce(paid.amount, o.selling_price, o.price, o.max_price), o.final_at, '', ''
      FROM purchases_order o LEFT JOIN (
        SELECT e.ref_id, e.amount FROM drawers_drawerentry e
         WHERE e.ref_id > '' AND e.kind = 'sale' AND e.undoes_id IS NULL
           AND NOT EXISTS (SELECT FROM drawers_drawerentry undoing WHERE undoing.undoes_id = e.id)
      ) paid ON paid.ref_id = o.ref_id
     WHERE (paid.amount IS NOT NULL OR o.status = 'reversed')
       AND o.status IN ('cancelled', 'closed', 'failed', 'rejected', 'reversed')
"""
_ENTERED = """
    UPDATE drawers_refund r SET given_at = e.at, given_by_id = e.person_id, method = e.method, note = e.reason,
           entry_id = e.id
      FROM drawers_drawerentry e JOIN purchases_order o ON o.ref_id = e.ref_id
     WHERE o.id = r.order_id AND e.ref_id > '' AND e.kind = 'refund' AND e.undoes_id IS NULL
       AND NOT EXISTS (SELECT FROM drawers_drawerentry undoing WHERE undoing.undoes_id = e.id)
"""
_NOTED = """
    UPDATE drawers_refund r SET given_at = g.at, given_by_id = g.noted_by_id, note = g.note
      FROM purchases_givenback g WHERE g.order_id = r.order_id AND r.given_at IS NULL
"""


def note_before(apps: Any, schema_editor: Any) -> None:
    for role in ("cashier", "supervisor", "administrator"):
        grant(apps, role, "drawers.give_back")
    for statement in (_OWED, _ENTERED, _NOTED):
        schema_editor.execute(statement)


class Migration(migrations.Migration):
    dependencies = [("drawers", "0004_refunds"), ("staff", "0004_copies_come_from_triggers")]

    operations = [migrations.RunPython(note_before, migrations.RunPython.noop)]
