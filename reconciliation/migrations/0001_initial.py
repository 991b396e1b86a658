import django.db.models.deletion
import django.utils.timezone
import pghistory.utils
import pgtrigger.compiler
from django.conf import settings
from django.db import migrations, models

import core.transactions


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("approvals", "0001_initial"),
        ("core", "0001_initial"),
        ("gateway", "0001_initial"),
        ("ledger", "0001_initial"),
        ("purchases", "0001_initial"),
        ("staff", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Difference",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                ("amount", models.BigIntegerField()),
                ("from_no", models.BigIntegerField()),
                ("to_no", models.BigIntegerField()),
                ("from_at", models.DateTimeField()),
                ("to_at", models.DateTimeField()),
                ("found_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("label", models.CharField(max_length=20)),
                ("candidates", models.JSONField(default=list)),
                ("state", models.CharField(default="open", max_length=15)),
                ("acknowledged_at", models.DateTimeField(null=True)),
                (
                    "acknowledged_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("note", models.CharField(blank=True, max_length=500)),
                (
                    "entry",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="difference",
                        to="ledger.entry",
                    ),
                ),
                (
                    "closed_with",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="reconciliation.difference",
                    ),
                ),
                (
                    "explained_by",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="purchases.order"
                    ),
                ),
                (
                    "rest_of",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="rest",
                        to="reconciliation.difference",
                    ),
                ),
                (
                    "makes_good",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="made_good_by",
                        to="reconciliation.difference",
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
                "permissions": [
                    ("view_difference", "Can view difference"),
                    ("acknowledge_difference", "Can acknowledge difference"),
                ],
                "default_permissions": (),
                "indexes": [
                    models.Index(condition=models.Q(("state", "open")), fields=["id"], name="difference_open"),
                    models.Index(fields=["-found_at", "-id"], name="difference_newest"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("amount", 0), _negated=True), name="difference_not_zero"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("to_no__gt", models.F("from_no"))), name="difference_in_order"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("acknowledged_at__isnull", True),
                                ("closed_with__isnull", True),
                                ("entry__isnull", True),
                                ("explained_by__isnull", True),
                                ("state", "open"),
                            ),
                            models.Q(
                                ("acknowledged_at__isnull", False),
                                ("closed_with__isnull", True),
                                ("entry__isnull", False),
                                ("explained_by__isnull", True),
                                ("state", "acknowledged"),
                            ),
                            models.Q(
                                ("acknowledged_at__isnull", False),
                                ("closed_with__isnull", False),
                                ("entry__isnull", True),
                                ("explained_by__isnull", True),
                                ("state", "acknowledged"),
                            ),
                            models.Q(
                                ("acknowledged_at__isnull", False),
                                ("closed_with__isnull", True),
                                ("entry__isnull", True),
                                ("explained_by__isnull", False),
                                ("state", "acknowledged"),
                            ),
                            _connector="OR",
                        ),
                        name="difference_closed_by_one_thing",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("makes_good__isnull", True),
                            ("label__in", ["late_refund", "adjusted_before"]),
                            _connector="OR",
                        ),
                        name="difference_makes_another_good",
                    ),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="what_was_found_never_changes",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition='WHEN (OLD."amount" IS DISTINCT FROM (NEW."amount") OR OLD."from_no" IS DISTINCT FROM (NEW."from_no") OR OLD."to_no" IS DISTINCT FROM (NEW."to_no") OR OLD."from_at" IS DISTINCT FROM (NEW."from_at") OR OLD."to_at" IS DISTINCT FROM (NEW."to_at") OR OLD."found_at" IS DISTINCT FROM (NEW."found_at"))',
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                            hash="653b5843bd16d7aca91fb54ce1f07fc014401f8b",
                            operation="UPDATE",
                            pgid="pgtrigger_what_was_found_never_changes_2802a",
                            table="reconciliation_difference",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="acknowledged_for_good",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.\"state\" = 'acknowledged')",
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                            hash="552a09c249ef2d957cfb30b79a95ca6b546d7ebf",
                            operation="UPDATE",
                            pgid="pgtrigger_acknowledged_for_good_a89c2",
                            table="reconciliation_difference",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_deleted",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;",
                            hash="dea4dcc093c65fa681a6dde9aa4115cf991d28c9",
                            operation="DELETE",
                            pgid="pgtrigger_never_deleted_d2752",
                            table="reconciliation_difference",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="25d363c19eb47ed21c5db1280dd6d21b3f08fb30",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_fa845",
                            table="reconciliation_difference",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "reconciliation_differencehistory" ("acknowledged_at", "acknowledged_by_id", "amount", "candidates", "closed_with_id", "entry_id", "explained_by_id", "found_at", "from_at", "from_no", "id", "label", "makes_good_id", "note", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "rest_of_id", "state", "to_at", "to_no") VALUES (NEW."acknowledged_at", NEW."acknowledged_by_id", NEW."amount", NEW."candidates", NEW."closed_with_id", NEW."entry_id", NEW."explained_by_id", NEW."found_at", NEW."from_at", NEW."from_no", NEW."id", NEW."label", NEW."makes_good_id", NEW."note", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'insert\', NEW."id", NEW."rest_of_id", NEW."state", NEW."to_at", NEW."to_no"); RETURN NULL;',
                            hash="6700587d1e73aa4c1a13c247b25daabc84a2e346",
                            operation="INSERT",
                            pgid="pgtrigger_history_insert_4a308",
                            table="reconciliation_difference",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                            func='INSERT INTO "reconciliation_differencehistory" ("acknowledged_at", "acknowledged_by_id", "amount", "candidates", "closed_with_id", "entry_id", "explained_by_id", "found_at", "from_at", "from_no", "id", "label", "makes_good_id", "note", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "rest_of_id", "state", "to_at", "to_no") VALUES (NEW."acknowledged_at", NEW."acknowledged_by_id", NEW."amount", NEW."candidates", NEW."closed_with_id", NEW."entry_id", NEW."explained_by_id", NEW."found_at", NEW."from_at", NEW."from_no", NEW."id", NEW."label", NEW."makes_good_id", NEW."note", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'update\', NEW."id", NEW."rest_of_id", NEW."state", NEW."to_at", NEW."to_no"); RETURN NULL;',
                            hash="312c26a9078c8c303a5a5d780864124eaf8bcf3b",
                            operation="UPDATE",
                            pgid="pgtrigger_history_update_b9123",
                            table="reconciliation_difference",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "reconciliation_differencehistory" ("acknowledged_at", "acknowledged_by_id", "amount", "candidates", "closed_with_id", "entry_id", "explained_by_id", "found_at", "from_at", "from_no", "id", "label", "makes_good_id", "note", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "rest_of_id", "state", "to_at", "to_no") VALUES (OLD."acknowledged_at", OLD."acknowledged_by_id", OLD."amount", OLD."candidates", OLD."closed_with_id", OLD."entry_id", OLD."explained_by_id", OLD."found_at", OLD."from_at", OLD."from_no", OLD."id", OLD."label", OLD."makes_good_id", OLD."note", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'delete\', OLD."id", OLD."rest_of_id", OLD."state", OLD."to_at", OLD."to_no"); RETURN NULL;',
                            hash="359cb506b2ae6063c2ed627f9ee545969189cd93",
                            operation="DELETE",
                            pgid="pgtrigger_history_delete_8ee86",
                            table="reconciliation_difference",
                            when="AFTER",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="DifferenceHistory",
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
                        to="reconciliation.difference",
                    ),
                ),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("id", models.BigIntegerField()),
                ("amount", models.BigIntegerField()),
                ("from_no", models.BigIntegerField()),
                ("to_no", models.BigIntegerField()),
                ("from_at", models.DateTimeField()),
                ("to_at", models.DateTimeField()),
                ("found_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("label", models.CharField(max_length=20)),
                ("candidates", models.JSONField(default=list)),
                ("state", models.CharField(default="open", max_length=15)),
                ("acknowledged_at", models.DateTimeField(null=True)),
                (
                    "acknowledged_by",
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
                ("note", models.CharField(blank=True, max_length=500)),
                (
                    "entry",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="ledger.entry",
                    ),
                ),
                (
                    "closed_with",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="reconciliation.difference",
                    ),
                ),
                (
                    "explained_by",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="purchases.order",
                    ),
                ),
                (
                    "rest_of",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="reconciliation.difference",
                    ),
                ),
                (
                    "makes_good",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="reconciliation.difference",
                    ),
                ),
            ],
            options={
                "abstract": False,
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["txid", "pgh_id"], name="difference_history_seal"),
                    models.Index(fields=["pgh_obj", "-pgh_id"], name="difference_history_row"),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="7ba8848ed2b70987ca0eeea7ac75fea2f64a5bab",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_ffbba",
                            table="reconciliation_differencehistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="825e9c0965fd7ecaeb0fb471d458b4a6296f5741",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_5a64d",
                            table="reconciliation_differencehistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="only_copies",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (pg_trigger_depth() = 0)",
                            func="RAISE EXCEPTION 'pgtrigger: Cannot insert rows from % table', TG_TABLE_NAME;",
                            hash="1a4b5949d9bd5cbac42a773be1dbaba00f554367",
                            operation="INSERT",
                            pgid="pgtrigger_only_copies_d7edc",
                            table="reconciliation_differencehistory",
                            when="BEFORE",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ExpectedTopUp",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                ("amount", models.BigIntegerField()),
                ("note", models.CharField(blank=True, max_length=500)),
                (
                    "announced_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                ("announced_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("cancelled_at", models.DateTimeField(null=True)),
                (
                    "cancelled_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "difference",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="expected",
                        to="reconciliation.difference",
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("amount__gt", 0)), name="expected_topup_positive"),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("difference__isnull", True), ("cancelled_at__isnull", True), _connector="OR"
                        ),
                        name="expected_topup_arrived_or_cancelled",
                    ),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="what_was_announced_never_changes",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition='WHEN (OLD."amount" IS DISTINCT FROM (NEW."amount") OR OLD."note" IS DISTINCT FROM (NEW."note") OR OLD."announced_by_id" IS DISTINCT FROM (NEW."announced_by_id") OR OLD."announced_at" IS DISTINCT FROM (NEW."announced_at"))',
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                            hash="136657a3039c2f9e31912cd063faf4b60be1c0f4",
                            operation="UPDATE",
                            pgid="pgtrigger_what_was_announced_never_changes_1c54d",
                            table="reconciliation_expectedtopup",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_deleted",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;",
                            hash="9d0f812a791f01202b53ac9165ad3fc6d6312cb1",
                            operation="DELETE",
                            pgid="pgtrigger_never_deleted_7a926",
                            table="reconciliation_expectedtopup",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="c9fc693a596748999421c5cc4ac8c1df7af4ec59",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_acec1",
                            table="reconciliation_expectedtopup",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "reconciliation_expectedtopuphistory" ("amount", "announced_at", "announced_by_id", "cancelled_at", "cancelled_by_id", "difference_id", "id", "note", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id") VALUES (NEW."amount", NEW."announced_at", NEW."announced_by_id", NEW."cancelled_at", NEW."cancelled_by_id", NEW."difference_id", NEW."id", NEW."note", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'insert\', NEW."id"); RETURN NULL;',
                            hash="052d11d2705f4c74747d8c7000f685ac4c8b781b",
                            operation="INSERT",
                            pgid="pgtrigger_history_insert_f8e91",
                            table="reconciliation_expectedtopup",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                            func='INSERT INTO "reconciliation_expectedtopuphistory" ("amount", "announced_at", "announced_by_id", "cancelled_at", "cancelled_by_id", "difference_id", "id", "note", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id") VALUES (NEW."amount", NEW."announced_at", NEW."announced_by_id", NEW."cancelled_at", NEW."cancelled_by_id", NEW."difference_id", NEW."id", NEW."note", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'update\', NEW."id"); RETURN NULL;',
                            hash="7febe6fec5a04013b9568de9836d13472eb40625",
                            operation="UPDATE",
                            pgid="pgtrigger_history_update_d64df",
                            table="reconciliation_expectedtopup",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "reconciliation_expectedtopuphistory" ("amount", "announced_at", "announced_by_id", "cancelled_at", "cancelled_by_id", "difference_id", "id", "note", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id") VALUES (OLD."amount", OLD."announced_at", OLD."announced_by_id", OLD."cancelled_at", OLD."cancelled_by_id", OLD."difference_id", OLD."id", OLD."note", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'delete\', OLD."id"); RETURN NULL;',
                            hash="de70917c5c61aa71ed04f9731a96d5e01350a931",
                            operation="DELETE",
                            pgid="pgtrigger_history_delete_1cd96",
                            table="reconciliation_expectedtopup",
                            when="AFTER",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ExpectedTopUpHistory",
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
                        to="reconciliation.expectedtopup",
                    ),
                ),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("id", models.BigIntegerField()),
                ("amount", models.BigIntegerField()),
                ("note", models.CharField(blank=True, max_length=500)),
                (
                    "announced_by",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("announced_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("cancelled_at", models.DateTimeField(null=True)),
                (
                    "cancelled_by",
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
                    "difference",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="reconciliation.difference",
                    ),
                ),
            ],
            options={
                "abstract": False,
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["txid", "pgh_id"], name="expected_top_up_history_seal"),
                    models.Index(fields=["pgh_obj", "-pgh_id"], name="expected_top_up_history_row"),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="68139ca471c6d98c915873fb7e212ccee0bbee8c",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_1a742",
                            table="reconciliation_expectedtopuphistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="c158cb605a4cb115f23ef26354043e0eb43cd7a5",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_e3789",
                            table="reconciliation_expectedtopuphistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="only_copies",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (pg_trigger_depth() = 0)",
                            func="RAISE EXCEPTION 'pgtrigger: Cannot insert rows from % table', TG_TABLE_NAME;",
                            hash="52cbda899b97b18a6d2bf4bfd9964f4bb83659d2",
                            operation="INSERT",
                            pgid="pgtrigger_only_copies_301b9",
                            table="reconciliation_expectedtopuphistory",
                            when="BEFORE",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Reconciliation",
            fields=[
                ("only", models.BooleanField(default=True, editable=False, primary_key=True, serialize=False)),
                (
                    "quiet",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="gateway.exchange"
                    ),
                ),
                ("booked", models.BigIntegerField(default=0)),
                ("outside", models.BigIntegerField(default=0)),
                ("judged_no", models.BigIntegerField(default=0)),
                ("read_again_at", models.DateTimeField(null=True)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("only", True)), name="reconciliation_is_one_row")
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="never_deleted",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;",
                            hash="dfd129c6bb1ed6eb14d14eceb4353d4edbe53754",
                            operation="DELETE",
                            pgid="pgtrigger_never_deleted_4cbc7",
                            table="reconciliation_reconciliation",
                            when="BEFORE",
                        ),
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ReconciliationRun",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                ("trigger", models.CharField(max_length=10)),
                ("state", models.CharField(max_length=20)),
                ("readings_evaluated", models.IntegerField(default=0)),
                ("reported", models.BigIntegerField(null=True)),
                ("expected", models.BigIntegerField(null=True)),
                ("difference", models.BigIntegerField(null=True)),
                ("blocking", models.JSONField(default=list)),
            ],
            options={
                "ordering": ["-pk"],
                "permissions": [("view_reconciliationrun", "Can view reconciliationrun")],
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["-at"], name="reconciliation_run_newest"),
                    models.Index(fields=["state", "-at"], name="reconciliation_run_by_state"),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="what_it_said_never_changes",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition='WHEN (OLD."trigger" IS DISTINCT FROM (NEW."trigger") OR OLD."state" IS DISTINCT FROM (NEW."state") OR OLD."reported" IS DISTINCT FROM (NEW."reported") OR OLD."expected" IS DISTINCT FROM (NEW."expected") OR OLD."difference" IS DISTINCT FROM (NEW."difference") OR OLD."blocking" IS DISTINCT FROM (NEW."blocking"))',
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                            hash="a2db8fb0a453f47b71fef3445696e519625c508d",
                            operation="UPDATE",
                            pgid="pgtrigger_what_it_said_never_changes_b2efa",
                            table="reconciliation_reconciliationrun",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_deleted",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;",
                            hash="d7d29ad1814f32de6b6ab7c45b7223f9935bcf08",
                            operation="DELETE",
                            pgid="pgtrigger_never_deleted_d0580",
                            table="reconciliation_reconciliationrun",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="512f61ceeb482175fa278161af4d40ee79a11477",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_60a94",
                            table="reconciliation_reconciliationrun",
                            when="BEFORE",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Adjustment",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "difference",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="adjustments",
                        to="reconciliation.difference",
                    ),
                ),
                ("reason", models.CharField(max_length=500)),
                (
                    "proposed_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                ("proposed_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "approved_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "declined_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("decided_at", models.DateTimeField(null=True)),
                (
                    "approval",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="approvals.approval",
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("reason__gt", "")), name="adjustment_has_a_reason"),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("approved_by__isnull", True),
                            models.Q(("approved_by", models.F("proposed_by")), _negated=True),
                            _connector="OR",
                        ),
                        name="adjustment_needs_two_people",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("approved_by__isnull", True),
                                ("decided_at__isnull", True),
                                ("declined_by__isnull", True),
                            ),
                            models.Q(
                                ("approved_by__isnull", False),
                                ("decided_at__isnull", False),
                                ("declined_by__isnull", True),
                            ),
                            models.Q(("approved_by__isnull", True), ("decided_at__isnull", False)),
                            _connector="OR",
                        ),
                        name="adjustment_decided_by_one",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("decided_at__isnull", True)),
                        fields=("difference",),
                        name="adjustment_proposed_once",
                    ),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="what_was_proposed_never_changes",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition='WHEN (OLD."difference_id" IS DISTINCT FROM (NEW."difference_id") OR OLD."reason" IS DISTINCT FROM (NEW."reason") OR OLD."proposed_by_id" IS DISTINCT FROM (NEW."proposed_by_id") OR OLD."proposed_at" IS DISTINCT FROM (NEW."proposed_at"))',
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                            hash="1ea11be63825138c165c9ff7c40b653ff5f9724b",
                            operation="UPDATE",
                            pgid="pgtrigger_what_was_proposed_never_changes_5d207",
                            table="reconciliation_adjustment",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="decided_for_good",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition='WHEN (OLD."decided_at" IS NOT NULL)',
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                            hash="c301545ec6375cfe0677aa37ad9e45fdc4b4c2a6",
                            operation="UPDATE",
                            pgid="pgtrigger_decided_for_good_c3f4b",
                            table="reconciliation_adjustment",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_deleted",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;",
                            hash="2904b1f91751519befd2bf98638bf494a4a776e1",
                            operation="DELETE",
                            pgid="pgtrigger_never_deleted_c4ce0",
                            table="reconciliation_adjustment",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="fc52b362a51d668965d6f174dbb4525249211b51",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_9c0de",
                            table="reconciliation_adjustment",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "reconciliation_adjustmenthistory" ("approval_id", "approved_by_id", "decided_at", "declined_by_id", "difference_id", "id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "proposed_at", "proposed_by_id", "reason") VALUES (NEW."approval_id", NEW."approved_by_id", NEW."decided_at", NEW."declined_by_id", NEW."difference_id", NEW."id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'insert\', NEW."id", NEW."proposed_at", NEW."proposed_by_id", NEW."reason"); RETURN NULL;',
                            hash="c7495d8daa5c732fdecce76e62abb7e78ac767d6",
                            operation="INSERT",
                            pgid="pgtrigger_history_insert_b5939",
                            table="reconciliation_adjustment",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                            func='INSERT INTO "reconciliation_adjustmenthistory" ("approval_id", "approved_by_id", "decided_at", "declined_by_id", "difference_id", "id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "proposed_at", "proposed_by_id", "reason") VALUES (NEW."approval_id", NEW."approved_by_id", NEW."decided_at", NEW."declined_by_id", NEW."difference_id", NEW."id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'update\', NEW."id", NEW."proposed_at", NEW."proposed_by_id", NEW."reason"); RETURN NULL;',
                            hash="c9bf52b0a67046b5ab3ad5f0f2fe9288833afcd6",
                            operation="UPDATE",
                            pgid="pgtrigger_history_update_50b31",
                            table="reconciliation_adjustment",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "reconciliation_adjustmenthistory" ("approval_id", "approved_by_id", "decided_at", "declined_by_id", "difference_id", "id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "proposed_at", "proposed_by_id", "reason") VALUES (OLD."approval_id", OLD."approved_by_id", OLD."decided_at", OLD."declined_by_id", OLD."difference_id", OLD."id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'delete\', OLD."id", OLD."proposed_at", OLD."proposed_by_id", OLD."reason"); RETURN NULL;',
                            hash="5b3ee1c3f65847e2f42f556414472644b0207272",
                            operation="DELETE",
                            pgid="pgtrigger_history_delete_1d1ef",
                            table="reconciliation_adjustment",
                            when="AFTER",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="AdjustmentHistory",
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
                        to="reconciliation.adjustment",
                    ),
                ),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("id", models.BigIntegerField()),
                (
                    "difference",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="reconciliation.difference",
                    ),
                ),
                ("reason", models.CharField(max_length=500)),
                (
                    "proposed_by",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("proposed_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "approved_by",
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
                    "declined_by",
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
                ("decided_at", models.DateTimeField(null=True)),
                (
                    "approval",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="approvals.approval",
                    ),
                ),
            ],
            options={
                "abstract": False,
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["txid", "pgh_id"], name="adjustment_history_seal"),
                    models.Index(fields=["pgh_obj", "-pgh_id"], name="adjustment_history_row"),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="b335042f6e0dd0a665a1e8feeb16ac42b04362e3",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_8de21",
                            table="reconciliation_adjustmenthistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="3851db44adb11e7827fe823adebe30ab8541fbb8",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_f19bf",
                            table="reconciliation_adjustmenthistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="only_copies",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (pg_trigger_depth() = 0)",
                            func="RAISE EXCEPTION 'pgtrigger: Cannot insert rows from % table', TG_TABLE_NAME;",
                            hash="4d7b0303b05a9bb0c7a1333308429744cd4ba31b",
                            operation="INSERT",
                            pgid="pgtrigger_only_copies_dc1af",
                            table="reconciliation_adjustmenthistory",
                            when="BEFORE",
                        ),
                    ),
                ],
            },
        ),
    ]
