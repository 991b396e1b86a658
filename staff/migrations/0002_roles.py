"""What needs other apps' tables, which themselves name our people: copies of factors and outside accounts; roles.

From here on a right that a role gets without an event is named by a verification of the audit.
"""

from typing import Any

import django.db.models.deletion
import django.utils.timezone
import pghistory.utils
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models

import core.transactions
from staff.rights import begin_events
from staff.roles import make_roles


def begin(apps: Any, _schema_editor: Any) -> None:
    begin_events(apps)


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0001_initial"),
        ("core", "0001_initial"),
        ("mfa", "0003_authenticator_type_uniq"),
        ("socialaccount", "0006_alter_socialaccount_extra_data"),
        ("staff", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="OutsideAccount",
            fields=[],
            options={"proxy": True, "default_permissions": (), "indexes": [], "constraints": []},
            bases=("socialaccount.socialaccount",),
        ),
        migrations.CreateModel(
            name="Factor",
            fields=[],
            options={"proxy": True, "default_permissions": (), "indexes": [], "constraints": []},
            bases=("mfa.authenticator",),
        ),
        migrations.CreateModel(
            name="FactorHistory",
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
                        to="staff.factor",
                    ),
                ),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("id", models.BigIntegerField()),
                (
                    "user",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("type", models.CharField(max_length=20)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                "abstract": False,
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["txid", "pgh_id"], name="factor_history_seal"),
                    models.Index(fields=["pgh_obj", "-pgh_id"], name="factor_history_row"),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="0012c4927eda6af27ac22cc7fc30787213bcaeca",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_30cff",
                            table="staff_factorhistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="867a0fde840a179292e163a3099f1129ffcf3770",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_c098a",
                            table="staff_factorhistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="only_copies",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (pg_trigger_depth() = 0)",
                            func="RAISE EXCEPTION 'pgtrigger: Cannot insert rows from % table', TG_TABLE_NAME;",
                            hash="5920726c49aa2743698395e7800264bec80b8a18",
                            operation="INSERT",
                            pgid="pgtrigger_only_copies_fa0b1",
                            table="staff_factorhistory",
                            when="BEFORE",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="OutsideAccountHistory",
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
                        to="staff.outsideaccount",
                    ),
                ),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("id", models.IntegerField()),
                (
                    "user",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("provider", models.CharField(max_length=200)),
                ("uid", models.CharField(max_length=191)),
                ("date_joined", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "abstract": False,
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["txid", "pgh_id"], name="outside_account_history_seal"),
                    models.Index(fields=["pgh_obj", "-pgh_id"], name="outside_account_history_row"),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="5ca706b616ef195b653f99a8f956cb680e865cb8",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_f00a2",
                            table="staff_outsideaccounthistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="106782d9ddbbe9edc445cbcc8d28dd233f4e7305",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_fce8d",
                            table="staff_outsideaccounthistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="only_copies",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (pg_trigger_depth() = 0)",
                            func="RAISE EXCEPTION 'pgtrigger: Cannot insert rows from % table', TG_TABLE_NAME;",
                            hash="d76e5bd56e047b9c9e0cba1483f9e863d37d5812",
                            operation="INSERT",
                            pgid="pgtrigger_only_copies_002f9",
                            table="staff_outsideaccounthistory",
                            when="BEFORE",
                        ),
                    ),
                ],
            },
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="outsideaccount",
            trigger=pgtrigger.compiler.Trigger(
                name="history_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "staff_outsideaccounthistory" ("date_joined", "id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "provider", "uid", "user_id") VALUES (NEW."date_joined", NEW."id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'insert\', NEW."id", NEW."provider", NEW."uid", NEW."user_id"); RETURN NULL;',
                    hash="77427dc22d47028591d180407537f0f2c6c903a0",
                    operation="INSERT",
                    pgid="pgtrigger_history_insert_0abd6",
                    table="socialaccount_socialaccount",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="outsideaccount",
            trigger=pgtrigger.compiler.Trigger(
                name="history_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."date_joined" IS DISTINCT FROM (NEW."date_joined") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."provider" IS DISTINCT FROM (NEW."provider") OR OLD."uid" IS DISTINCT FROM (NEW."uid") OR OLD."user_id" IS DISTINCT FROM (NEW."user_id"))',
                    func='INSERT INTO "staff_outsideaccounthistory" ("date_joined", "id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "provider", "uid", "user_id") VALUES (NEW."date_joined", NEW."id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'update\', NEW."id", NEW."provider", NEW."uid", NEW."user_id"); RETURN NULL;',
                    hash="399cd73dda7831bdfe5cbf583eab56c3051d82ed",
                    operation="UPDATE",
                    pgid="pgtrigger_history_update_5780b",
                    table="socialaccount_socialaccount",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="outsideaccount",
            trigger=pgtrigger.compiler.Trigger(
                name="history_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "staff_outsideaccounthistory" ("date_joined", "id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "provider", "uid", "user_id") VALUES (OLD."date_joined", OLD."id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'delete\', OLD."id", OLD."provider", OLD."uid", OLD."user_id"); RETURN NULL;',
                    hash="ca94b2589bbc76dd43f02a24506f84a4882bbf58",
                    operation="DELETE",
                    pgid="pgtrigger_history_delete_0c8d9",
                    table="socialaccount_socialaccount",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="factor",
            trigger=pgtrigger.compiler.Trigger(
                name="history_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "staff_factorhistory" ("created_at", "id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "type", "user_id") VALUES (NEW."created_at", NEW."id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'insert\', NEW."id", NEW."type", NEW."user_id"); RETURN NULL;',
                    hash="769e6125c274a4ab88c9c0efd5b16eadc42b6938",
                    operation="INSERT",
                    pgid="pgtrigger_history_insert_b762b",
                    table="mfa_authenticator",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="factor",
            trigger=pgtrigger.compiler.Trigger(
                name="history_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."created_at" IS DISTINCT FROM (NEW."created_at") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."type" IS DISTINCT FROM (NEW."type") OR OLD."user_id" IS DISTINCT FROM (NEW."user_id"))',
                    func='INSERT INTO "staff_factorhistory" ("created_at", "id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "type", "user_id") VALUES (NEW."created_at", NEW."id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'update\', NEW."id", NEW."type", NEW."user_id"); RETURN NULL;',
                    hash="000aefb4a06af32dd5382cf9cac4988387fe7283",
                    operation="UPDATE",
                    pgid="pgtrigger_history_update_429a6",
                    table="mfa_authenticator",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="factor",
            trigger=pgtrigger.compiler.Trigger(
                name="history_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "staff_factorhistory" ("created_at", "id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "type", "user_id") VALUES (OLD."created_at", OLD."id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'delete\', OLD."id", OLD."type", OLD."user_id"); RETURN NULL;',
                    hash="ea5c2635634a091561b1bccef33591a1ad71e31e",
                    operation="DELETE",
                    pgid="pgtrigger_history_delete_b5b3d",
                    table="mfa_authenticator",
                    when="AFTER",
                ),
            ),
        ),
        migrations.RunPython(make_roles, migrations.RunPython.noop),
        migrations.RunPython(begin, migrations.RunPython.noop),
    ]
