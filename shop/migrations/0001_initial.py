import django.db.models.deletion
import django.db.models.lookups
import pghistory.utils
import pgtrigger.compiler
from django.db import migrations, models

import core.transactions


class Migration(migrations.Migration):
    initial = True

    dependencies = [("core", "0001_initial")]

    operations = [
        migrations.CreateModel(
            name="Logo",
            fields=[
                ("digest", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("content", models.BinaryField()),
                ("content_type", models.CharField(max_length=10)),
                ("width", models.PositiveSmallIntegerField()),
                ("height", models.PositiveSmallIntegerField()),
            ],
            options={
                "default_permissions": (),
                "constraints": [
                    models.CheckConstraint(
                        condition=django.db.models.lookups.Exact(
                            models.F("digest"),
                            models.Func(
                                models.Func(models.F("content"), function="sha256"),
                                models.Value("hex"),
                                function="encode",
                            ),
                        ),
                        name="logo_named_by_its_content",
                    ),
                    models.CheckConstraint(
                        condition=django.db.models.lookups.LessThanOrEqual(
                            models.Func(models.F("content"), function="octet_length"), models.Value(262144)
                        ),
                        name="logo_is_small",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("content_type__in", ["image/png", "image/jpeg", "image/webp"])),
                        name="logo_type_is_known",
                    ),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="bc07758ff5c63da736a8b701b33c5045ca66bf03",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_ee57b",
                            table="shop_logo",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="36c70eb0256413e56315f22f3a87634f48de8069",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_c2b36",
                            table="shop_logo",
                            when="BEFORE",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Shop",
            fields=[
                ("only", models.BooleanField(default=True, editable=False, primary_key=True, serialize=False)),
                ("name", models.CharField(max_length=60)),
                ("address", models.CharField(blank=True, max_length=200)),
                ("phone", models.CharField(blank=True, max_length=20)),
                ("footer", models.CharField(blank=True, max_length=400)),
                (
                    "logo",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="shop.logo",
                    ),
                ),
                ("paper", models.CharField(default="58", max_length=2)),
                ("language", models.CharField(blank=True, max_length=10)),
                ("saved_at", models.DateTimeField(null=True)),
                ("set_up_at", models.DateTimeField(null=True)),
            ],
            options={
                "permissions": [("change_settings", "Can change settings")],
                "default_permissions": (),
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("only", True)), name="shop_is_one_row"),
                    models.CheckConstraint(condition=models.Q(("name", ""), _negated=True), name="shop_has_a_name"),
                    models.CheckConstraint(
                        condition=models.Q(("paper__in", ["58", "80", "a5"])), name="shop_paper_is_known"
                    ),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="history_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "shop_shophistory" ("address", "footer", "language", "logo_id", "name", "only", "paper", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "phone", "saved_at", "set_up_at") VALUES (NEW."address", NEW."footer", NEW."language", NEW."logo_id", NEW."name", NEW."only", NEW."paper", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'insert\', NEW."only", NEW."phone", NEW."saved_at", NEW."set_up_at"); RETURN NULL;',
                            hash="109b8f0173271b11760105d67763fbcfd9edc57d",
                            operation="INSERT",
                            pgid="pgtrigger_history_insert_1c94f",
                            table="shop_shop",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                            func='INSERT INTO "shop_shophistory" ("address", "footer", "language", "logo_id", "name", "only", "paper", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "phone", "saved_at", "set_up_at") VALUES (NEW."address", NEW."footer", NEW."language", NEW."logo_id", NEW."name", NEW."only", NEW."paper", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'update\', NEW."only", NEW."phone", NEW."saved_at", NEW."set_up_at"); RETURN NULL;',
                            hash="acd8e8fcfe5e6d64874726044f2705aaf76ccf9a",
                            operation="UPDATE",
                            pgid="pgtrigger_history_update_fa0d9",
                            table="shop_shop",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "shop_shophistory" ("address", "footer", "language", "logo_id", "name", "only", "paper", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "phone", "saved_at", "set_up_at") VALUES (OLD."address", OLD."footer", OLD."language", OLD."logo_id", OLD."name", OLD."only", OLD."paper", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'delete\', OLD."only", OLD."phone", OLD."saved_at", OLD."set_up_at"); RETURN NULL;',
                            hash="fe6bd90c73c81fe2bcd68b0185709029ffa82fd0",
                            operation="DELETE",
                            pgid="pgtrigger_history_delete_4cf74",
                            table="shop_shop",
                            when="AFTER",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ShopHistory",
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
                        to="shop.shop",
                    ),
                ),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("only", models.BooleanField(default=True, editable=False, serialize=False)),
                ("name", models.CharField(max_length=60)),
                ("address", models.CharField(blank=True, max_length=200)),
                ("phone", models.CharField(blank=True, max_length=20)),
                ("footer", models.CharField(blank=True, max_length=400)),
                (
                    "logo",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="shop.logo",
                    ),
                ),
                ("paper", models.CharField(default="58", max_length=2)),
                ("language", models.CharField(blank=True, max_length=10)),
                ("saved_at", models.DateTimeField(null=True)),
                ("set_up_at", models.DateTimeField(null=True)),
            ],
            options={
                "abstract": False,
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["txid", "pgh_id"], name="shop_history_seal"),
                    models.Index(fields=["pgh_obj", "-pgh_id"], name="shop_history_row"),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="4adcacd12a8f288a4b461a82d85fd46878da8eaa",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_63bed",
                            table="shop_shophistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="2c27fd9355b4211e89f85c45cd99ec78318f74d2",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_1028a",
                            table="shop_shophistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="only_copies",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (pg_trigger_depth() = 0)",
                            func="RAISE EXCEPTION 'pgtrigger: Cannot insert rows from % table', TG_TABLE_NAME;",
                            hash="20cf7ec8fddd9c4f3ed795ceea8e8aed6cd3498e",
                            operation="INSERT",
                            pgid="pgtrigger_only_copies_75a8c",
                            table="shop_shophistory",
                            when="BEFORE",
                        ),
                    ),
                ],
            },
        ),
    ]
