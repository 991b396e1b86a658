import django.db.models.deletion
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
            name="AuditEvent",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                ("txid", models.BigIntegerField(db_default=core.transactions.TRANSACTION_NUMBER, editable=False)),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                ("kind", models.CharField(max_length=40)),
                (
                    "person",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("role", models.CharField(blank=True, max_length=200)),
                ("address", models.CharField(blank=True, max_length=45)),
                ("request_id", models.CharField(blank=True, max_length=64)),
                ("subject", models.CharField(blank=True, max_length=200)),
                ("before", models.JSONField(null=True)),
                ("after", models.JSONField(null=True)),
                ("facts", models.JSONField(null=True)),
            ],
            options={
                "ordering": ["-pk"],
                "permissions": [("view_auditevent", "Can view auditevent")],
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["txid", "id"], name="audit_event_to_seal"),
                    models.Index(fields=["person", "-at", "-id"], name="audit_event_by_person"),
                    models.Index(fields=["kind", "-at", "-id"], name="audit_event_by_kind"),
                    models.Index(fields=["subject", "-at", "-id"], name="audit_event_by_subject"),
                    models.Index(fields=["-at", "-id"], name="audit_event_by_time"),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="0450288fcb55201b346da4e2d56d2293ba7aac03",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_00dfa",
                            table="audit_auditevent",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="404047966662e59280e4456cd0a9e89f37533a48",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_cf96e",
                            table="audit_auditevent",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="own_transaction",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (NEW.txid <> transaction_number())",
                            func="NEW.txid = transaction_number(); RETURN NEW;",
                            hash="e23e8a5cf5c49d06133b688fc41d9e40d6dd20df",
                            operation="INSERT",
                            pgid="pgtrigger_own_transaction_ae269",
                            table="audit_auditevent",
                            when="BEFORE",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Checkpoint",
            fields=[
                ("size", models.BigIntegerField(primary_key=True, serialize=False)),
                ("root", models.BinaryField()),
                ("at", models.DateTimeField()),
                ("note", models.TextField()),
            ],
            options={
                "ordering": ["size"],
                "default_permissions": (),
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="d8ad92bdef105590e945d427475bc902c22dac79",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_92e06",
                            table="audit_checkpoint",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="8823ee07c839abae8a8158196c3255327957dc15",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_3686d",
                            table="audit_checkpoint",
                            when="BEFORE",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Sealing",
            fields=[
                ("only", models.BooleanField(default=True, editable=False, primary_key=True, serialize=False)),
                ("size", models.BigIntegerField(default=0)),
                ("key", models.CharField(blank=True, max_length=36)),
                ("sealed_at", models.DateTimeField(null=True)),
                ("published", models.BigIntegerField(default=0)),
                ("announced_at", models.DateTimeField(null=True)),
                ("verified_at", models.DateTimeField(null=True)),
                ("made_up", models.BooleanField(default=False)),
                ("flaw", models.JSONField(null=True)),
            ],
            options={
                "default_permissions": (),
                "constraints": [models.CheckConstraint(condition=models.Q(("only", True)), name="sealing_is_one_row")],
            },
        ),
        migrations.CreateModel(
            name="Source",
            fields=[
                ("number", models.SmallAutoField(primary_key=True, serialize=False)),
                ("table", models.CharField(max_length=63, unique=True)),
            ],
            options={
                "default_permissions": (),
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="7bdfa536518ee4bb3bb05cf2e17550ff0c59c96f",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_104ef",
                            table="audit_source",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="f03e0e9a30dc2836ff7d505edd63093ba6a03820",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_1bd9f",
                            table="audit_source",
                            when="BEFORE",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Tile",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                ("level", models.SmallIntegerField()),
                ("number", models.BigIntegerField()),
                ("hashes", models.BinaryField()),
                ("keys", models.BinaryField(default=bytes)),
                ("first_key", models.BinaryField(null=True)),
            ],
            options={
                "default_permissions": (),
                "indexes": [models.Index(condition=models.Q(("level", 0)), fields=["first_key"], name="tile_by_key")],
                "constraints": [models.UniqueConstraint(fields=("level", "number"), name="tile_once")],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="only_grows",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="IF (NEW.level, NEW.number, NEW.first_key) IS DISTINCT FROM (OLD.level, OLD.number, OLD.first_key) OR substring(NEW.hashes FROM 1 FOR length(OLD.hashes)) <> OLD.hashes OR substring(NEW.keys FROM 1 FOR length(OLD.keys)) <> OLD.keys THEN RAISE EXCEPTION 'a tile only grows'; END IF; RETURN NEW;",
                            hash="a24cdbd3ffd3203fd4d8156b9640507dcde44f42",
                            operation="UPDATE",
                            pgid="pgtrigger_only_grows_746ae",
                            table="audit_tile",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_deleted",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;",
                            hash="eb69a6422a516c39a53932e6632f182910a13808",
                            operation="DELETE",
                            pgid="pgtrigger_never_deleted_969c7",
                            table="audit_tile",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="547d0238318734a9915186d90863de7408e9d993",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_6d4b6",
                            table="audit_tile",
                            when="BEFORE",
                        ),
                    ),
                ],
            },
        ),
    ]
