import django.db.models.deletion
import django.utils.timezone
import pghistory.utils
import pgtrigger.compiler
from django.db import migrations, models

import core.transactions


class Migration(migrations.Migration):
    initial = True

    dependencies = [("core", "0001_initial")]

    operations = [
        migrations.CreateModel(
            name="CallbackRefusal",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                ("reason", models.CharField(max_length=20)),
                ("source_address", models.GenericIPAddressField(null=True)),
                ("size", models.IntegerField()),
            ],
            options={"ordering": ["-pk"]},
        ),
        migrations.CreateModel(
            name="CallbackRefusalCount",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                ("day", models.DateField()),
                ("reason", models.CharField(max_length=20)),
                ("count", models.BigIntegerField(default=0)),
            ],
            options={"constraints": [models.UniqueConstraint(fields=("day", "reason"), name="refusal_count_once")]},
        ),
        migrations.CreateModel(
            name="Callback",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                ("received_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("delivery_id", models.CharField(blank=True, max_length=100)),
                ("content_hash", models.CharField(max_length=64)),
                ("event", models.CharField(blank=True, max_length=60)),
                ("ref_id", models.CharField(blank=True, db_index=True, max_length=64)),
                ("body", models.BinaryField()),
                ("headers", models.JSONField()),
                ("source_address", models.GenericIPAddressField(null=True)),
                ("is_signed", models.BooleanField()),
                ("repeats", models.IntegerField(default=0)),
                ("state", models.CharField(default="received", max_length=10)),
                ("processed_at", models.DateTimeField(null=True)),
                ("result", models.CharField(blank=True, max_length=300)),
                ("next_try_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("tries", models.IntegerField(default=0)),
                ("fault", models.CharField(blank=True, max_length=300)),
            ],
            options={
                "ordering": ["-pk"],
                "permissions": [("view_callback", "Can view callback"), ("process_callback", "Can process callback")],
                "default_permissions": (),
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "received")), fields=["next_try_at"], name="callback_due"
                    ),
                    models.Index(fields=["-received_at", "-id"], name="callback_newest"),
                    models.Index(
                        condition=models.Q(("state__in", ["hint", "malformed", "received", "unmatched"])),
                        fields=["state", "-received_at", "-id"],
                        name="callback_by_state",
                    ),
                    models.Index(
                        fields=["delivery_id"], name="callback_by_delivery", opclasses=["varchar_pattern_ops"]
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("content_hash", "is_signed"), name="callback_once"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("processed_at__isnull", True), ("state", "received")),
                            models.Q(("state", "received"), _negated=True),
                            _connector="OR",
                        ),
                        name="callback_waiting",
                    ),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="what_came_in_never_changes",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition='WHEN (OLD."received_at" IS DISTINCT FROM (NEW."received_at") OR OLD."delivery_id" IS DISTINCT FROM (NEW."delivery_id") OR OLD."content_hash" IS DISTINCT FROM (NEW."content_hash") OR OLD."body" IS DISTINCT FROM (NEW."body") OR OLD."headers" IS DISTINCT FROM (NEW."headers") OR OLD."source_address" IS DISTINCT FROM (NEW."source_address") OR OLD."is_signed" IS DISTINCT FROM (NEW."is_signed"))',
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                            hash="a9e0d7c4aea2eb8135c09494257d809d6728540f",
                            operation="UPDATE",
                            pgid="pgtrigger_what_came_in_never_changes_46bb3",
                            table="callbacks_callback",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_deleted",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;",
                            hash="d9b2a94601801cbd67428ae263f98b3d8c5aeca4",
                            operation="DELETE",
                            pgid="pgtrigger_never_deleted_60086",
                            table="callbacks_callback",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="dc1f4ced430b4f51807af5ca0899b70e41f5e820",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_65f2f",
                            table="callbacks_callback",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "callbacks_callbackhistory" ("content_hash", "delivery_id", "event", "id", "is_signed", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "processed_at", "received_at", "ref_id", "result", "source_address", "state") VALUES (NEW."content_hash", NEW."delivery_id", NEW."event", NEW."id", NEW."is_signed", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'insert\', NEW."id", NEW."processed_at", NEW."received_at", NEW."ref_id", NEW."result", NEW."source_address", NEW."state"); RETURN NULL;',
                            hash="1d17091b6ebb29f01ab2e8313116e40b5dbc7eed",
                            operation="INSERT",
                            pgid="pgtrigger_history_insert_9b4f3",
                            table="callbacks_callback",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition='WHEN (OLD."content_hash" IS DISTINCT FROM (NEW."content_hash") OR OLD."delivery_id" IS DISTINCT FROM (NEW."delivery_id") OR OLD."event" IS DISTINCT FROM (NEW."event") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."is_signed" IS DISTINCT FROM (NEW."is_signed") OR OLD."processed_at" IS DISTINCT FROM (NEW."processed_at") OR OLD."received_at" IS DISTINCT FROM (NEW."received_at") OR OLD."ref_id" IS DISTINCT FROM (NEW."ref_id") OR OLD."result" IS DISTINCT FROM (NEW."result") OR OLD."source_address" IS DISTINCT FROM (NEW."source_address") OR OLD."state" IS DISTINCT FROM (NEW."state"))',
                            func='INSERT INTO "callbacks_callbackhistory" ("content_hash", "delivery_id", "event", "id", "is_signed", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "processed_at", "received_at", "ref_id", "result", "source_address", "state") VALUES (NEW."content_hash", NEW."delivery_id", NEW."event", NEW."id", NEW."is_signed", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'update\', NEW."id", NEW."processed_at", NEW."received_at", NEW."ref_id", NEW."result", NEW."source_address", NEW."state"); RETURN NULL;',
                            hash="9a1ce815afca86602476bcf9cc102eacd768abfb",
                            operation="UPDATE",
                            pgid="pgtrigger_history_update_ae842",
                            table="callbacks_callback",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "callbacks_callbackhistory" ("content_hash", "delivery_id", "event", "id", "is_signed", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "processed_at", "received_at", "ref_id", "result", "source_address", "state") VALUES (OLD."content_hash", OLD."delivery_id", OLD."event", OLD."id", OLD."is_signed", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'delete\', OLD."id", OLD."processed_at", OLD."received_at", OLD."ref_id", OLD."result", OLD."source_address", OLD."state"); RETURN NULL;',
                            hash="3d8b2766d760fc926fbee24bc0b8087da1e196b0",
                            operation="DELETE",
                            pgid="pgtrigger_history_delete_e1fcc",
                            table="callbacks_callback",
                            when="AFTER",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="CallbackHistory",
            fields=[
                ("pgh_id", models.BigAutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField()),
                ("pgh_label", models.CharField(max_length=6)),
                ("txid", models.BigIntegerField(db_default=core.transactions.TRANSACTION_NUMBER, editable=False)),
                (
                    "pgh_obj",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="history",
                        to="callbacks.callback",
                    ),
                ),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("id", models.BigIntegerField()),
                ("received_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("delivery_id", models.CharField(blank=True, max_length=100)),
                ("content_hash", models.CharField(max_length=64)),
                ("event", models.CharField(blank=True, max_length=60)),
                ("ref_id", models.CharField(blank=True, max_length=64)),
                ("source_address", models.GenericIPAddressField(null=True)),
                ("is_signed", models.BooleanField()),
                ("state", models.CharField(default="received", max_length=10)),
                ("processed_at", models.DateTimeField(null=True)),
                ("result", models.CharField(blank=True, max_length=300)),
            ],
            options={
                "abstract": False,
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["txid", "pgh_id"], name="callback_history_seal"),
                    models.Index(fields=["pgh_obj", "-pgh_id"], name="callback_history_row"),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="7391a2da5ef60744361eab18e62e3f3b2d1e11fa",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_e255d",
                            table="callbacks_callbackhistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="51d82b29f6ef6e3f9847cbb2cbcc79e0f9d8937f",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_7a441",
                            table="callbacks_callbackhistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="only_copies",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (pg_trigger_depth() = 0)",
                            func="RAISE EXCEPTION 'pgtrigger: Cannot insert rows from % table', TG_TABLE_NAME;",
                            hash="754bc3a717e3c17b83632e8a0af59125e5f8b3d3",
                            operation="INSERT",
                            pgid="pgtrigger_only_copies_67a17",
                            table="callbacks_callbackhistory",
                            when="BEFORE",
                        ),
                    ),
                ],
            },
        ),
    ]
