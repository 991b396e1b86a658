import django.db.models.deletion
import django.utils.timezone
import pghistory.utils
import pgtrigger.compiler
from django.db import migrations, models

import catalogue.destinations
import core.transactions


class Migration(migrations.Migration):
    initial = True

    dependencies = [("core", "0001_initial")]

    operations = [
        migrations.CreateModel(
            name="Category",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                ("code", models.CharField(max_length=100, unique=True)),
                ("name", models.CharField(max_length=1000)),
                ("type", models.CharField(max_length=8)),
                ("is_listed", models.BooleanField(default=True)),
                ("bought", models.IntegerField(default=0)),
            ],
            options={"verbose_name_plural": "categories", "ordering": ["name"]},
        ),
        migrations.CreateModel(
            name="CatalogueSync",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                ("started_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("finished_at", models.DateTimeField(null=True)),
                ("result", models.CharField(default="running", max_length=8)),
                ("products", models.IntegerField(default=0)),
                ("added", models.IntegerField(default=0)),
                ("delisted", models.IntegerField(default=0)),
                ("price_changes", models.IntegerField(default=0)),
                ("fault", models.CharField(blank=True, max_length=20)),
                ("fault_detail", models.CharField(blank=True, max_length=300)),
            ],
            options={
                "ordering": ["-started_at"],
                "permissions": [("sync_catalogue", "Can sync catalogue")],
                "default_permissions": (),
                "indexes": [models.Index(fields=["-started_at"], name="catalogue_sync_newest")],
            },
        ),
        migrations.CreateModel(
            name="Brand",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "category",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="brands", to="catalogue.category"
                    ),
                ),
                ("code", models.CharField(max_length=100)),
                ("name", models.CharField(max_length=1000)),
                ("is_listed", models.BooleanField(default=True)),
            ],
            options={
                "ordering": ["name"],
                "constraints": [models.UniqueConstraint(fields=("category", "code"), name="brand_once_per_category")],
            },
        ),
        migrations.CreateModel(
            name="Product",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                ("code", models.CharField(max_length=100, unique=True)),
                ("name", models.CharField(max_length=1000)),
                (
                    "category",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="products", to="catalogue.category"
                    ),
                ),
                (
                    "brand",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="products", to="catalogue.brand"
                    ),
                ),
                ("type", models.CharField(max_length=8)),
                ("kind", catalogue.destinations.KindField(default=catalogue.destinations.general_kind, max_length=20)),
                ("kind_source", models.CharField(default="unknown", max_length=8)),
                ("price", models.BigIntegerField()),
                ("admin_fee", models.BigIntegerField(default=0)),
                ("selling_price", models.BigIntegerField(null=True)),
                ("fee", models.BigIntegerField(default=0)),
                ("availability", models.CharField(max_length=8)),
                ("description", models.TextField(blank=True)),
                ("cut_off_start", models.TimeField(blank=True, null=True)),
                ("cut_off_end", models.TimeField(blank=True, null=True)),
                ("is_listed", models.BooleanField(default=True)),
                ("bought", models.IntegerField(default=0)),
                ("updated_at", models.DateTimeField(auto_now=True)),
            ],
            options={
                "ordering": ["category__name", "brand__name", "price", "name"],
                "permissions": [("view_product", "Can view product"), ("view_cost", "Can view cost")],
                "default_permissions": (),
                "indexes": [models.Index(fields=["brand", "price"], name="product_by_brand_price")],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("price__gte", 0)), name="product_price_not_negative"),
                    models.CheckConstraint(
                        condition=models.Q(("admin_fee__gte", 0)), name="product_admin_fee_not_negative"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("kind_source__in", ["names", "shop", "kept", "unknown"])),
                        name="product_kind_source_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("selling_price__isnull", True),
                            models.Q(("selling_price__gt", 0), ("type", "prepaid")),
                            _connector="OR",
                        ),
                        name="product_selling_price_positive",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("fee", 0), models.Q(("fee__gt", 0), ("type", "postpaid")), _connector="OR"),
                        name="product_fee_of_a_bill",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="KindCorrection",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "category",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="kind_correction",
                        to="catalogue.category",
                    ),
                ),
                (
                    "product",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="kind_correction",
                        to="catalogue.product",
                    ),
                ),
                ("kind", catalogue.destinations.KindField(default=catalogue.destinations.general_kind, max_length=20)),
                ("changed_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                "default_permissions": (),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("category", None), ("product__isnull", False)),
                            models.Q(("category__isnull", False), ("product", None)),
                            _connector="OR",
                        ),
                        name="kind_correction_of_one_thing",
                    )
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="bca2e9c4e8f02120cab1231d8f48328de752e128",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_e9827",
                            table="catalogue_kindcorrection",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "catalogue_kindcorrectionhistory" ("category_id", "changed_at", "id", "kind", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "product_id") VALUES (NEW."category_id", NEW."changed_at", NEW."id", NEW."kind", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'insert\', NEW."id", NEW."product_id"); RETURN NULL;',
                            hash="bbf76efbc1c281b0771ba48ac5987915f9ce40b9",
                            operation="INSERT",
                            pgid="pgtrigger_history_insert_c8749",
                            table="catalogue_kindcorrection",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                            func='INSERT INTO "catalogue_kindcorrectionhistory" ("category_id", "changed_at", "id", "kind", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "product_id") VALUES (NEW."category_id", NEW."changed_at", NEW."id", NEW."kind", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'update\', NEW."id", NEW."product_id"); RETURN NULL;',
                            hash="4ad47acdb15109cb8797ac6dcc398a47d874045d",
                            operation="UPDATE",
                            pgid="pgtrigger_history_update_04b62",
                            table="catalogue_kindcorrection",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "catalogue_kindcorrectionhistory" ("category_id", "changed_at", "id", "kind", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "product_id") VALUES (OLD."category_id", OLD."changed_at", OLD."id", OLD."kind", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'delete\', OLD."id", OLD."product_id"); RETURN NULL;',
                            hash="3f18ce449f36cc43ff14daedf47a4ebf3f54faa7",
                            operation="DELETE",
                            pgid="pgtrigger_history_delete_b2566",
                            table="catalogue_kindcorrection",
                            when="AFTER",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="PriceRule",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                ("type", models.CharField(max_length=8)),
                (
                    "category",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="price_rules",
                        to="catalogue.category",
                    ),
                ),
                (
                    "brand",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="price_rules",
                        to="catalogue.brand",
                    ),
                ),
                (
                    "product",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="price_rules",
                        to="catalogue.product",
                    ),
                ),
                ("kind", models.CharField(max_length=8)),
                ("value", models.BigIntegerField()),
                ("round_to", models.IntegerField(default=1)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("changed_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("ended_at", models.DateTimeField(null=True)),
            ],
            options={
                "ordering": ["type", "category", "brand", "product"],
                "permissions": [("change_pricerule", "Can change pricerule")],
                "default_permissions": (),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("brand", None), ("product", None)),
                            models.Q(("category", None), ("product", None)),
                            models.Q(("brand", None), ("category", None)),
                            _connector="OR",
                        ),
                        name="price_rule_for_one_thing",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("kind", "fixed"), ("value__range", (1, 1000000000))),
                            models.Q(("kind", "plus"), ("value__range", (0, 1000000000))),
                            models.Q(("kind", "percent"), ("value__range", (0, 100000))),
                            _connector="OR",
                        ),
                        name="price_rule_value_makes_sense",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("round_to__in", (1, 100, 500, 1000))), name="price_rule_rounding_known"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("type", "prepaid"),
                            models.Q(("kind", "plus"), ("round_to", 1), ("type", "postpaid")),
                            _connector="OR",
                        ),
                        name="price_rule_of_bills_is_a_fee",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("ended_at", None)),
                        fields=("category",),
                        name="price_rule_once_for_each_category",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("ended_at", None)), fields=("brand",), name="price_rule_once_for_each_brand"
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("ended_at", None)),
                        fields=("product",),
                        name="price_rule_once_for_each_product",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("brand", None), ("category", None), ("ended_at", None), ("product", None)),
                        fields=("type",),
                        name="price_rule_once_for_everything",
                    ),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="target_never_changes",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition='WHEN (OLD."type" IS DISTINCT FROM (NEW."type") OR OLD."category_id" IS DISTINCT FROM (NEW."category_id") OR OLD."brand_id" IS DISTINCT FROM (NEW."brand_id") OR OLD."product_id" IS DISTINCT FROM (NEW."product_id") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at"))',
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                            hash="64ef84017c525a2627215251f3876214dfe92b85",
                            operation="UPDATE",
                            pgid="pgtrigger_target_never_changes_e5c56",
                            table="catalogue_pricerule",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="ended_once",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition='WHEN (OLD."ended_at" IS NOT NULL)',
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                            hash="620b91acc9bede4c383fa234da5491a62d20cb9f",
                            operation="UPDATE",
                            pgid="pgtrigger_ended_once_57f3b",
                            table="catalogue_pricerule",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_deleted",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;",
                            hash="aa2f2638d7c09e417cf4088eaee786c089b318bf",
                            operation="DELETE",
                            pgid="pgtrigger_never_deleted_39894",
                            table="catalogue_pricerule",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="8bfeb62202db6a543335abce978eac8b4ea4cd8c",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_ed8c9",
                            table="catalogue_pricerule",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "catalogue_pricerulehistory" ("brand_id", "category_id", "changed_at", "created_at", "ended_at", "id", "kind", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "product_id", "round_to", "type", "value") VALUES (NEW."brand_id", NEW."category_id", NEW."changed_at", NEW."created_at", NEW."ended_at", NEW."id", NEW."kind", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'insert\', NEW."id", NEW."product_id", NEW."round_to", NEW."type", NEW."value"); RETURN NULL;',
                            hash="706bcf7feb8090cdef5c028d08fc2b93fdbcdb6f",
                            operation="INSERT",
                            pgid="pgtrigger_history_insert_9f3c5",
                            table="catalogue_pricerule",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                            func='INSERT INTO "catalogue_pricerulehistory" ("brand_id", "category_id", "changed_at", "created_at", "ended_at", "id", "kind", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "product_id", "round_to", "type", "value") VALUES (NEW."brand_id", NEW."category_id", NEW."changed_at", NEW."created_at", NEW."ended_at", NEW."id", NEW."kind", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'update\', NEW."id", NEW."product_id", NEW."round_to", NEW."type", NEW."value"); RETURN NULL;',
                            hash="e12aa998c6ddcbf67cdd4834c7a76b4487935e78",
                            operation="UPDATE",
                            pgid="pgtrigger_history_update_e0570",
                            table="catalogue_pricerule",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "catalogue_pricerulehistory" ("brand_id", "category_id", "changed_at", "created_at", "ended_at", "id", "kind", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "product_id", "round_to", "type", "value") VALUES (OLD."brand_id", OLD."category_id", OLD."changed_at", OLD."created_at", OLD."ended_at", OLD."id", OLD."kind", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'delete\', OLD."id", OLD."product_id", OLD."round_to", OLD."type", OLD."value"); RETURN NULL;',
                            hash="a51315f5d4764a2b46f0ab8fc9fbf499fc28d034",
                            operation="DELETE",
                            pgid="pgtrigger_history_delete_5e6fa",
                            table="catalogue_pricerule",
                            when="AFTER",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ProductHealth",
            fields=[
                (
                    "product",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="health",
                        serialize=False,
                        to="catalogue.product",
                    ),
                ),
                ("ended", models.SmallIntegerField()),
                ("failed", models.SmallIntegerField()),
                ("failing_until", models.DateTimeField(null=True)),
                ("slow_until", models.DateTimeField(null=True)),
                ("counted_at", models.DateTimeField()),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("ended__lte", 10), ("failed__gte", 0), ("failed__lte", models.F("ended"))),
                        name="health_counts_add_up",
                    )
                ]
            },
        ),
        migrations.CreateModel(
            name="PriceRuleHistory",
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
                        to="catalogue.pricerule",
                    ),
                ),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("id", models.BigIntegerField()),
                ("type", models.CharField(max_length=8)),
                (
                    "category",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="catalogue.category",
                    ),
                ),
                (
                    "brand",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="catalogue.brand",
                    ),
                ),
                (
                    "product",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="catalogue.product",
                    ),
                ),
                ("kind", models.CharField(max_length=8)),
                ("value", models.BigIntegerField()),
                ("round_to", models.IntegerField(default=1)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("changed_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("ended_at", models.DateTimeField(null=True)),
            ],
            options={
                "abstract": False,
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["txid", "pgh_id"], name="price_rule_history_seal"),
                    models.Index(fields=["pgh_obj", "-pgh_id"], name="price_rule_history_row"),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="1209e305f960269207fef1d20352689f845e83d8",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_7ac87",
                            table="catalogue_pricerulehistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="8610ea09348727ffb0a1279b02494212ef2697cd",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_2b741",
                            table="catalogue_pricerulehistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="only_copies",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (pg_trigger_depth() = 0)",
                            func="RAISE EXCEPTION 'pgtrigger: Cannot insert rows from % table', TG_TABLE_NAME;",
                            hash="b0c54a5636243b2273064cc0b40054525ecd494c",
                            operation="INSERT",
                            pgid="pgtrigger_only_copies_53cf2",
                            table="catalogue_pricerulehistory",
                            when="BEFORE",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="PriceChange",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "product",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="price_changes",
                        to="catalogue.product",
                    ),
                ),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                ("price_before", models.BigIntegerField(null=True)),
                ("price", models.BigIntegerField()),
                ("admin_fee", models.BigIntegerField(default=0)),
                ("txid", models.BigIntegerField(db_default=core.transactions.TRANSACTION_NUMBER, editable=False)),
            ],
            options={
                "ordering": ["-at"],
                "permissions": [("view_pricechange", "Can view pricechange")],
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["product", "-at"], name="price_change_of_product"),
                    models.Index(fields=["-at", "-id"], name="price_change_newest"),
                    models.Index(fields=["txid", "id"], name="price_change_to_seal"),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="0f5493289f1bd9634f46c1c0a8f5dd2833917358",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_d6861",
                            table="catalogue_pricechange",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="08ec036ca1c7a1e0c2fd00c4db718c68bcb14b6c",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_1fc12",
                            table="catalogue_pricechange",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="own_transaction",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (NEW.txid <> transaction_number())",
                            func="NEW.txid = transaction_number(); RETURN NEW;",
                            hash="442e992f1ddcacdbaf2ff7d7d1ce0336cc5fd9fa",
                            operation="INSERT",
                            pgid="pgtrigger_own_transaction_ee25e",
                            table="catalogue_pricechange",
                            when="BEFORE",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="KindCorrectionHistory",
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
                        to="catalogue.kindcorrection",
                    ),
                ),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("id", models.BigIntegerField()),
                (
                    "category",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="catalogue.category",
                    ),
                ),
                (
                    "product",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="catalogue.product",
                    ),
                ),
                ("kind", catalogue.destinations.KindField(default=catalogue.destinations.general_kind, max_length=20)),
                ("changed_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                "abstract": False,
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["txid", "pgh_id"], name="kind_correction_history_seal"),
                    models.Index(fields=["pgh_obj", "-pgh_id"], name="kind_correction_history_row"),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="173c760e01a0b2413bbd1bc3011623b6676f33c1",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_11fa6",
                            table="catalogue_kindcorrectionhistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="959c85aad381055ba8c5dec7c5c3dcb63c3edf62",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_6cc35",
                            table="catalogue_kindcorrectionhistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="only_copies",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (pg_trigger_depth() = 0)",
                            func="RAISE EXCEPTION 'pgtrigger: Cannot insert rows from % table', TG_TABLE_NAME;",
                            hash="999574d98ef078b5e9aa96573db2b1e112d48b31",
                            operation="INSERT",
                            pgid="pgtrigger_only_copies_1c370",
                            table="catalogue_kindcorrectionhistory",
                            when="BEFORE",
                        ),
                    ),
                ],
            },
        ),
    ]
