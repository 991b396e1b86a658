import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.contrib.postgres.search
import django.db.models.deletion
import django.db.models.functions.text
import django.utils.timezone
import pghistory.utils
import pgtrigger.compiler
from django.conf import settings
from django.db import migrations, models

import core.transactions


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("catalogue", "0001_initial"),
        ("core", "0001_initial"),
        ("customers", "0001_initial"),
        ("purchases", "0001_initial"),
        ("staff", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="BillCheck",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                ("ref_id", models.CharField(max_length=64, unique=True)),
                (
                    "product",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="bill_checks", to="catalogue.product"
                    ),
                ),
                ("product_code", models.CharField(max_length=100)),
                ("product_name", models.CharField(max_length=1000)),
                ("destination", models.CharField(max_length=64)),
                (
                    "order",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="bill_check",
                        to="purchases.order",
                        to_field="ref_id",
                    ),
                ),
                ("answer", models.CharField(default="none", max_length=10)),
                ("customer_name", models.CharField(blank=True, max_length=1000)),
                ("period", models.CharField(blank=True, max_length=1000)),
                ("details", models.JSONField(default=list)),
                (
                    "months",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=1000), default=list, size=None
                    ),
                ),
                ("amount", models.BigIntegerField(null=True)),
                ("admin_fee", models.BigIntegerField(null=True)),
                ("penalty", models.BigIntegerField(null=True)),
                ("total", models.BigIntegerField(null=True)),
                ("expires_at", models.DateTimeField(null=True)),
                ("error_code", models.CharField(blank=True, max_length=40)),
                ("message", models.CharField(blank=True, max_length=1000)),
                (
                    "checked_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "asked_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "saved_number",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="bill_checks",
                        to="customers.savednumber",
                    ),
                ),
                ("batch", models.UUIDField(db_index=True, null=True)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("answered_at", models.DateTimeField(null=True)),
                ("polls", models.IntegerField(default=0)),
                ("next_poll_at", models.DateTimeField(null=True)),
            ],
            options={
                "ordering": ["-created_at", "-pk"],
                "permissions": [("view_billcheck", "Can view billcheck"), ("check_bill", "Can check bill")],
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["-created_at", "-id"], name="bill_check_newest"),
                    models.Index(fields=["product_code", "destination", "-created_at"], name="bill_check_by_customer"),
                    models.Index(
                        condition=models.Q(("next_poll_at__isnull", False)),
                        fields=["next_poll_at"],
                        name="bill_check_due",
                    ),
                    models.Index(fields=["expires_at"], name="bill_check_by_expiry"),
                    models.Index(
                        condition=models.Q(("answer", "none")), fields=["-created_at"], name="bill_check_unanswered"
                    ),
                    models.Index(
                        fields=["destination"], name="bill_check_by_number", opclasses=["varchar_pattern_ops"]
                    ),
                    models.Index(
                        django.contrib.postgres.indexes.OpClass(
                            django.db.models.functions.text.Reverse("destination"), "text_pattern_ops"
                        ),
                        name="bill_check_by_end_of_number",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("answer", "bill"), _negated=True),
                            models.Q(
                                ("admin_fee__gte", 0),
                                ("amount__gte", 0),
                                ("expires_at__isnull", False),
                                ("penalty__gte", 0),
                                ("total__gt", 0),
                            ),
                            _connector="OR",
                        ),
                        name="bill_check_answer_is_complete",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("answer", "none"), ("answered_at__isnull", True)),
                            models.Q(models.Q(("answer", "none"), _negated=True), ("next_poll_at__isnull", True)),
                            _connector="OR",
                        ),
                        name="bill_check_polls_until_answered",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("order__isnull", True), ("order", models.F("ref_id")), _connector="OR"),
                        name="bill_check_order_has_its_ref_id",
                    ),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="question_never_changes",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition='WHEN (OLD."ref_id" IS DISTINCT FROM (NEW."ref_id") OR OLD."product_code" IS DISTINCT FROM (NEW."product_code") OR OLD."destination" IS DISTINCT FROM (NEW."destination") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at"))',
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                            hash="4a2ca9156caa0a124e1fee2dcee624e7eb052164",
                            operation="UPDATE",
                            pgid="pgtrigger_question_never_changes_d16e5",
                            table="bills_billcheck",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_deleted",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;",
                            hash="01faa2fc63b8ea5fd85a3a0c2f838370c0aa0307",
                            operation="DELETE",
                            pgid="pgtrigger_never_deleted_db91f",
                            table="bills_billcheck",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="71a232a329411003f322da2db865fe62aa1aa3f3",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_6f805",
                            table="bills_billcheck",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="paid_for_good",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition='WHEN (OLD."admin_fee" IS DISTINCT FROM (NEW."admin_fee") OR OLD."amount" IS DISTINCT FROM (NEW."amount") OR OLD."details" IS DISTINCT FROM (NEW."details") OR OLD."months" IS DISTINCT FROM (NEW."months") OR OLD."order_id" IS DISTINCT FROM (NEW."order_id") OR OLD."penalty" IS DISTINCT FROM (NEW."penalty") OR OLD."total" IS DISTINCT FROM (NEW."total"))',
                            func="IF EXISTS (SELECT FROM purchases_order WHERE ref_id = OLD.order_id AND status IN ('success', 'reversed')) THEN RAISE EXCEPTION 'the bill % is paid: its amounts never change', OLD.ref_id; END IF; RETURN NEW;",
                            hash="2f0cc611e98260f5d8fa180f55cad1646e14500d",
                            operation="UPDATE",
                            pgid="pgtrigger_paid_for_good_c42e9",
                            table="bills_billcheck",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "bills_billcheckhistory" ("admin_fee", "amount", "answer", "answered_at", "asked_by_id", "batch", "checked_by_id", "created_at", "customer_name", "destination", "details", "error_code", "expires_at", "id", "message", "months", "order_id", "penalty", "period", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "product_code", "product_id", "product_name", "ref_id", "saved_number_id", "total") VALUES (NEW."admin_fee", NEW."amount", NEW."answer", NEW."answered_at", NEW."asked_by_id", NEW."batch", NEW."checked_by_id", NEW."created_at", NEW."customer_name", NEW."destination", NEW."details", NEW."error_code", NEW."expires_at", NEW."id", NEW."message", NEW."months", NEW."order_id", NEW."penalty", NEW."period", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'insert\', NEW."id", NEW."product_code", NEW."product_id", NEW."product_name", NEW."ref_id", NEW."saved_number_id", NEW."total"); RETURN NULL;',
                            hash="a54dd9cfcaa3b12c31d64f4d98b22151f46dd286",
                            operation="INSERT",
                            pgid="pgtrigger_history_insert_d26f5",
                            table="bills_billcheck",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition='WHEN (OLD."admin_fee" IS DISTINCT FROM (NEW."admin_fee") OR OLD."amount" IS DISTINCT FROM (NEW."amount") OR OLD."answer" IS DISTINCT FROM (NEW."answer") OR OLD."answered_at" IS DISTINCT FROM (NEW."answered_at") OR OLD."asked_by_id" IS DISTINCT FROM (NEW."asked_by_id") OR OLD."batch" IS DISTINCT FROM (NEW."batch") OR OLD."checked_by_id" IS DISTINCT FROM (NEW."checked_by_id") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at") OR OLD."customer_name" IS DISTINCT FROM (NEW."customer_name") OR OLD."destination" IS DISTINCT FROM (NEW."destination") OR OLD."details" IS DISTINCT FROM (NEW."details") OR OLD."error_code" IS DISTINCT FROM (NEW."error_code") OR OLD."expires_at" IS DISTINCT FROM (NEW."expires_at") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."message" IS DISTINCT FROM (NEW."message") OR OLD."months" IS DISTINCT FROM (NEW."months") OR OLD."order_id" IS DISTINCT FROM (NEW."order_id") OR OLD."penalty" IS DISTINCT FROM (NEW."penalty") OR OLD."period" IS DISTINCT FROM (NEW."period") OR OLD."product_id" IS DISTINCT FROM (NEW."product_id") OR OLD."product_code" IS DISTINCT FROM (NEW."product_code") OR OLD."product_name" IS DISTINCT FROM (NEW."product_name") OR OLD."ref_id" IS DISTINCT FROM (NEW."ref_id") OR OLD."saved_number_id" IS DISTINCT FROM (NEW."saved_number_id") OR OLD."total" IS DISTINCT FROM (NEW."total"))',
                            func='INSERT INTO "bills_billcheckhistory" ("admin_fee", "amount", "answer", "answered_at", "asked_by_id", "batch", "checked_by_id", "created_at", "customer_name", "destination", "details", "error_code", "expires_at", "id", "message", "months", "order_id", "penalty", "period", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "product_code", "product_id", "product_name", "ref_id", "saved_number_id", "total") VALUES (NEW."admin_fee", NEW."amount", NEW."answer", NEW."answered_at", NEW."asked_by_id", NEW."batch", NEW."checked_by_id", NEW."created_at", NEW."customer_name", NEW."destination", NEW."details", NEW."error_code", NEW."expires_at", NEW."id", NEW."message", NEW."months", NEW."order_id", NEW."penalty", NEW."period", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'update\', NEW."id", NEW."product_code", NEW."product_id", NEW."product_name", NEW."ref_id", NEW."saved_number_id", NEW."total"); RETURN NULL;',
                            hash="2418f5743c79e3cd117a51a53d466ef408b4ec62",
                            operation="UPDATE",
                            pgid="pgtrigger_history_update_c080d",
                            table="bills_billcheck",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "bills_billcheckhistory" ("admin_fee", "amount", "answer", "answered_at", "asked_by_id", "batch", "checked_by_id", "created_at", "customer_name", "destination", "details", "error_code", "expires_at", "id", "message", "months", "order_id", "penalty", "period", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "product_code", "product_id", "product_name", "ref_id", "saved_number_id", "total") VALUES (OLD."admin_fee", OLD."amount", OLD."answer", OLD."answered_at", OLD."asked_by_id", OLD."batch", OLD."checked_by_id", OLD."created_at", OLD."customer_name", OLD."destination", OLD."details", OLD."error_code", OLD."expires_at", OLD."id", OLD."message", OLD."months", OLD."order_id", OLD."penalty", OLD."period", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'delete\', OLD."id", OLD."product_code", OLD."product_id", OLD."product_name", OLD."ref_id", OLD."saved_number_id", OLD."total"); RETURN NULL;',
                            hash="75a66f33857b9f7be2d19421dc6ee0351b318716",
                            operation="DELETE",
                            pgid="pgtrigger_history_delete_c32a9",
                            table="bills_billcheck",
                            when="AFTER",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="BillCheckHistory",
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
                        to="bills.billcheck",
                    ),
                ),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("id", models.BigIntegerField()),
                ("ref_id", models.CharField(max_length=64)),
                (
                    "product",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="catalogue.product",
                    ),
                ),
                ("product_code", models.CharField(max_length=100)),
                ("product_name", models.CharField(max_length=1000)),
                ("destination", models.CharField(max_length=64)),
                (
                    "order",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="purchases.order",
                        to_field="ref_id",
                    ),
                ),
                ("answer", models.CharField(default="none", max_length=10)),
                ("customer_name", models.CharField(blank=True, max_length=1000)),
                ("period", models.CharField(blank=True, max_length=1000)),
                ("details", models.JSONField(default=list)),
                (
                    "months",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=1000), default=list, size=None
                    ),
                ),
                ("amount", models.BigIntegerField(null=True)),
                ("admin_fee", models.BigIntegerField(null=True)),
                ("penalty", models.BigIntegerField(null=True)),
                ("total", models.BigIntegerField(null=True)),
                ("expires_at", models.DateTimeField(null=True)),
                ("error_code", models.CharField(blank=True, max_length=40)),
                ("message", models.CharField(blank=True, max_length=1000)),
                (
                    "checked_by",
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
                (
                    "asked_by",
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
                (
                    "saved_number",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="customers.savednumber",
                    ),
                ),
                ("batch", models.UUIDField(null=True)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("answered_at", models.DateTimeField(null=True)),
            ],
            options={
                "abstract": False,
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["txid", "pgh_id"], name="bill_check_history_seal"),
                    models.Index(fields=["pgh_obj", "-pgh_id"], name="bill_check_history_row"),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="fb72d8dab072e9c072e6d188dcfd6d450777e538",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_60090",
                            table="bills_billcheckhistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="c3df04a819bde72d38d2bcd373bc7285ff8e0aad",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_6bca4",
                            table="bills_billcheckhistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="only_copies",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (pg_trigger_depth() = 0)",
                            func="RAISE EXCEPTION 'pgtrigger: Cannot insert rows from % table', TG_TABLE_NAME;",
                            hash="950a3ebb8a169838334e22b831041188e16a46be",
                            operation="INSERT",
                            pgid="pgtrigger_only_copies_59c7f",
                            table="bills_billcheckhistory",
                            when="BEFORE",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Inquiry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "bill_check",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="inquiries", to="bills.billcheck"
                    ),
                ),
                ("sent_no", models.BigIntegerField(unique=True)),
                (
                    "asked_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("asked_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("answer", models.CharField(default="none", max_length=10)),
                ("total", models.BigIntegerField(null=True)),
                ("error_code", models.CharField(blank=True, max_length=40)),
                ("raw", models.JSONField(null=True)),
                ("txid", models.BigIntegerField(db_default=core.transactions.TRANSACTION_NUMBER, editable=False)),
            ],
            options={
                "verbose_name_plural": "inquiries",
                "ordering": ["sent_no"],
                "indexes": [models.Index(fields=["txid", "id"], name="inquiry_to_seal")],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="412ab3d5c4d2bb4c8009e2e33ea79807ee9a2331",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_d4d99",
                            table="bills_inquiry",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="524573f5e0569bae4f2a585fad593207b324a4bd",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_6f6a4",
                            table="bills_inquiry",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="own_transaction",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (NEW.txid <> transaction_number())",
                            func="NEW.txid = transaction_number(); RETURN NEW;",
                            hash="debb51a3faf367de29c7a23fbdbdefb77c63c96f",
                            operation="INSERT",
                            pgid="pgtrigger_own_transaction_ec232",
                            table="bills_inquiry",
                            when="BEFORE",
                        ),
                    ),
                ],
            },
        ),
        migrations.AddIndex(
            model_name="billcheck",
            index=django.contrib.postgres.indexes.GinIndex(
                django.contrib.postgres.search.SearchVector("customer_name", config="simple"),
                name="bill_check_by_words",
            ),
        ),
        # With the usual 100, PostgreSQL takes a rare name for a common one, and reads the whole table for it.
        migrations.RunSQL(
            "ALTER INDEX bill_check_by_words ALTER COLUMN 1 SET STATISTICS 1000",
            "ALTER INDEX bill_check_by_words ALTER COLUMN 1 SET STATISTICS -1",
        ),
    ]
