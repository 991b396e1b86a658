"""A PIN ends with what ends an account's devices. Those that people have go on."""

import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("tills", "0001_initial"),
    ]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name="pin",
            name="history_insert",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="pin",
            name="history_update",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="pin",
            name="history_delete",
        ),
        migrations.AddField(
            model_name="pin",
            name="epoch",
            field=models.PositiveIntegerField(
                help_text="The account's `device_epoch` when it was set: the PIN counts while they are the same.",
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="pinhistory",
            name="epoch",
            field=models.PositiveIntegerField(
                help_text="The account's `device_epoch` when it was set: the PIN counts while they are the same.",
                null=True,
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="pin",
            trigger=pgtrigger.compiler.Trigger(
                name="history_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "tills_pinhistory" ("epoch", "person_id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "set_at") VALUES (NEW."epoch", NEW."person_id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'insert\', NEW."person_id", NEW."set_at"); RETURN NULL;',
                    hash="c0781a3cebb38c0461599c59b99824a657046224",
                    operation="INSERT",
                    pgid="pgtrigger_history_insert_9cd27",
                    table="tills_pin",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="pin",
            trigger=pgtrigger.compiler.Trigger(
                name="history_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."epoch" IS DISTINCT FROM (NEW."epoch") OR OLD."person_id" IS DISTINCT FROM (NEW."person_id") OR OLD."set_at" IS DISTINCT FROM (NEW."set_at"))',
                    func='INSERT INTO "tills_pinhistory" ("epoch", "person_id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "set_at") VALUES (NEW."epoch", NEW."person_id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'update\', NEW."person_id", NEW."set_at"); RETURN NULL;',
                    hash="6aaaa771783433965701e2912fd0231fca5dd5ff",
                    operation="UPDATE",
                    pgid="pgtrigger_history_update_19f93",
                    table="tills_pin",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="pin",
            trigger=pgtrigger.compiler.Trigger(
                name="history_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "tills_pinhistory" ("epoch", "person_id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "set_at") VALUES (OLD."epoch", OLD."person_id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'delete\', OLD."person_id", OLD."set_at"); RETURN NULL;',
                    hash="439778b176775242fd64bd2428783b840d0feab0",
                    operation="DELETE",
                    pgid="pgtrigger_history_delete_9d9a3",
                    table="tills_pin",
                    when="AFTER",
                ),
            ),
        ),
        migrations.RunSQL(
            "UPDATE tills_pin SET epoch = person.device_epoch FROM staff_user person WHERE person.id = tills_pin.person_id",
            migrations.RunSQL.noop,
        ),
    ]
