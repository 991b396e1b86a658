import django.db.models.deletion
import pghistory.utils
import pgtrigger.compiler
from django.conf import settings
from django.db import migrations, models

import core.transactions


class Migration(migrations.Migration):
    initial = True

    dependencies = [("core", "0001_initial"), ("staff", "0001_initial")]

    operations = [
        migrations.CreateModel(
            name="Approval",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                ("act", models.CharField(max_length=40)),
                ("subject", models.CharField(max_length=200)),
                ("about", models.CharField(blank=True, max_length=200)),
                ("content", models.TextField()),
                ("sha256", models.CharField(max_length=64)),
                ("reason", models.CharField(blank=True, max_length=500)),
                (
                    "asked_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                ("asked_role", models.CharField(blank=True, max_length=40)),
                ("asked_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField()),
                ("state", models.CharField(default="asked", max_length=10)),
                (
                    "decided_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("decided_role", models.CharField(blank=True, max_length=40)),
                ("decided_at", models.DateTimeField(null=True)),
                ("decision_reason", models.CharField(blank=True, max_length=500)),
                ("changes", models.JSONField(default=dict)),
                ("result", models.CharField(blank=True, max_length=100)),
            ],
            options={
                "ordering": ["-pk"],
                "permissions": [("view_approval", "Can view approval"), ("approve_order", "Can approve order")],
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["-asked_at", "-id"], name="approval_newest"),
                    models.Index(fields=["asked_by", "-asked_at", "-id"], name="approval_by_asker"),
                    models.Index(condition=models.Q(("state", "asked")), fields=["expires_at"], name="approval_open"),
                    models.Index(fields=["state", "-asked_at", "-id"], name="approval_by_state"),
                    models.Index(condition=models.Q(("result__gt", "")), fields=["result"], name="approval_by_result"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state__in", ["approved", "asked", "expired", "refused", "void", "withdrawn"])
                        ),
                        name="approval_state_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "sha256",
                                models.Func(
                                    models.F("content"),
                                    output_field=models.TextField(),
                                    template="encode(sha256(convert_to(%(expressions)s, 'UTF8')), 'hex')",
                                ),
                            )
                        ),
                        name="approval_hash_is_of_its_content",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "approved"), _negated=True),
                            models.Q(("decided_by", models.F("asked_by")), _negated=True),
                            _connector="OR",
                        ),
                        name="approval_needs_two_people",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "withdrawn"), _negated=True),
                            ("decided_by", models.F("asked_by")),
                            _connector="OR",
                        ),
                        name="approval_withdrawn_by_its_author",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("decided_at__isnull", True),
                                ("decided_by__isnull", True),
                                ("result", ""),
                                ("state", "asked"),
                            ),
                            models.Q(
                                ("decided_at__isnull", False),
                                ("decided_by__isnull", True),
                                ("result", ""),
                                ("state", "expired"),
                            ),
                            models.Q(
                                ("decided_at__isnull", False), ("decided_by__isnull", False), ("state", "approved")
                            ),
                            models.Q(
                                ("decided_at__isnull", False),
                                ("decided_by__isnull", False),
                                ("state__in", ["refused", "withdrawn", "void"]),
                                ("result", ""),
                            ),
                            _connector="OR",
                        ),
                        name="approval_decided_as_a_whole",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "refused"), _negated=True), ("decision_reason__gt", ""), _connector="OR"
                        ),
                        name="approval_refused_with_a_reason",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("expires_at__gt", models.F("asked_at")),
                            models.Q(
                                models.Q(("state", "approved"), _negated=True),
                                ("decided_at__lte", models.F("expires_at")),
                                _connector="OR",
                            ),
                        ),
                        name="approval_in_its_time",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("state", "asked")), fields=("act", "subject"), name="approval_open_once"
                    ),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="begins_as_asked",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (NOT (NEW.\"state\" = 'asked'))",
                            func="RAISE EXCEPTION 'pgtrigger: Cannot insert rows from % table', TG_TABLE_NAME;",
                            hash="44a8e1213298985ee8fba18e5996ff6fcfb6a5e4",
                            operation="INSERT",
                            pgid="pgtrigger_begins_as_asked_e4476",
                            table="approvals_approval",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="what_was_asked_never_changes",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition='WHEN (OLD."act" IS DISTINCT FROM (NEW."act") OR OLD."subject" IS DISTINCT FROM (NEW."subject") OR OLD."about" IS DISTINCT FROM (NEW."about") OR OLD."content" IS DISTINCT FROM (NEW."content") OR OLD."sha256" IS DISTINCT FROM (NEW."sha256") OR OLD."reason" IS DISTINCT FROM (NEW."reason") OR OLD."asked_by_id" IS DISTINCT FROM (NEW."asked_by_id") OR OLD."asked_role" IS DISTINCT FROM (NEW."asked_role") OR OLD."asked_at" IS DISTINCT FROM (NEW."asked_at") OR OLD."expires_at" IS DISTINCT FROM (NEW."expires_at"))',
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                            hash="f779c997aa5efc37ddc76a887f7ec833d5514584",
                            operation="UPDATE",
                            pgid="pgtrigger_what_was_asked_never_changes_af447",
                            table="approvals_approval",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="decided_once",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (NOT (OLD.\"state\" = 'asked'))",
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                            hash="d0e30120cee6d44ab7586ebb03dec90615d20b07",
                            operation="UPDATE",
                            pgid="pgtrigger_decided_once_22270",
                            table="approvals_approval",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_deleted",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;",
                            hash="32603dffc1fd24dbba6e99a9a2e4c06159920fda",
                            operation="DELETE",
                            pgid="pgtrigger_never_deleted_abc56",
                            table="approvals_approval",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="5c5589c9971b9504f2e1289116932e961cb2d040",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_68bf6",
                            table="approvals_approval",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "approvals_approvalhistory" ("about", "act", "asked_at", "asked_by_id", "asked_role", "changes", "content", "decided_at", "decided_by_id", "decided_role", "decision_reason", "expires_at", "id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "result", "sha256", "state", "subject") VALUES (NEW."about", NEW."act", NEW."asked_at", NEW."asked_by_id", NEW."asked_role", NEW."changes", NEW."content", NEW."decided_at", NEW."decided_by_id", NEW."decided_role", NEW."decision_reason", NEW."expires_at", NEW."id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'insert\', NEW."id", NEW."reason", NEW."result", NEW."sha256", NEW."state", NEW."subject"); RETURN NULL;',
                            hash="68165dac05c3233cb43c02745f7f06b7ea639542",
                            operation="INSERT",
                            pgid="pgtrigger_history_insert_15cc8",
                            table="approvals_approval",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                            func='INSERT INTO "approvals_approvalhistory" ("about", "act", "asked_at", "asked_by_id", "asked_role", "changes", "content", "decided_at", "decided_by_id", "decided_role", "decision_reason", "expires_at", "id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "result", "sha256", "state", "subject") VALUES (NEW."about", NEW."act", NEW."asked_at", NEW."asked_by_id", NEW."asked_role", NEW."changes", NEW."content", NEW."decided_at", NEW."decided_by_id", NEW."decided_role", NEW."decision_reason", NEW."expires_at", NEW."id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'update\', NEW."id", NEW."reason", NEW."result", NEW."sha256", NEW."state", NEW."subject"); RETURN NULL;',
                            hash="192a766d1dc98f0aee80ecd466a1e072ad025744",
                            operation="UPDATE",
                            pgid="pgtrigger_history_update_cf16c",
                            table="approvals_approval",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "approvals_approvalhistory" ("about", "act", "asked_at", "asked_by_id", "asked_role", "changes", "content", "decided_at", "decided_by_id", "decided_role", "decision_reason", "expires_at", "id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "result", "sha256", "state", "subject") VALUES (OLD."about", OLD."act", OLD."asked_at", OLD."asked_by_id", OLD."asked_role", OLD."changes", OLD."content", OLD."decided_at", OLD."decided_by_id", OLD."decided_role", OLD."decision_reason", OLD."expires_at", OLD."id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'delete\', OLD."id", OLD."reason", OLD."result", OLD."sha256", OLD."state", OLD."subject"); RETURN NULL;',
                            hash="b24dcd6f603726dc69b20996ed74f382ba2a5388",
                            operation="DELETE",
                            pgid="pgtrigger_history_delete_ee378",
                            table="approvals_approval",
                            when="AFTER",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ApprovalHistory",
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
                        to="approvals.approval",
                    ),
                ),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("id", models.BigIntegerField()),
                ("act", models.CharField(max_length=40)),
                ("subject", models.CharField(max_length=200)),
                ("about", models.CharField(blank=True, max_length=200)),
                ("content", models.TextField()),
                ("sha256", models.CharField(max_length=64)),
                ("reason", models.CharField(blank=True, max_length=500)),
                (
                    "asked_by",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("asked_role", models.CharField(blank=True, max_length=40)),
                ("asked_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField()),
                ("state", models.CharField(default="asked", max_length=10)),
                (
                    "decided_by",
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
                ("decided_role", models.CharField(blank=True, max_length=40)),
                ("decided_at", models.DateTimeField(null=True)),
                ("decision_reason", models.CharField(blank=True, max_length=500)),
                ("changes", models.JSONField(default=dict)),
                ("result", models.CharField(blank=True, max_length=100)),
            ],
            options={
                "abstract": False,
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["txid", "pgh_id"], name="approval_history_seal"),
                    models.Index(fields=["pgh_obj", "-pgh_id"], name="approval_history_row"),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="4fc09b840bc883628b457443dae8e2eed260db5e",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_ff226",
                            table="approvals_approvalhistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="5347509420148e62ccb060e4464388e86ab7c1c0",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_f766c",
                            table="approvals_approvalhistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="only_copies",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (pg_trigger_depth() = 0)",
                            func="RAISE EXCEPTION 'pgtrigger: Cannot insert rows from % table', TG_TABLE_NAME;",
                            hash="833dc492db06cb85173f51a9473f358411a89bf7",
                            operation="INSERT",
                            pgid="pgtrigger_only_copies_4f284",
                            table="approvals_approvalhistory",
                            when="BEFORE",
                        ),
                    ),
                ],
            },
        ),
    ]
