import django.db.models.deletion
import django.db.models.expressions
import django.utils.timezone
import pgtrigger.compiler
from django.conf import settings
from django.db import migrations, models

import core.transactions


class Migration(migrations.Migration):
    initial = True

    dependencies = [("core", "0001_initial"), ("staff", "0001_initial")]

    operations = [
        migrations.CreateModel(
            name="Entry",
            fields=[
                (
                    "id",
                    models.BigIntegerField(
                        db_default=models.Func(
                            models.Func(
                                models.Value("gateway_exchange"), models.Value("id"), function="pg_get_serial_sequence"
                            ),
                            function="nextval",
                            output_field=models.BigIntegerField(),
                        ),
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("kind", models.CharField(max_length=10)),
                ("amount", models.BigIntegerField()),
                ("balance_change", models.BigIntegerField()),
                ("reserved_change", models.BigIntegerField()),
                ("balance_after", models.BigIntegerField()),
                ("reserved_after", models.BigIntegerField()),
                ("ref_id", models.CharField(blank=True, max_length=64)),
                ("order_kind", models.CharField(blank=True, max_length=10)),
                (
                    "actor",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("reason", models.CharField(blank=True, max_length=500)),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                ("txid", models.BigIntegerField(db_default=core.transactions.TRANSACTION_NUMBER, editable=False)),
            ],
            options={
                "ordering": ["pk"],
                "permissions": [
                    ("view_entry", "Can view entry"),
                    ("propose_adjustment", "Can propose adjustment"),
                    ("adjust_balance", "Can adjust balance"),
                ],
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["at"], name="entry_by_time"),
                    models.Index(fields=["ref_id"], name="entry_by_order"),
                    models.Index(fields=["txid", "id"], name="entry_to_seal"),
                    models.Index(
                        condition=models.Q(("kind__in", ["opening", "refund", "reversal", "topup", "adjustment"])),
                        fields=["kind", "-at", "-id"],
                        name="entry_of_rare_kind",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("amount__gt", 0)), name="entry_amount_positive"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("balance_change", 0), ("kind", "hold"), ("reserved_change", models.F("amount"))),
                            models.Q(
                                ("balance_change", 0),
                                ("kind", "release"),
                                (
                                    "reserved_change",
                                    django.db.models.expressions.CombinedExpression(
                                        models.F("amount"), "*", models.Value(-1)
                                    ),
                                ),
                            ),
                            models.Q(
                                (
                                    "balance_change",
                                    django.db.models.expressions.CombinedExpression(
                                        models.F("amount"), "*", models.Value(-1)
                                    ),
                                ),
                                ("kind", "debit"),
                                ("reserved_change", 0),
                            ),
                            models.Q(
                                ("balance_change", models.F("amount")),
                                ("kind__in", ["refund", "reversal", "topup"]),
                                ("reserved_change", 0),
                            ),
                            models.Q(
                                ("balance_change", models.F("amount")),
                                ("kind__in", ["opening", "adjustment"]),
                                ("reserved_change", 0),
                            ),
                            models.Q(
                                (
                                    "balance_change",
                                    django.db.models.expressions.CombinedExpression(
                                        models.F("amount"), "*", models.Value(-1)
                                    ),
                                ),
                                ("kind__in", ["opening", "adjustment"]),
                                ("reserved_change", 0),
                            ),
                            _connector="OR",
                        ),
                        name="entry_changes_as_its_kind",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("kind__in", ["hold", "release", "debit", "refund", "reversal"]),
                                ("order_kind__gt", ""),
                                ("ref_id__gt", ""),
                            ),
                            models.Q(
                                ("kind__in", ["opening", "topup", "adjustment"]), ("order_kind", ""), ("ref_id", "")
                            ),
                            _connector="OR",
                        ),
                        name="entry_names_its_order",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("kind", "debit")), fields=("ref_id",), name="entry_debit_once"
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("kind__in", ["refund", "reversal"])),
                        fields=("ref_id",),
                        name="entry_refund_once",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("kind", "opening")), fields=("kind",), name="entry_opening_once"
                    ),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="bd80cdea55986d8dc4a873a0796f1dd071e72f1d",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_af900",
                            table="ledger_entry",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="69e96e045ae5432b7e66596d4ce0c64fd887fec6",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_69bc3",
                            table="ledger_entry",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="own_transaction",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (NEW.txid <> transaction_number())",
                            func="NEW.txid = transaction_number(); RETURN NEW;",
                            hash="b0a3b6c1e7bc07e64ee588d904b6f8b4f89ac822",
                            operation="INSERT",
                            pgid="pgtrigger_own_transaction_6e77f",
                            table="ledger_entry",
                            when="BEFORE",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Proof",
            fields=[
                ("only", models.BooleanField(default=True, editable=False, primary_key=True, serialize=False)),
                ("upto", models.BigIntegerField(default=0)),
                ("balance", models.BigIntegerField(default=0)),
                ("reserved", models.BigIntegerField(default=0)),
                ("proved_at", models.DateTimeField(null=True)),
                ("all_proved_at", models.DateTimeField(null=True)),
                ("flaw", models.CharField(blank=True, max_length=20)),
                ("flaw_amount", models.BigIntegerField(default=0)),
                ("flaw_entry", models.BigIntegerField(null=True)),
            ],
            options={
                "constraints": [models.CheckConstraint(condition=models.Q(("only", True)), name="proof_is_one_row")]
            },
        ),
        migrations.CreateModel(
            name="RunningDay",
            fields=[
                ("only", models.BooleanField(default=True, editable=False, primary_key=True, serialize=False)),
                ("day", models.DateField()),
                ("last_entry", models.BigIntegerField()),
                ("last_at", models.DateTimeField()),
                ("lowest", models.BigIntegerField()),
                ("sums", models.JSONField(default=dict)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("only", True)), name="running_day_is_one_row")
                ]
            },
        ),
        migrations.CreateModel(
            name="Books",
            fields=[
                ("only", models.BooleanField(default=True, editable=False, primary_key=True, serialize=False)),
                ("balance", models.BigIntegerField(default=0)),
                ("reserved", models.BigIntegerField(default=0)),
                ("found", models.BigIntegerField(default=0)),
                ("opened_at", models.DateTimeField(null=True)),
                ("closed_day", models.DateField(null=True)),
                ("posted_at", models.DateTimeField(null=True)),
            ],
            options={
                "permissions": [("view_books", "Can view books")],
                "default_permissions": (),
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("only", True)), name="books_are_one_row"),
                    models.CheckConstraint(
                        condition=models.Q(("reserved__gte", 0)), name="books_reserve_nothing_negative"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ClosedDay",
            fields=[
                ("day", models.DateField(primary_key=True, serialize=False)),
                ("last_entry", models.BigIntegerField()),
                ("balance", models.BigIntegerField()),
                ("reserved", models.BigIntegerField()),
                ("lowest", models.BigIntegerField()),
                ("sums", models.JSONField(default=dict)),
                ("closed_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("txid", models.BigIntegerField(db_default=core.transactions.TRANSACTION_NUMBER, editable=False)),
            ],
            options={
                "ordering": ["day"],
                "indexes": [models.Index(fields=["txid", "day"], name="closed_day_to_seal")],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="011dcee9daa7cb33d0d3394ee550b9f7d79f6801",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_78ac5",
                            table="ledger_closedday",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="58a80b2cf372932470834f9846d40f97a8312d19",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_757f7",
                            table="ledger_closedday",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="own_transaction",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (NEW.txid <> transaction_number())",
                            func="NEW.txid = transaction_number(); RETURN NEW;",
                            hash="03d92e96dffa8a03c5be2a1b2015ab9c7bfba315",
                            operation="INSERT",
                            pgid="pgtrigger_own_transaction_3bd06",
                            table="ledger_closedday",
                            when="BEFORE",
                        ),
                    ),
                ],
            },
        ),
    ]
