from typing import Any

import django.db.models.deletion
import django.db.models.functions.text
import pghistory.utils
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models

import core.transactions


def make_first(apps: Any, _schema_editor: Any) -> None:
    """The branch that a shop begins with, `FIRST`: what has no other belongs to it."""
    apps.get_model("branches", "Branch").objects.create(name=settings.SHOP_NAME)


class Migration(migrations.Migration):
    initial = True

    dependencies = [("core", "0001_initial")]

    operations = [
        migrations.CreateModel(
            name="BranchHistory",
            fields=[
                ("pgh_id", models.BigAutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField()),
                ("pgh_label", models.CharField(max_length=6)),
                (
                    "txid",
                    models.BigIntegerField(db_default=core.transactions.TRANSACTION_NUMBER, editable=False),
                ),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("id", models.BigIntegerField()),
                ("name", models.CharField(max_length=60)),
                ("address", models.CharField(blank=True, max_length=200)),
                ("phone", models.CharField(blank=True, max_length=20)),
                ("footer", models.CharField(blank=True, max_length=400)),
                ("closed_at", models.DateTimeField(null=True)),
            ],
            options={
                "abstract": False,
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="Branch",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                ("name", models.CharField(max_length=60)),
                ("address", models.CharField(blank=True, max_length=200)),
                ("phone", models.CharField(blank=True, max_length=20)),
                ("footer", models.CharField(blank=True, max_length=400)),
                ("closed_at", models.DateTimeField(null=True)),
            ],
            options={
                "default_permissions": (),
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("name", ""), _negated=True), name="branch_has_a_name"),
                    models.UniqueConstraint(
                        django.db.models.functions.text.Upper("name"),
                        condition=models.Q(("closed_at", None)),
                        name="branch_name_once",
                    ),
                ],
            },
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="branch",
            trigger=pgtrigger.compiler.Trigger(
                name="one_is_open",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (NEW.closed_at IS NOT NULL)",
                    func="\n                    PERFORM FROM branches_branch WHERE closed_at IS NULL FOR NO KEY UPDATE;\n                    IF NOT FOUND THEN RAISE EXCEPTION 'one branch is always open'; END IF;\n                    RETURN NULL;\n                ",
                    hash="6af58f8fa2d35c33b02bf8122c96ae3983edecc0",
                    operation="UPDATE",
                    pgid="pgtrigger_one_is_open_05056",
                    table="branches_branch",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="branch",
            trigger=pgtrigger.compiler.Trigger(
                name="never_deleted",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;",
                    hash="1da4a484a8fd2a8f877a744606404f54fda36352",
                    operation="DELETE",
                    pgid="pgtrigger_never_deleted_f5c97",
                    table="branches_branch",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="branch",
            trigger=pgtrigger.compiler.Trigger(
                name="never_truncated",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                    hash="e8109c8a541a8a15e6644af04e4603f55adc8365",
                    level="STATEMENT",
                    operation="TRUNCATE",
                    pgid="pgtrigger_never_truncated_3ebe6",
                    table="branches_branch",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="branch",
            trigger=pgtrigger.compiler.Trigger(
                name="history_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "branches_branchhistory" ("address", "closed_at", "footer", "id", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "phone") VALUES (NEW."address", NEW."closed_at", NEW."footer", NEW."id", NEW."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'insert\', NEW."id", NEW."phone"); RETURN NULL;',
                    hash="e839f1239664c855805b99996c0cf10f3b24054c",
                    operation="INSERT",
                    pgid="pgtrigger_history_insert_42626",
                    table="branches_branch",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="branch",
            trigger=pgtrigger.compiler.Trigger(
                name="history_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "branches_branchhistory" ("address", "closed_at", "footer", "id", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "phone") VALUES (NEW."address", NEW."closed_at", NEW."footer", NEW."id", NEW."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'update\', NEW."id", NEW."phone"); RETURN NULL;',
                    hash="7033b8bf875916444442ffd7130e0919cd301409",
                    operation="UPDATE",
                    pgid="pgtrigger_history_update_db3bc",
                    table="branches_branch",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="branch",
            trigger=pgtrigger.compiler.Trigger(
                name="history_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "branches_branchhistory" ("address", "closed_at", "footer", "id", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "phone") VALUES (OLD."address", OLD."closed_at", OLD."footer", OLD."id", OLD."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'delete\', OLD."id", OLD."phone"); RETURN NULL;',
                    hash="63c3ffa02d172b973edcf0a22cb14ae5ebfb1da2",
                    operation="DELETE",
                    pgid="pgtrigger_history_delete_d310f",
                    table="branches_branch",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddField(
            model_name="branchhistory",
            name="pgh_obj",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="history",
                to="branches.branch",
            ),
        ),
        migrations.AddIndex(
            model_name="branchhistory",
            index=models.Index(fields=["txid", "pgh_id"], name="branch_history_seal"),
        ),
        migrations.AddIndex(
            model_name="branchhistory",
            index=models.Index(fields=["pgh_obj", "-pgh_id"], name="branch_history_row"),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="branchhistory",
            trigger=pgtrigger.compiler.Trigger(
                name="append_only",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                    hash="25330d6cc7c654ef683ed1ee3e79c26618f70a52",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_append_only_84eaa",
                    table="branches_branchhistory",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="branchhistory",
            trigger=pgtrigger.compiler.Trigger(
                name="never_truncated",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                    hash="20cce512b9a88b6975b9d0453654f856ef5f6338",
                    level="STATEMENT",
                    operation="TRUNCATE",
                    pgid="pgtrigger_never_truncated_cf92f",
                    table="branches_branchhistory",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="branchhistory",
            trigger=pgtrigger.compiler.Trigger(
                name="only_copies",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (pg_trigger_depth() = 0)",
                    func="RAISE EXCEPTION 'pgtrigger: Cannot insert rows from % table', TG_TABLE_NAME;",
                    hash="2de64ac41e679cb17f68ab97e839e6bb61bfb626",
                    operation="INSERT",
                    pgid="pgtrigger_only_copies_62df9",
                    table="branches_branchhistory",
                    when="BEFORE",
                ),
            ),
        ),
        migrations.RunPython(make_first, migrations.RunPython.noop),
    ]
