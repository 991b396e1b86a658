import django.db.models.deletion
import pghistory.utils
import pgtrigger.compiler
from django.conf import settings
from django.db import migrations, models

import core.transactions


class Migration(migrations.Migration):
    initial = True

    dependencies = [("core", "0001_initial"), ("purchases", "0001_initial"), ("staff", "0001_initial")]

    operations = [
        migrations.CreateModel(
            name="Complaint",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "order",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="complaints",
                        to="purchases.order",
                    ),
                ),
                ("state", models.CharField(default="open", max_length=10)),
                ("opened_at", models.DateTimeField()),
                (
                    "opened_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                ("due_at", models.DateTimeField()),
                ("closed_at", models.DateTimeField(null=True)),
            ],
            options={
                "permissions": [("view_complaint", "Can view complaint"), ("handle_complaint", "Can handle complaint")],
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["order", "-id"], name="complaint_of_order"),
                    models.Index(
                        condition=models.Q(("state", "closed"), _negated=True),
                        fields=["due_at", "id"],
                        name="complaint_due",
                    ),
                    models.Index(fields=["-opened_at", "-id"], name="complaint_newest"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state", "closed"), _negated=True),
                        fields=("order",),
                        name="complaint_open_once_an_order",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["answered", "asked", "closed", "open"])),
                        name="complaint_state_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("closed_at__isnull", False), ("state", "closed")),
                            models.Q(models.Q(("state", "closed"), _negated=True), ("closed_at__isnull", True)),
                            _connector="OR",
                        ),
                        name="complaint_closed_at_iff_closed",
                    ),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="moves_as_allowed",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            declare="DECLARE _is_valid_transition BOOLEAN;",
                            func='SELECT CONCAT(OLD."state", \':\', NEW."state") = ANY(\'{answered:asked,answered:closed,asked:answered,asked:closed,open:answered,open:asked,open:closed}\'::text[]) INTO _is_valid_transition; IF (_is_valid_transition IS FALSE AND OLD."state" IS DISTINCT FROM NEW."state") THEN RAISE EXCEPTION \'pgtrigger: Invalid transition of field "state" from "%" to "%" on table %\', OLD."state", NEW."state", TG_TABLE_NAME; ELSE RETURN NEW; END IF;',
                            hash="ddc57862bedc74bbfd4b69d169d3f2b9316e2cbf",
                            operation="UPDATE",
                            pgid="pgtrigger_moves_as_allowed_ce373",
                            table="complaints_complaint",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="what_began_it_never_changes",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition='WHEN (OLD."order_id" IS DISTINCT FROM (NEW."order_id") OR OLD."opened_at" IS DISTINCT FROM (NEW."opened_at") OR OLD."opened_by_id" IS DISTINCT FROM (NEW."opened_by_id"))',
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                            hash="56c2a41f1898ea07dbe2edaebdca1c6bca194314",
                            operation="UPDATE",
                            pgid="pgtrigger_what_began_it_never_changes_d4467",
                            table="complaints_complaint",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="closed_once",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.\"state\" = 'closed')",
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                            hash="2e9c302e95688e5c09e76f14a8e4d4bcbff7efb8",
                            operation="UPDATE",
                            pgid="pgtrigger_closed_once_aaa81",
                            table="complaints_complaint",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_deleted",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;",
                            hash="eebb0537a73af91c8eb42c4bd1991b84d289e83e",
                            operation="DELETE",
                            pgid="pgtrigger_never_deleted_54514",
                            table="complaints_complaint",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="3aa1e228b76e9b0cbcd0d070ffbc22beb94feba8",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_2dfa7",
                            table="complaints_complaint",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "complaints_complainthistory" ("closed_at", "due_at", "id", "opened_at", "opened_by_id", "order_id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "state") VALUES (NEW."closed_at", NEW."due_at", NEW."id", NEW."opened_at", NEW."opened_by_id", NEW."order_id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'insert\', NEW."id", NEW."state"); RETURN NULL;',
                            hash="f2a819be8d3944e9a121eda815e4a4305cedfe2d",
                            operation="INSERT",
                            pgid="pgtrigger_history_insert_84fbc",
                            table="complaints_complaint",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                            func='INSERT INTO "complaints_complainthistory" ("closed_at", "due_at", "id", "opened_at", "opened_by_id", "order_id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "state") VALUES (NEW."closed_at", NEW."due_at", NEW."id", NEW."opened_at", NEW."opened_by_id", NEW."order_id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'update\', NEW."id", NEW."state"); RETURN NULL;',
                            hash="71ac6f63f623fee000c2308082fd72b6ff34b47a",
                            operation="UPDATE",
                            pgid="pgtrigger_history_update_def27",
                            table="complaints_complaint",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "complaints_complainthistory" ("closed_at", "due_at", "id", "opened_at", "opened_by_id", "order_id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "state") VALUES (OLD."closed_at", OLD."due_at", OLD."id", OLD."opened_at", OLD."opened_by_id", OLD."order_id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'delete\', OLD."id", OLD."state"); RETURN NULL;',
                            hash="3f7410a98b17d034f0f1cee1d289ca637f1180e8",
                            operation="DELETE",
                            pgid="pgtrigger_history_delete_acd71",
                            table="complaints_complaint",
                            when="AFTER",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ComplaintEvent",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "complaint",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="events",
                        to="complaints.complaint",
                    ),
                ),
                ("at", models.DateTimeField()),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                ("state", models.CharField(max_length=10)),
                ("words", models.CharField(max_length=500)),
                ("due_at", models.DateTimeField()),
                ("txid", models.BigIntegerField(db_default=core.transactions.TRANSACTION_NUMBER, editable=False)),
            ],
            options={
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["complaint", "id"], name="complaint_event_story"),
                    models.Index(fields=["txid", "id"], name="complaint_event_to_seal"),
                ],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("words__gt", "")), name="complaint_event_has_words")
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="74052a534e71dac9970ee5a73a0d0ce95ee9fa73",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_17d31",
                            table="complaints_complaintevent",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="9665be6293177aed65ffa801dc254081025c8daa",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_cc5a7",
                            table="complaints_complaintevent",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="own_transaction",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (NEW.txid <> transaction_number())",
                            func="NEW.txid = transaction_number(); RETURN NEW;",
                            hash="bb907373ccdb090b6547fc96a0adaba5500e0325",
                            operation="INSERT",
                            pgid="pgtrigger_own_transaction_87574",
                            table="complaints_complaintevent",
                            when="BEFORE",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ComplaintHistory",
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
                        to="complaints.complaint",
                    ),
                ),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("id", models.BigIntegerField()),
                (
                    "order",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="purchases.order",
                    ),
                ),
                ("state", models.CharField(default="open", max_length=10)),
                ("opened_at", models.DateTimeField()),
                (
                    "opened_by",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("due_at", models.DateTimeField()),
                ("closed_at", models.DateTimeField(null=True)),
            ],
            options={
                "abstract": False,
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["txid", "pgh_id"], name="complaint_history_seal"),
                    models.Index(fields=["pgh_obj", "-pgh_id"], name="complaint_history_row"),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="87ff13a0a39daf6135f9c7353fb51082a55bfa0c",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_d1eaf",
                            table="complaints_complainthistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="d50f552daee4f2240f0ca679d006224ec88690db",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_620d3",
                            table="complaints_complainthistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="only_copies",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (pg_trigger_depth() = 0)",
                            func="RAISE EXCEPTION 'pgtrigger: Cannot insert rows from % table', TG_TABLE_NAME;",
                            hash="48a762b7b089ebab8d7fe47b62227910276a8966",
                            operation="INSERT",
                            pgid="pgtrigger_only_copies_5fa9e",
                            table="complaints_complainthistory",
                            when="BEFORE",
                        ),
                    ),
                ],
            },
        ),
    ]
