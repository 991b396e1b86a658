import django.db.models.deletion
import django.db.models.expressions
import pghistory.utils
import pgtrigger.compiler
from django.conf import settings
from django.db import migrations, models

import core.transactions


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("branches", "0001_initial"),
        ("catalogue", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="SummedDay",
            fields=[
                ("day", models.DateField(primary_key=True, serialize=False)),
                ("summed_at", models.DateTimeField()),
                ("off_by", models.BigIntegerField(default=0)),
            ],
            options={
                "default_permissions": (),
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="8a27fdb205bbeaa239da3ec4b418b82e58045779",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_10737",
                            table="earnings_summedday",
                            when="BEFORE",
                        ),
                    ),
                ],
                "indexes": [models.Index(condition=models.Q(("off_by__gt", 0)), fields=["day"], name="summed_day_off")],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("off_by__gte", 0)), name="summed_day_off_by_a_size")
                ],
            },
        ),
        migrations.CreateModel(
            name="DaySum",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                ("by", models.CharField(max_length=7)),
                ("method", models.CharField(blank=True, max_length=20)),
                (
                    "branch",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="branches.branch",
                    ),
                ),
                ("placed", models.IntegerField()),
                ("sold", models.IntegerField()),
                ("failed", models.IntegerField()),
                ("reversed", models.IntegerField()),
                ("sales", models.BigIntegerField()),
                ("cost", models.BigIntegerField()),
                ("seconds", models.BigIntegerField()),
                (
                    "product",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="catalogue.product",
                    ),
                ),
                (
                    "seller",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "day",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="sums",
                        to="earnings.summedday",
                    ),
                ),
            ],
            options={
                "default_permissions": (),
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="be3ba1dd3abcaee3b8f2425aec09212005f45780",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_8821d",
                            table="earnings_daysum",
                            when="BEFORE",
                        ),
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("by", "day", "product", "seller", "method", "branch"),
                        name="day_sum_once",
                        nulls_distinct=False,
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("branch__isnull", True),
                                ("by", "product"),
                                ("method", ""),
                                ("product__isnull", False),
                                ("seller__isnull", True),
                            ),
                            models.Q(
                                ("branch__isnull", True), ("by", "person"), ("method", ""), ("product__isnull", True)
                            ),
                            models.Q(
                                ("branch__isnull", True),
                                ("by", "method"),
                                ("product__isnull", True),
                                ("seller__isnull", True),
                                models.Q(("method", ""), _negated=True),
                            ),
                            models.Q(
                                ("branch__isnull", False),
                                ("by", "branch"),
                                ("method", ""),
                                ("product__isnull", True),
                                ("seller__isnull", True),
                            ),
                            _connector="OR",
                        ),
                        name="day_sum_by_one_key",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("failed__gte", 0),
                            ("reversed__gte", 0),
                            ("sold__gte", 0),
                            (
                                "placed__gte",
                                django.db.models.expressions.CombinedExpression(
                                    django.db.models.expressions.CombinedExpression(
                                        models.F("sold"), "+", models.F("failed")
                                    ),
                                    "+",
                                    models.F("reversed"),
                                ),
                            ),
                        ),
                        name="day_sum_of_its_orders",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("cost__gte", 0),
                            ("sales__gte", 0),
                            ("seconds__gte", 0),
                            models.Q(
                                ("sold__gt", 0), models.Q(("cost", 0), ("sales", 0), ("seconds", 0)), _connector="OR"
                            ),
                        ),
                        name="day_sum_of_what_arrived",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="JournalAccounts",
            fields=[
                ("only", models.BooleanField(default=True, editable=False, primary_key=True, serialize=False)),
                ("names", models.JSONField(default=dict)),
            ],
            options={
                "default_permissions": (),
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="history_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "earnings_journalaccountshistory" ("names", "only", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id") VALUES (NEW."names", NEW."only", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'insert\', NEW."only"); RETURN NULL;',
                            hash="4d2ab2eef176e4919938138df725bd6d66cbf7cd",
                            operation="INSERT",
                            pgid="pgtrigger_history_insert_b4aca",
                            table="earnings_journalaccounts",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                            func='INSERT INTO "earnings_journalaccountshistory" ("names", "only", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id") VALUES (NEW."names", NEW."only", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'update\', NEW."only"); RETURN NULL;',
                            hash="a019be2471c8c6e6371ff013bf72da35ec496382",
                            operation="UPDATE",
                            pgid="pgtrigger_history_update_9066d",
                            table="earnings_journalaccounts",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "earnings_journalaccountshistory" ("names", "only", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id") VALUES (OLD."names", OLD."only", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'delete\', OLD."only"); RETURN NULL;',
                            hash="d26eafddcf31b05075af8322075f54dab3582a5d",
                            operation="DELETE",
                            pgid="pgtrigger_history_delete_c18e2",
                            table="earnings_journalaccounts",
                            when="AFTER",
                        ),
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("only", True)), name="journal_accounts_are_one_row")
                ],
            },
        ),
        migrations.CreateModel(
            name="JournalAccountsHistory",
            fields=[
                ("pgh_id", models.BigAutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField()),
                ("pgh_label", models.CharField(max_length=6)),
                ("txid", models.BigIntegerField(db_default=core.transactions.TRANSACTION_NUMBER, editable=False)),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("only", models.BooleanField(default=True, editable=False, serialize=False)),
                ("names", models.JSONField(default=dict)),
                (
                    "pgh_obj",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="history",
                        to="earnings.journalaccounts",
                    ),
                ),
            ],
            options={
                "abstract": False,
                "default_permissions": (),
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="c23342b180870b8fbc7d3d1eb73d2b0ec4aad461",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_4f626",
                            table="earnings_journalaccountshistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="d7b335cf24f9faf089dce984cc91282721a23b9d",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_fec31",
                            table="earnings_journalaccountshistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="only_copies",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (pg_trigger_depth() = 0)",
                            func="RAISE EXCEPTION 'pgtrigger: Cannot insert rows from % table', TG_TABLE_NAME;",
                            hash="eac14d86f4ee405eaf0c37bdd0ed099eb43661dc",
                            operation="INSERT",
                            pgid="pgtrigger_only_copies_b6863",
                            table="earnings_journalaccountshistory",
                            when="BEFORE",
                        ),
                    ),
                ],
                "indexes": [
                    models.Index(fields=["txid", "pgh_id"], name="journal_accounts_history_seal"),
                    models.Index(fields=["pgh_obj", "-pgh_id"], name="journal_accounts_history_row"),
                ],
            },
        ),
    ]
