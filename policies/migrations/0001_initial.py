import django.db.models.deletion
import pghistory.utils
import pgtrigger.compiler
from django.db import migrations, models

import core.transactions


class Migration(migrations.Migration):
    initial = True

    dependencies = [("core", "0001_initial")]

    operations = [
        migrations.CreateModel(
            name="Policies",
            fields=[
                ("only", models.BooleanField(default=True, editable=False, primary_key=True, serialize=False)),
                ("session_idle_minutes", models.BigIntegerField(default=60)),
                ("pin_idle_minutes", models.BigIntegerField(default=5)),
                ("pin_order_limit", models.BigIntegerField(default=1000000)),
                ("seller_rise_limit", models.BigIntegerField(default=0)),
                ("drawer_difference_limit", models.BigIntegerField(default=20000)),
                ("approval_valid_hours", models.BigIntegerField(default=24)),
                ("approval_alert_minutes", models.BigIntegerField(default=15)),
                ("order_verdict_after_minutes", models.BigIntegerField(default=60)),
                ("complaint_due_hours", models.BigIntegerField(default=24)),
                ("alert_low_balance", models.BigIntegerField(default=500000)),
                ("alert_low_balance_hours", models.BigIntegerField(default=4)),
                ("exchanges_kept_days", models.BigIntegerField(default=90)),
                ("blind_count", models.BooleanField(default=False)),
                ("opens_at", models.TimeField(null=True)),
                ("closes_at", models.TimeField(null=True)),
                ("quiet_from", models.TimeField(null=True)),
                ("quiet_to", models.TimeField(null=True)),
            ],
            options={
                "permissions": [("change_policies", "Can change policies")],
                "default_permissions": (),
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="history_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "policies_policieshistory" ("alert_low_balance", "alert_low_balance_hours", "approval_alert_minutes", "approval_valid_hours", "blind_count", "closes_at", "complaint_due_hours", "drawer_difference_limit", "exchanges_kept_days", "only", "opens_at", "order_verdict_after_minutes", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "pin_idle_minutes", "pin_order_limit", "quiet_from", "quiet_to", "seller_rise_limit", "session_idle_minutes") VALUES (NEW."alert_low_balance", NEW."alert_low_balance_hours", NEW."approval_alert_minutes", NEW."approval_valid_hours", NEW."blind_count", NEW."closes_at", NEW."complaint_due_hours", NEW."drawer_difference_limit", NEW."exchanges_kept_days", NEW."only", NEW."opens_at", NEW."order_verdict_after_minutes", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'insert\', NEW."only", NEW."pin_idle_minutes", NEW."pin_order_limit", NEW."quiet_from", NEW."quiet_to", NEW."seller_rise_limit", NEW."session_idle_minutes"); RETURN NULL;',
                            hash="55b04030eccae85c0752b1727fef4bbe34e77349",
                            operation="INSERT",
                            pgid="pgtrigger_history_insert_ca915",
                            table="policies_policies",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                            func='INSERT INTO "policies_policieshistory" ("alert_low_balance", "alert_low_balance_hours", "approval_alert_minutes", "approval_valid_hours", "blind_count", "closes_at", "complaint_due_hours", "drawer_difference_limit", "exchanges_kept_days", "only", "opens_at", "order_verdict_after_minutes", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "pin_idle_minutes", "pin_order_limit", "quiet_from", "quiet_to", "seller_rise_limit", "session_idle_minutes") VALUES (NEW."alert_low_balance", NEW."alert_low_balance_hours", NEW."approval_alert_minutes", NEW."approval_valid_hours", NEW."blind_count", NEW."closes_at", NEW."complaint_due_hours", NEW."drawer_difference_limit", NEW."exchanges_kept_days", NEW."only", NEW."opens_at", NEW."order_verdict_after_minutes", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'update\', NEW."only", NEW."pin_idle_minutes", NEW."pin_order_limit", NEW."quiet_from", NEW."quiet_to", NEW."seller_rise_limit", NEW."session_idle_minutes"); RETURN NULL;',
                            hash="2486f9c6fe54c4b852266b2d707911e22dd4cf8d",
                            operation="UPDATE",
                            pgid="pgtrigger_history_update_66fb0",
                            table="policies_policies",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "policies_policieshistory" ("alert_low_balance", "alert_low_balance_hours", "approval_alert_minutes", "approval_valid_hours", "blind_count", "closes_at", "complaint_due_hours", "drawer_difference_limit", "exchanges_kept_days", "only", "opens_at", "order_verdict_after_minutes", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "pin_idle_minutes", "pin_order_limit", "quiet_from", "quiet_to", "seller_rise_limit", "session_idle_minutes") VALUES (OLD."alert_low_balance", OLD."alert_low_balance_hours", OLD."approval_alert_minutes", OLD."approval_valid_hours", OLD."blind_count", OLD."closes_at", OLD."complaint_due_hours", OLD."drawer_difference_limit", OLD."exchanges_kept_days", OLD."only", OLD."opens_at", OLD."order_verdict_after_minutes", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'delete\', OLD."only", OLD."pin_idle_minutes", OLD."pin_order_limit", OLD."quiet_from", OLD."quiet_to", OLD."seller_rise_limit", OLD."session_idle_minutes"); RETURN NULL;',
                            hash="7b10571868ff477e66b2da7b11df2eda56ea9076",
                            operation="DELETE",
                            pgid="pgtrigger_history_delete_7ae74",
                            table="policies_policies",
                            when="AFTER",
                        ),
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("only", True)), name="policies_are_one_row"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("quiet_from__isnull", True), ("quiet_to__isnull", True)),
                            models.Q(("quiet_from__isnull", False), ("quiet_to__isnull", False)),
                            _connector="OR",
                        ),
                        name="policies_quiet_hours_have_both_ends",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("closes_at__isnull", True), ("opens_at__isnull", True)),
                            models.Q(
                                ("closes_at__isnull", False),
                                ("opens_at__isnull", False),
                                models.Q(("opens_at", models.F("closes_at")), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="policies_opening_hours_have_two_ends",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("session_idle_minutes__gte", 5), ("session_idle_minutes__lte", 720)),
                        name="policy_session_idle_minutes",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("pin_idle_minutes__gte", 1), ("pin_idle_minutes__lte", 60)),
                        name="policy_pin_idle_minutes",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("pin_order_limit__gte", 0), ("pin_order_limit__lte", 999999999999)),
                        name="policy_pin_order_limit",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("seller_rise_limit__gte", 0), ("seller_rise_limit__lte", 999999999999)),
                        name="policy_seller_rise_limit",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("drawer_difference_limit__gte", 0), ("drawer_difference_limit__lte", 999999999999)
                        ),
                        name="policy_drawer_difference_limit",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("approval_valid_hours__gte", 1), ("approval_valid_hours__lte", 720)),
                        name="policy_approval_valid_hours",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("approval_alert_minutes__gte", 1), ("approval_alert_minutes__lte", 1440)),
                        name="policy_approval_alert_minutes",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("order_verdict_after_minutes__gte", 15), ("order_verdict_after_minutes__lte", 10080)
                        ),
                        name="policy_order_verdict_after_minutes",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("complaint_due_hours__gte", 1), ("complaint_due_hours__lte", 720)),
                        name="policy_complaint_due_hours",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("alert_low_balance__gte", 0), ("alert_low_balance__lte", 999999999999)),
                        name="policy_alert_low_balance",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("alert_low_balance_hours__gte", 0), ("alert_low_balance_hours__lte", 240)),
                        name="policy_alert_low_balance_hours",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("exchanges_kept_days__gte", 90), ("exchanges_kept_days__lte", 3650)),
                        name="policy_exchanges_kept_days",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="PoliciesHistory",
            fields=[
                ("pgh_id", models.BigAutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField()),
                ("pgh_label", models.CharField(max_length=6)),
                ("txid", models.BigIntegerField(db_default=core.transactions.TRANSACTION_NUMBER, editable=False)),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("only", models.BooleanField(default=True, editable=False, serialize=False)),
                ("session_idle_minutes", models.BigIntegerField(default=60)),
                ("pin_idle_minutes", models.BigIntegerField(default=5)),
                ("pin_order_limit", models.BigIntegerField(default=1000000)),
                ("seller_rise_limit", models.BigIntegerField(default=0)),
                ("drawer_difference_limit", models.BigIntegerField(default=20000)),
                ("approval_valid_hours", models.BigIntegerField(default=24)),
                ("approval_alert_minutes", models.BigIntegerField(default=15)),
                ("order_verdict_after_minutes", models.BigIntegerField(default=60)),
                ("complaint_due_hours", models.BigIntegerField(default=24)),
                ("alert_low_balance", models.BigIntegerField(default=500000)),
                ("alert_low_balance_hours", models.BigIntegerField(default=4)),
                ("exchanges_kept_days", models.BigIntegerField(default=90)),
                ("blind_count", models.BooleanField(default=False)),
                ("opens_at", models.TimeField(null=True)),
                ("closes_at", models.TimeField(null=True)),
                ("quiet_from", models.TimeField(null=True)),
                ("quiet_to", models.TimeField(null=True)),
                (
                    "pgh_obj",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="history",
                        to="policies.policies",
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
                            hash="e4f64d4aff5e6262dfea3c97b4583f740c623ea6",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_988a0",
                            table="policies_policieshistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="06ed8168186c814747b044f00f504244bf552897",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_22a39",
                            table="policies_policieshistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="only_copies",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (pg_trigger_depth() = 0)",
                            func="RAISE EXCEPTION 'pgtrigger: Cannot insert rows from % table', TG_TABLE_NAME;",
                            hash="8b9476d3c1a9adf3f6339068cf1efada020d07ab",
                            operation="INSERT",
                            pgid="pgtrigger_only_copies_e3c43",
                            table="policies_policieshistory",
                            when="BEFORE",
                        ),
                    ),
                ],
                "indexes": [
                    models.Index(fields=["txid", "pgh_id"], name="policies_history_seal"),
                    models.Index(fields=["pgh_obj", "-pgh_id"], name="policies_history_row"),
                ],
            },
        ),
    ]
