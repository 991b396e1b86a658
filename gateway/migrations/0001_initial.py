import pgtrigger.compiler
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="UpstreamAccount",
            fields=[
                ("only", models.BooleanField(default=True, editable=False, primary_key=True, serialize=False)),
                ("fingerprint", models.CharField(blank=True, max_length=64)),
                ("last_answer_at", models.DateTimeField(null=True)),
                ("unreachable_since", models.DateTimeField(null=True)),
                ("refused_since", models.DateTimeField(null=True)),
                ("refused_code", models.CharField(blank=True, max_length=40)),
                ("restored_at", models.DateTimeField(null=True)),
                ("restored_to", models.DateTimeField(null=True)),
                ("is_held", models.BooleanField(default=False)),
            ],
            options={
                "permissions": [("read_balance", "Can read balance")],
                "default_permissions": (),
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("only", True)), name="upstream_account_is_one_row")
                ],
            },
        ),
        migrations.CreateModel(
            name="Exchange",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "answered_no",
                    models.BigIntegerField(
                        db_default=models.Func(
                            models.Func(
                                models.Value("gateway_exchange"), models.Value("id"), function="pg_get_serial_sequence"
                            ),
                            function="nextval",
                            output_field=models.BigIntegerField(),
                        ),
                        null=True,
                    ),
                ),
                ("endpoint", models.CharField(max_length=30)),
                ("ref_id", models.CharField(blank=True, max_length=64)),
                ("sent_at", models.DateTimeField()),
                ("answered_at", models.DateTimeField(null=True)),
                ("outcome", models.CharField(max_length=200)),
                ("status", models.CharField(blank=True, max_length=20)),
                ("trx_id", models.CharField(blank=True, max_length=100)),
                ("balance", models.BigIntegerField(null=True)),
                ("raw", models.JSONField(null=True)),
                ("request", models.JSONField(null=True)),
                ("http_status", models.PositiveSmallIntegerField(null=True)),
                ("latency_ms", models.IntegerField(null=True)),
                ("waited_ms", models.IntegerField(null=True)),
                ("attempt", models.IntegerField(default=1)),
                ("error", models.CharField(blank=True, max_length=140)),
                ("trace_id", models.CharField(blank=True, max_length=32)),
            ],
            options={
                "ordering": ["-pk"],
                "permissions": [("view_exchange", "Can view exchange")],
                "default_permissions": (),
                "indexes": [
                    models.Index(
                        condition=models.Q(("balance__isnull", False)), fields=["id"], name="exchange_readings"
                    ),
                    models.Index(
                        condition=models.Q(("ref_id__gt", "")), fields=["ref_id", "id"], name="exchange_by_order"
                    ),
                    models.Index(fields=["sent_at"], name="exchange_by_time"),
                    models.Index(fields=["endpoint", "sent_at"], name="exchange_by_endpoint"),
                    models.Index(condition=models.Q(("error__gt", "")), fields=["sent_at"], name="exchange_errors"),
                    models.Index(
                        condition=models.Q(("error__gt", "")), fields=["error", "sent_at"], name="exchange_by_error"
                    ),
                    models.Index(
                        condition=models.Q(("error__gt", "")),
                        fields=["endpoint", "sent_at"],
                        name="exchange_endpoint_errors",
                    ),
                    models.Index(
                        condition=models.Q(("error__gt", "")),
                        fields=["endpoint", "error", "sent_at", "id"],
                        name="exchange_error_group",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("answered_no__isnull", True), ("answered_no__gt", models.F("id")), _connector="OR"
                        ),
                        name="exchange_in_order",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("balance__isnull", True), ("answered_no__isnull", False), _connector="OR"),
                        name="exchange_balance_is_answered",
                    ),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                            hash="3191cddd347a43950809d51ecb666a2cd1f1da15",
                            operation="UPDATE",
                            pgid="pgtrigger_append_only_e31a5",
                            table="gateway_exchange",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="kept_for_ninety_days",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="IF OLD.sent_at > now() - interval '90 days' THEN RAISE EXCEPTION 'exchange % is kept for 90 days', OLD.id; END IF; RETURN OLD;",
                            hash="0d973863a5b59eba699216b7e1162c1abb0f90c3",
                            operation="DELETE",
                            pgid="pgtrigger_kept_for_ninety_days_1c70f",
                            table="gateway_exchange",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="fcccdbefbe00cdf53f7c8a9f4623307550ceeabe",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_3138b",
                            table="gateway_exchange",
                            when="BEFORE",
                        ),
                    ),
                ],
            },
        ),
    ]
