import django.db.models.deletion
import django.db.models.functions.text
import pghistory.utils
import pgtrigger.compiler
from django.conf import settings
from django.db import migrations, models

import core.transactions
import staff.models


class Migration(migrations.Migration):
    initial = True

    dependencies = [("branches", "0001_initial"), ("core", "0001_initial"), ("staff", "0001_initial")]

    operations = [
        migrations.CreateModel(
            name="Pin",
            fields=[
                (
                    "person",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="pin",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("encoded", models.CharField(max_length=128)),
                ("set_at", models.DateTimeField()),
                ("epoch", models.PositiveIntegerField(null=True)),
            ],
            options={
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="history_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "tills_pinhistory" ("epoch", "person_id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "set_at") VALUES (NEW."epoch", NEW."person_id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'insert\', NEW."person_id", NEW."set_at"); RETURN NULL;',
                            hash="c0781a3cebb38c0461599c59b99824a657046224",
                            operation="INSERT",
                            pgid="pgtrigger_history_insert_9cd27",
                            table="tills_pin",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition='WHEN (OLD."epoch" IS DISTINCT FROM (NEW."epoch") OR OLD."person_id" IS DISTINCT FROM (NEW."person_id") OR OLD."set_at" IS DISTINCT FROM (NEW."set_at"))',
                            func='INSERT INTO "tills_pinhistory" ("epoch", "person_id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "set_at") VALUES (NEW."epoch", NEW."person_id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'update\', NEW."person_id", NEW."set_at"); RETURN NULL;',
                            hash="6aaaa771783433965701e2912fd0231fca5dd5ff",
                            operation="UPDATE",
                            pgid="pgtrigger_history_update_19f93",
                            table="tills_pin",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "tills_pinhistory" ("epoch", "person_id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "set_at") VALUES (OLD."epoch", OLD."person_id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'delete\', OLD."person_id", OLD."set_at"); RETURN NULL;',
                            hash="439778b176775242fd64bd2428783b840d0feab0",
                            operation="DELETE",
                            pgid="pgtrigger_history_delete_9d9a3",
                            table="tills_pin",
                            when="AFTER",
                        ),
                    ),
                ]
            },
        ),
        migrations.CreateModel(
            name="PinHistory",
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
                        to="tills.pin",
                    ),
                ),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                (
                    "person",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("set_at", models.DateTimeField()),
                ("epoch", models.PositiveIntegerField(null=True)),
            ],
            options={
                "abstract": False,
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["txid", "pgh_id"], name="pin_history_seal"),
                    models.Index(fields=["pgh_obj", "-pgh_id"], name="pin_history_row"),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="623980a7b67312ea0b374d2d5ce424e0c4b7a074",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_7b72d",
                            table="tills_pinhistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="d1e585919ed732c609b59243f546971be0a8e87c",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_47b74",
                            table="tills_pinhistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="only_copies",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (pg_trigger_depth() = 0)",
                            func="RAISE EXCEPTION 'pgtrigger: Cannot insert rows from % table', TG_TABLE_NAME;",
                            hash="75cb00567043e387394c213075b86e506e6c160e",
                            operation="INSERT",
                            pgid="pgtrigger_only_copies_6555f",
                            table="tills_pinhistory",
                            when="BEFORE",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Till",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                ("name", models.CharField(max_length=60)),
                ("digest", models.CharField(max_length=64, unique=True)),
                (
                    "enrolled_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                ("enrolled_at", models.DateTimeField()),
                ("switched_off_at", models.DateTimeField(null=True)),
                ("pin_limit", models.BigIntegerField(blank=True, null=True)),
                (
                    "held_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("active_at", models.DateTimeField(null=True)),
                ("wrong_pins", models.JSONField(default=dict)),
                ("wrong_at", models.DateTimeField(null=True)),
                ("guesses", models.PositiveBigIntegerField(default=0)),
                ("pin_locks", models.PositiveSmallIntegerField(default=0)),
                ("pin_locked_until", models.DateTimeField(null=True)),
                (
                    "branch",
                    models.ForeignKey(
                        db_default=1,
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="tills",
                        to="branches.branch",
                    ),
                ),
            ],
            options={
                "permissions": [("enrol_till", "Can enrol till")],
                "default_permissions": (),
                "constraints": [
                    models.UniqueConstraint(
                        django.db.models.functions.text.Upper("name"),
                        condition=models.Q(("switched_off_at", None)),
                        name="till_name_once",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("switched_off_at", None), ("held_by", None), _connector="OR"),
                        name="till_off_held_by_nobody",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("pin_limit", None), ("pin_limit__gte", 0), _connector="OR"),
                        name="till_limit_not_negative",
                    ),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="history_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "tills_tillhistory" ("branch_id", "enrolled_at", "enrolled_by_id", "id", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "pin_limit", "switched_off_at") VALUES (NEW."branch_id", NEW."enrolled_at", NEW."enrolled_by_id", NEW."id", NEW."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'insert\', NEW."id", NEW."pin_limit", NEW."switched_off_at"); RETURN NULL;',
                            hash="cebd3e91aa2ce00e770bbc9863d94321fb564cac",
                            operation="INSERT",
                            pgid="pgtrigger_history_insert_677b3",
                            table="tills_till",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition='WHEN (OLD."branch_id" IS DISTINCT FROM (NEW."branch_id") OR OLD."enrolled_at" IS DISTINCT FROM (NEW."enrolled_at") OR OLD."enrolled_by_id" IS DISTINCT FROM (NEW."enrolled_by_id") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."name" IS DISTINCT FROM (NEW."name") OR OLD."pin_limit" IS DISTINCT FROM (NEW."pin_limit") OR OLD."switched_off_at" IS DISTINCT FROM (NEW."switched_off_at"))',
                            func='INSERT INTO "tills_tillhistory" ("branch_id", "enrolled_at", "enrolled_by_id", "id", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "pin_limit", "switched_off_at") VALUES (NEW."branch_id", NEW."enrolled_at", NEW."enrolled_by_id", NEW."id", NEW."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'update\', NEW."id", NEW."pin_limit", NEW."switched_off_at"); RETURN NULL;',
                            hash="fce15928eeda5e149365fb4db12c3c43e73ab728",
                            operation="UPDATE",
                            pgid="pgtrigger_history_update_a1dc3",
                            table="tills_till",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "tills_tillhistory" ("branch_id", "enrolled_at", "enrolled_by_id", "id", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "pin_limit", "switched_off_at") VALUES (OLD."branch_id", OLD."enrolled_at", OLD."enrolled_by_id", OLD."id", OLD."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'delete\', OLD."id", OLD."pin_limit", OLD."switched_off_at"); RETURN NULL;',
                            hash="238b871d2341b64cb495d912fb7cfef9d948b0e1",
                            operation="DELETE",
                            pgid="pgtrigger_history_delete_7e996",
                            table="tills_till",
                            when="AFTER",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="TillHistory",
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
                        to="tills.till",
                    ),
                ),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("id", models.BigIntegerField()),
                ("name", models.CharField(max_length=60)),
                (
                    "enrolled_by",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("enrolled_at", models.DateTimeField()),
                ("switched_off_at", models.DateTimeField(null=True)),
                ("pin_limit", models.BigIntegerField(blank=True, null=True)),
                (
                    "branch",
                    models.ForeignKey(
                        db_constraint=False,
                        db_default=1,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="branches.branch",
                    ),
                ),
            ],
            options={
                "abstract": False,
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["txid", "pgh_id"], name="till_history_seal"),
                    models.Index(fields=["pgh_obj", "-pgh_id"], name="till_history_row"),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="dbfcbc3044bdeeaeff9ca4f732c189d2960e678d",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_26350",
                            table="tills_tillhistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="2bd7d41e879972a3491196a82da69ebb55021a9d",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_adfd1",
                            table="tills_tillhistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="only_copies",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (pg_trigger_depth() = 0)",
                            func="RAISE EXCEPTION 'pgtrigger: Cannot insert rows from % table', TG_TABLE_NAME;",
                            hash="5fc513ef8f0e1e47f534b8c2f64ab3479df68de4",
                            operation="INSERT",
                            pgid="pgtrigger_only_copies_a50fb",
                            table="tills_tillhistory",
                            when="BEFORE",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="PinPerson",
            fields=[],
            options={"proxy": True, "default_permissions": (), "indexes": [], "constraints": []},
            bases=("staff.user",),
            managers=[("objects", staff.models.StaffManager())],
        ),
        migrations.CreateModel(
            name="EnrolmentCode",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("name", models.CharField(max_length=60)),
                ("pin_limit", models.BigIntegerField(blank=True, null=True)),
                (
                    "made_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                ("made_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField()),
                ("used_at", models.DateTimeField(null=True)),
                (
                    "branch",
                    models.ForeignKey(
                        db_default=1,
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="branches.branch",
                    ),
                ),
            ],
        ),
    ]
