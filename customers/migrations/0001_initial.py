import django.contrib.postgres.indexes
import django.contrib.postgres.search
import django.db.models.deletion
import django.db.models.functions.text
import django.utils.timezone
import pghistory.utils
import pgtrigger.compiler
from django.conf import settings
from django.db import migrations, models

import catalogue.destinations
import core.transactions


class Migration(migrations.Migration):
    initial = True

    dependencies = [("catalogue", "0001_initial"), ("core", "0001_initial"), ("staff", "0001_initial")]

    operations = [
        migrations.CreateModel(
            name="Customer",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                ("name", models.CharField(max_length=120)),
                ("note", models.CharField(blank=True, max_length=300)),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                "ordering": ["name", "pk"],
                "permissions": [
                    ("view_customer", "Can view customer"),
                    ("add_customer", "Can add customer"),
                    ("change_customer", "Can change customer"),
                    ("delete_customer", "Can delete customer"),
                    ("import_customers", "Can import customers"),
                ],
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["name", "id"], name="customer_by_name"),
                    models.Index(django.db.models.functions.text.Upper("name"), name="customer_by_any_name"),
                    django.contrib.postgres.indexes.GinIndex(
                        django.contrib.postgres.search.SearchVector("name", "note", config="simple"),
                        name="customer_by_words",
                    ),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="bc763b8b687c55ad0456c7efacfcc999e78ea958",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_544a1",
                            table="customers_customer",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "customers_customerhistory" ("created_at", "created_by_id", "id", "name", "note", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id") VALUES (NEW."created_at", NEW."created_by_id", NEW."id", NEW."name", NEW."note", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'insert\', NEW."id"); RETURN NULL;',
                            hash="22a59b0ea175b95007888b76199f1d2b55d30003",
                            operation="INSERT",
                            pgid="pgtrigger_history_insert_a9f42",
                            table="customers_customer",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                            func='INSERT INTO "customers_customerhistory" ("created_at", "created_by_id", "id", "name", "note", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id") VALUES (NEW."created_at", NEW."created_by_id", NEW."id", NEW."name", NEW."note", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'update\', NEW."id"); RETURN NULL;',
                            hash="7faecabbcb6049b7510e3e227c230710b3adaeda",
                            operation="UPDATE",
                            pgid="pgtrigger_history_update_fa1d9",
                            table="customers_customer",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "customers_customerhistory" ("created_at", "created_by_id", "id", "name", "note", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id") VALUES (OLD."created_at", OLD."created_by_id", OLD."id", OLD."name", OLD."note", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'delete\', OLD."id"); RETURN NULL;',
                            hash="9eb673ed2c8ed746bc6f4bd0b9d8163f9d220d7c",
                            operation="DELETE",
                            pgid="pgtrigger_history_delete_b2339",
                            table="customers_customer",
                            when="AFTER",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="CustomerHistory",
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
                        to="customers.customer",
                    ),
                ),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("id", models.BigIntegerField()),
                ("name", models.CharField(max_length=120)),
                ("note", models.CharField(blank=True, max_length=300)),
                (
                    "created_by",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                "abstract": False,
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["txid", "pgh_id"], name="customer_history_seal"),
                    models.Index(fields=["pgh_obj", "-pgh_id"], name="customer_history_row"),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="af4c4d925ecb890dde7160b363cc19b96c59875c",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_7118b",
                            table="customers_customerhistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="3a1b630c6a4636184e4b35f213916ef2eb1956f7",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_efdb3",
                            table="customers_customerhistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="only_copies",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (pg_trigger_depth() = 0)",
                            func="RAISE EXCEPTION 'pgtrigger: Cannot insert rows from % table', TG_TABLE_NAME;",
                            hash="ce081137437b84fb1eec107cb9c12aaac232d25f",
                            operation="INSERT",
                            pgid="pgtrigger_only_copies_6d83f",
                            table="customers_customerhistory",
                            when="BEFORE",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="SavedNumber",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "customer",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="numbers", to="customers.customer"
                    ),
                ),
                ("destination", models.CharField(max_length=64)),
                ("kind", catalogue.destinations.KindField(default=catalogue.destinations.general_kind, max_length=20)),
                (
                    "product",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="catalogue.product",
                    ),
                ),
                ("note", models.CharField(blank=True, max_length=120)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                "ordering": ["customer__name", "destination"],
                "indexes": [
                    models.Index(
                        fields=["destination", "-created_at", "-id"],
                        name="saved_number_begins",
                        opclasses=["varchar_pattern_ops", "timestamptz_ops", "int8_ops"],
                    ),
                    models.Index(
                        django.contrib.postgres.indexes.OpClass(
                            django.db.models.functions.text.Reverse("destination"), "text_pattern_ops"
                        ),
                        name="saved_number_ends",
                    ),
                    django.contrib.postgres.indexes.GinIndex(
                        django.contrib.postgres.search.SearchVector("note", config="simple"),
                        name="saved_number_by_words",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("customer", "destination", "product"), name="number_saved_once", nulls_distinct=False
                    )
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="7e2d930af119010aee4254258ba9dcc4b93ab028",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_b0e9a",
                            table="customers_savednumber",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "customers_savednumberhistory" ("created_at", "customer_id", "destination", "id", "kind", "note", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "product_id") VALUES (NEW."created_at", NEW."customer_id", NEW."destination", NEW."id", NEW."kind", NEW."note", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'insert\', NEW."id", NEW."product_id"); RETURN NULL;',
                            hash="bbf33d10ecbf5fda3c631259ef74d9c16e511ae2",
                            operation="INSERT",
                            pgid="pgtrigger_history_insert_654e0",
                            table="customers_savednumber",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                            func='INSERT INTO "customers_savednumberhistory" ("created_at", "customer_id", "destination", "id", "kind", "note", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "product_id") VALUES (NEW."created_at", NEW."customer_id", NEW."destination", NEW."id", NEW."kind", NEW."note", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'update\', NEW."id", NEW."product_id"); RETURN NULL;',
                            hash="711d597ff2f40755a875838ebb0624ed92918701",
                            operation="UPDATE",
                            pgid="pgtrigger_history_update_769cd",
                            table="customers_savednumber",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "customers_savednumberhistory" ("created_at", "customer_id", "destination", "id", "kind", "note", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "product_id") VALUES (OLD."created_at", OLD."customer_id", OLD."destination", OLD."id", OLD."kind", OLD."note", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'delete\', OLD."id", OLD."product_id"); RETURN NULL;',
                            hash="8f86d7d02b33140b32d654a98aaf4113882992d1",
                            operation="DELETE",
                            pgid="pgtrigger_history_delete_21590",
                            table="customers_savednumber",
                            when="AFTER",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="SavedNumberHistory",
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
                        to="customers.savednumber",
                    ),
                ),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("id", models.BigIntegerField()),
                (
                    "customer",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="customers.customer",
                    ),
                ),
                ("destination", models.CharField(max_length=64)),
                ("kind", catalogue.destinations.KindField(default=catalogue.destinations.general_kind, max_length=20)),
                (
                    "product",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="catalogue.product",
                    ),
                ),
                ("note", models.CharField(blank=True, max_length=120)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                "abstract": False,
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["txid", "pgh_id"], name="saved_number_history_seal"),
                    models.Index(fields=["pgh_obj", "-pgh_id"], name="saved_number_history_row"),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="0886471f27540c14fccac807373f850779a534e6",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_0ee95",
                            table="customers_savednumberhistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="5cdabdca28ccdc3393ed856f83af42eb96725675",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_d5419",
                            table="customers_savednumberhistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="only_copies",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (pg_trigger_depth() = 0)",
                            func="RAISE EXCEPTION 'pgtrigger: Cannot insert rows from % table', TG_TABLE_NAME;",
                            hash="1346e17677b9dc35f41b7bcf9c74c738a3386eda",
                            operation="INSERT",
                            pgid="pgtrigger_only_copies_fe6e9",
                            table="customers_savednumberhistory",
                            when="BEFORE",
                        ),
                    ),
                ],
            },
        ),
    ]
