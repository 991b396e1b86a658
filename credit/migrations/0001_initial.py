import django.db.models.deletion
import pghistory.utils
import pgtrigger.compiler
from django.conf import settings
from django.db import migrations, models

import core.transactions
import credit.models


class Migration(migrations.Migration):
    initial = True

    dependencies = [("core", "0001_initial"), ("customers", "0001_initial"), ("staff", "0001_initial")]

    operations = [
        migrations.CreateModel(
            name="CreditAccount",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "customer",
                    models.OneToOneField(
                        null=True,
                        on_delete=credit.models.forget_unless_owing,
                        related_name="credit",
                        to="customers.customer",
                    ),
                ),
                ("cap", models.BigIntegerField()),
                ("due_days", models.PositiveSmallIntegerField()),
                ("due_on", models.DateField(blank=True, null=True)),
                ("balance", models.BigIntegerField(default=0, editable=False)),
                ("oldest_due", models.DateField(editable=False, null=True)),
            ],
            options={
                "permissions": [
                    ("use_credit", "Can use credit"),
                    ("view_credit", "Can view credit"),
                    ("manage_credit", "Can manage credit"),
                ],
                "default_permissions": (),
                "indexes": [
                    models.Index(
                        condition=models.Q(("balance__gt", 0)), fields=["oldest_due", "id"], name="credit_by_age"
                    )
                ],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("cap__gte", 0)), name="credit_cap_not_negative"),
                    models.CheckConstraint(condition=models.Q(("due_days__lte", 365)), name="credit_due_within_a_year"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("balance__gt", 0), ("oldest_due__isnull", False)),
                            models.Q(("balance__lte", 0), ("oldest_due__isnull", True)),
                            _connector="OR",
                        ),
                        name="credit_due_iff_owed",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("customer__isnull", False), ("balance", 0), _connector="OR"),
                        name="credit_owed_by_somebody_or_nothing",
                    ),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="begins_empty",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition='WHEN (NOT (NEW."balance" = 0) OR NEW."oldest_due" IS NOT NULL)',
                            func="RAISE EXCEPTION 'pgtrigger: Cannot insert rows from % table', TG_TABLE_NAME;",
                            hash="13366134f9f87184d8d002eaf1f2d4381dfa2ae1",
                            operation="INSERT",
                            pgid="pgtrigger_begins_empty_754fb",
                            table="credit_creditaccount",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="balance_follows_its_entries",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (pg_trigger_depth() = 0 AND (OLD.balance <> NEW.balance OR OLD.oldest_due IS DISTINCT FROM NEW.oldest_due))",
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                            hash="9a5c9eadd6099886ac701c15a64f5056fb6367aa",
                            operation="UPDATE",
                            pgid="pgtrigger_balance_follows_its_entries_c48b0",
                            table="credit_creditaccount",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="keeps_its_customer",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.customer_id IS DISTINCT FROM NEW.customer_id AND (NEW.customer_id IS NOT NULL OR OLD.balance <> 0))",
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                            hash="16d746a53cbff7bc42a3656b90499aeeee631036",
                            operation="UPDATE",
                            pgid="pgtrigger_keeps_its_customer_30119",
                            table="credit_creditaccount",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_deleted",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;",
                            hash="970baacc0aa8e7e5c759675bc653a6212bb621c2",
                            operation="DELETE",
                            pgid="pgtrigger_never_deleted_ada51",
                            table="credit_creditaccount",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="07f9f2ac92f3d5c117e986de2b5342839a156198",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_94d52",
                            table="credit_creditaccount",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "credit_creditaccounthistory" ("cap", "customer_id", "due_days", "due_on", "id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id") VALUES (NEW."cap", NEW."customer_id", NEW."due_days", NEW."due_on", NEW."id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'insert\', NEW."id"); RETURN NULL;',
                            hash="323d4a6767237a5d62c88f85156bca55623ba0ce",
                            operation="INSERT",
                            pgid="pgtrigger_history_insert_eedc2",
                            table="credit_creditaccount",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition='WHEN (OLD."cap" IS DISTINCT FROM (NEW."cap") OR OLD."customer_id" IS DISTINCT FROM (NEW."customer_id") OR OLD."due_days" IS DISTINCT FROM (NEW."due_days") OR OLD."due_on" IS DISTINCT FROM (NEW."due_on") OR OLD."id" IS DISTINCT FROM (NEW."id"))',
                            func='INSERT INTO "credit_creditaccounthistory" ("cap", "customer_id", "due_days", "due_on", "id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id") VALUES (NEW."cap", NEW."customer_id", NEW."due_days", NEW."due_on", NEW."id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'update\', NEW."id"); RETURN NULL;',
                            hash="f94e6c6f49918947e7d23a8a63d52e01981bab87",
                            operation="UPDATE",
                            pgid="pgtrigger_history_update_11e1e",
                            table="credit_creditaccount",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "credit_creditaccounthistory" ("cap", "customer_id", "due_days", "due_on", "id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id") VALUES (OLD."cap", OLD."customer_id", OLD."due_days", OLD."due_on", OLD."id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'delete\', OLD."id"); RETURN NULL;',
                            hash="e59d8db6d2cad91d60f85052d29e980a49afd013",
                            operation="DELETE",
                            pgid="pgtrigger_history_delete_b8ec9",
                            table="credit_creditaccount",
                            when="AFTER",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="CreditAccountHistory",
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
                        to="credit.creditaccount",
                    ),
                ),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("id", models.BigIntegerField()),
                (
                    "customer",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="customers.customer",
                    ),
                ),
                ("cap", models.BigIntegerField()),
                ("due_days", models.PositiveSmallIntegerField()),
                ("due_on", models.DateField(blank=True, null=True)),
            ],
            options={
                "abstract": False,
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["txid", "pgh_id"], name="credit_account_history_seal"),
                    models.Index(fields=["pgh_obj", "-pgh_id"], name="credit_account_history_row"),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="44abc080f2a7fbf3afbb5409a1aedcc2aaffac35",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_9cf9f",
                            table="credit_creditaccounthistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="4619f662aed5d1e131d6c7e5c7204d6faa280234",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_cdb4f",
                            table="credit_creditaccounthistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="only_copies",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (pg_trigger_depth() = 0)",
                            func="RAISE EXCEPTION 'pgtrigger: Cannot insert rows from % table', TG_TABLE_NAME;",
                            hash="6488f1ac1fcff7d39379295e82d5e898cb3a2549",
                            operation="INSERT",
                            pgid="pgtrigger_only_copies_e2ac2",
                            table="credit_creditaccounthistory",
                            when="BEFORE",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="CreditEntry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "account",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="entries",
                        to="credit.creditaccount",
                    ),
                ),
                ("kind", models.CharField(max_length=10)),
                ("method", models.CharField(blank=True, max_length=20)),
                ("amount", models.BigIntegerField()),
                ("balance_after", models.BigIntegerField()),
                ("ref_id", models.CharField(blank=True, max_length=64)),
                ("due_on", models.DateField(null=True)),
                ("reason", models.CharField(blank=True, max_length=500)),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                ("at", models.DateTimeField()),
                (
                    "undoes",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="undone_by",
                        to="credit.creditentry",
                    ),
                ),
                (
                    "replaces",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="replaced_by",
                        to="credit.creditentry",
                    ),
                ),
                ("token", models.UUIDField(editable=False, null=True)),
                ("txid", models.BigIntegerField(db_default=core.transactions.TRANSACTION_NUMBER, editable=False)),
            ],
            options={
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["account", "-at", "-id"], name="credit_entry_newest"),
                    models.Index(
                        condition=models.Q(("due_on__isnull", False)),
                        fields=["account", "-due_on", "-id"],
                        name="credit_entry_debts",
                    ),
                    models.Index(
                        condition=models.Q(("ref_id__gt", "")), fields=["ref_id"], name="credit_entry_by_order"
                    ),
                    models.Index(
                        condition=models.Q(("kind", "paid_back")),
                        fields=["account", "-id"],
                        name="credit_entry_paid_back",
                    ),
                    models.Index(condition=models.Q(("kind", "refund")), fields=["at"], name="credit_refund_by_time"),
                    models.Index(fields=["at"], name="credit_entry_by_time"),
                    models.Index(fields=["txid", "id"], name="credit_entry_to_seal"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("kind", "sale"), ("replaces", None), ("undoes", None)),
                        fields=("ref_id",),
                        name="credit_sale_once_an_order",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("kind", "refund")), fields=("ref_id",), name="credit_refund_once_an_order"
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("token__isnull", False)), fields=("token",), name="credit_entry_once_a_form"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("kind__in", ["sale", "refund"]), ("ref_id__gt", "")),
                            models.Q(("kind__in", ["payment", "brought"]), ("ref_id", "")),
                            ("kind", "paid_back"),
                            _connector="OR",
                        ),
                        name="credit_entry_names_its_order",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("kind__in", ["payment", "paid_back"]), ("method__gt", "")),
                            models.Q(("kind__in", ["sale", "refund", "brought"]), ("method", "")),
                            _connector="OR",
                        ),
                        name="credit_entry_method_iff_money_moves",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("amount__gt", 0),
                                ("kind__in", ["sale", "brought", "paid_back"]),
                                ("undoes__isnull", True),
                            ),
                            models.Q(("amount__lt", 0), ("kind__in", ["sale", "brought"]), ("undoes__isnull", False)),
                            models.Q(("amount__lt", 0), ("kind", "payment"), ("undoes__isnull", True)),
                            models.Q(("amount__gt", 0), ("kind", "payment"), ("undoes__isnull", False)),
                            models.Q(("amount__lt", 0), ("kind", "refund")),
                            _connector="OR",
                        ),
                        name="credit_entry_has_its_sign",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("due_on__isnull", False), ("kind__in", ["sale", "brought"]), ("undoes__isnull", True)
                            ),
                            models.Q(
                                models.Q(
                                    models.Q(("kind__in", ["sale", "brought"]), _negated=True),
                                    ("undoes__isnull", False),
                                    _connector="OR",
                                ),
                                ("due_on__isnull", True),
                            ),
                            _connector="OR",
                        ),
                        name="credit_entry_due_iff_debt",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("replaces__isnull", True),
                            models.Q(("kind", "sale"), ("undoes__isnull", True)),
                            _connector="OR",
                        ),
                        name="credit_entry_only_a_sale_replaces",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("kind", "brought"), _negated=True),
                            ("undoes__isnull", False),
                            ("reason__gt", ""),
                            _connector="OR",
                        ),
                        name="credit_entry_from_before_has_a_reason",
                    ),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="340d5e8ee75f20b54e400afa4ce48eba88c75548",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_ca9cc",
                            table="credit_creditentry",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="960a86cd0a191892d03daf0261ad8aab0cbfc6e3",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_df3d8",
                            table="credit_creditentry",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="own_transaction",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (NEW.txid <> transaction_number())",
                            func="NEW.txid = transaction_number(); RETURN NEW;",
                            hash="41426d34d7b2a13bdda3a6b2793b3a2b8e6372d6",
                            operation="INSERT",
                            pgid="pgtrigger_own_transaction_dad47",
                            table="credit_creditentry",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="fits_the_others",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="\n    IF NEW.undoes_id IS NOT NULL THEN\n        PERFORM FROM credit_creditentry\n          WHERE id = NEW.undoes_id AND account_id = NEW.account_id AND ref_id = NEW.ref_id AND method = NEW.method\n            AND amount = -NEW.amount AND undoes_id IS NULL\n            AND (kind = NEW.kind OR (kind = 'sale' AND NEW.kind = 'refund'));\n        IF NOT FOUND THEN\n            RAISE EXCEPTION 'credit entry % is not undone so', NEW.undoes_id;\n        END IF;\n    END IF;\n    IF NEW.replaces_id IS NOT NULL THEN\n        PERFORM FROM credit_creditentry former JOIN credit_creditentry undoing ON undoing.undoes_id = former.id\n          WHERE former.id = NEW.replaces_id AND former.ref_id = NEW.ref_id AND former.kind = 'sale'\n            AND undoing.kind = 'sale';\n        IF NOT FOUND THEN\n            RAISE EXCEPTION 'credit entry % is not replaced so', NEW.replaces_id;\n        END IF;\n    END IF;\n    RETURN NEW;\n",
                            hash="8280d9021fd81cee92b58d1a7ad34034b2620f6e",
                            operation="INSERT",
                            pgid="pgtrigger_fits_the_others_f1b59",
                            table="credit_creditentry",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="moves_the_balance",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            declare="DECLARE owed bigint; most bigint; since date;",
                            func="\n    UPDATE credit_creditaccount SET balance = balance + NEW.amount,\n           oldest_due = CASE WHEN balance + NEW.amount > 0 THEN coalesce(oldest_due, current_date) END\n     WHERE id = NEW.account_id RETURNING balance, cap INTO owed, most;\n    IF owed IS DISTINCT FROM NEW.balance_after THEN\n        RAISE EXCEPTION 'credit account %: % is owed after this entry, not %', NEW.account_id, owed, NEW.balance_after;\n    END IF;\n    IF NEW.kind = 'sale' AND NEW.undoes_id IS NULL AND owed > most AND NOT EXISTS (\n        SELECT FROM credit_creditentry former JOIN credit_creditentry undoing ON undoing.undoes_id = former.id\n         WHERE former.id = NEW.replaces_id AND former.account_id = NEW.account_id AND former.amount >= NEW.amount\n           AND undoing.txid = transaction_number()\n    ) THEN\n        RAISE EXCEPTION 'credit account %: the sale passes the cap', NEW.account_id;\n    END IF;\n    IF NEW.kind = 'payment' AND NEW.undoes_id IS NULL AND owed < 0 THEN\n        RAISE EXCEPTION 'credit account %: more is paid than is owed', NEW.account_id;\n    END IF;\n    IF NEW.kind = 'payment' AND NEW.undoes_id IS NOT NULL AND EXISTS (\n        SELECT FROM credit_creditentry back\n         WHERE back.account_id = NEW.account_id AND back.kind = 'paid_back' AND back.id > NEW.undoes_id\n    ) THEN\n        RAISE EXCEPTION 'credit account %: money went back since this payment', NEW.account_id;\n    END IF;\n    IF NEW.kind = 'paid_back' AND owed > 0 THEN\n        RAISE EXCEPTION 'credit account %: more is paid back than the customer has', NEW.account_id;\n    END IF;\n    IF owed > 0 THEN\n        SELECT min(due_on) INTO since FROM (\n        WITH RECURSIVE walk AS (\n            SELECT newest.*, newest.amount AS run FROM (\n        SELECT e.id, e.ref_id, e.due_on, e.at, e.amount FROM credit_creditentry e\n         WHERE e.account_id = NEW.account_id AND e.due_on IS NOT NULL\n           AND NOT EXISTS (SELECT FROM credit_creditentry undoing WHERE undoing.undoes_id = e.id)\n            ORDER BY e.due_on DESC, e.id DESC LIMIT 1\n    ) newest\n            UNION ALL\n            SELECT older.*, walk.run + older.amount FROM walk CROSS JOIN LATERAL (\n                \n        SELECT e.id, e.ref_id, e.due_on, e.at, e.amount FROM credit_creditentry e\n         WHERE e.account_id = NEW.account_id AND e.due_on IS NOT NULL\n           AND NOT EXISTS (SELECT FROM credit_creditentry undoing WHERE undoing.undoes_id = e.id)\n           AND (e.due_on, e.id) < (walk.due_on, walk.id) ORDER BY e.due_on DESC, e.id DESC LIMIT 1\n    \n            ) older WHERE walk.run < owed\n        )\n        SELECT id, ref_id, due_on, at, amount, least(amount, owed - (run - amount)) AS open\n          FROM walk WHERE run - amount < owed\n    ) unpaid;\n        UPDATE credit_creditaccount SET oldest_due = since\n         WHERE id = NEW.account_id AND oldest_due IS DISTINCT FROM since;\n    END IF;\n    RETURN NULL;\n",
                            hash="dca0bacd310b01c659f98b35ed6d50412fc193f9",
                            operation="INSERT",
                            pgid="pgtrigger_moves_the_balance_08550",
                            table="credit_creditentry",
                            when="AFTER",
                        ),
                    ),
                ],
            },
        ),
    ]
