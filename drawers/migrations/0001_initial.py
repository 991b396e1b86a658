import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.expressions
import django.db.models.functions.text
import pghistory.utils
import pgtrigger.compiler
from django.conf import settings
from django.db import migrations, models

import core.transactions


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("branches", "0001_initial"),
        ("core", "0001_initial"),
        ("credit", "0001_initial"),
        ("staff", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="DrawerDay",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                ("day", models.DateField(unique=True)),
                (
                    "signed_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("signed_at", models.DateTimeField(null=True)),
                ("facts", models.JSONField(default=dict)),
            ],
            options={
                "permissions": [("sign_day", "Can sign day")],
                "default_permissions": (),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("signed_at__isnull", True), ("signed_by__isnull", True)),
                            models.Q(("signed_at__isnull", False), ("signed_by__isnull", False)),
                            _connector="OR",
                        ),
                        name="drawer_day_signed_as_a_whole",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("signed_at__isnull", True), ("signed_at__date__gt", models.F("day")), _connector="OR"
                        ),
                        name="drawer_day_signed_when_it_is_over",
                    ),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="signed_once",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition='WHEN (OLD."signed_at" IS NOT NULL)',
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                            hash="5b9db6181b4d054796ba07980875b6591d824bea",
                            operation="UPDATE",
                            pgid="pgtrigger_signed_once_54fb2",
                            table="drawers_drawerday",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_deleted",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;",
                            hash="f4e84b943f7a1ce25fc8ba72749b8bdd624f6668",
                            operation="DELETE",
                            pgid="pgtrigger_never_deleted_9e23a",
                            table="drawers_drawerday",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="f2b6749816f1f35ef5525db44ef5fd78ca4cf780",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_8407d",
                            table="drawers_drawerday",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "drawers_drawerdayhistory" ("day", "facts", "id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "signed_at", "signed_by_id") VALUES (NEW."day", NEW."facts", NEW."id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'insert\', NEW."id", NEW."signed_at", NEW."signed_by_id"); RETURN NULL;',
                            hash="370d65e276bf8bb56fa72b9d429ebe6d3b62cc8b",
                            operation="INSERT",
                            pgid="pgtrigger_history_insert_67f8c",
                            table="drawers_drawerday",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                            func='INSERT INTO "drawers_drawerdayhistory" ("day", "facts", "id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "signed_at", "signed_by_id") VALUES (NEW."day", NEW."facts", NEW."id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'update\', NEW."id", NEW."signed_at", NEW."signed_by_id"); RETURN NULL;',
                            hash="a5b9a3609cdb7f3f1144a1a95dee49128f1be0e9",
                            operation="UPDATE",
                            pgid="pgtrigger_history_update_164be",
                            table="drawers_drawerday",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "drawers_drawerdayhistory" ("day", "facts", "id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "signed_at", "signed_by_id") VALUES (OLD."day", OLD."facts", OLD."id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'delete\', OLD."id", OLD."signed_at", OLD."signed_by_id"); RETURN NULL;',
                            hash="ad2f24c4224d777a324169c50f316e505e3f98f1",
                            operation="DELETE",
                            pgid="pgtrigger_history_delete_b3960",
                            table="drawers_drawerday",
                            when="AFTER",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="DrawerDayHistory",
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
                        to="drawers.drawerday",
                    ),
                ),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("id", models.BigIntegerField()),
                ("day", models.DateField()),
                (
                    "signed_by",
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
                ("signed_at", models.DateTimeField(null=True)),
                ("facts", models.JSONField(default=dict)),
            ],
            options={
                "abstract": False,
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["txid", "pgh_id"], name="drawer_day_history_seal"),
                    models.Index(fields=["pgh_obj", "-pgh_id"], name="drawer_day_history_row"),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="ffaf753676f7bd1950d26cd09689586062d15ed6",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_1bf76",
                            table="drawers_drawerdayhistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="d72cb550aba404086059b7978c038670ba7661c0",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_871db",
                            table="drawers_drawerdayhistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="only_copies",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (pg_trigger_depth() = 0)",
                            func="RAISE EXCEPTION 'pgtrigger: Cannot insert rows from % table', TG_TABLE_NAME;",
                            hash="e35ab0d8401d9ec8e75e41e7f81718c2478fc06b",
                            operation="INSERT",
                            pgid="pgtrigger_only_copies_ab274",
                            table="drawers_drawerdayhistory",
                            when="BEFORE",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Drawer",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                ("name", models.CharField(max_length=60)),
                ("is_active", models.BooleanField(default=True)),
                (
                    "branch",
                    models.ForeignKey(
                        db_default=1,
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="drawers",
                        to="branches.branch",
                    ),
                ),
            ],
            options={
                "permissions": [("use_drawer", "Can use drawer"), ("manage_drawers", "Can manage drawers")],
                "default_permissions": (),
                "constraints": [
                    models.UniqueConstraint(
                        django.db.models.functions.text.Upper("name"),
                        condition=models.Q(("is_active", True)),
                        name="drawer_name_once",
                    )
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="never_deleted",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;",
                            hash="f9c4896bf3890a83127f2d028b14d73af925df16",
                            operation="DELETE",
                            pgid="pgtrigger_never_deleted_4dc89",
                            table="drawers_drawer",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="ab980a0f634c761bd7bf5ef2cddcad6601e4d353",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_23a1b",
                            table="drawers_drawer",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "drawers_drawerhistory" ("branch_id", "id", "is_active", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id") VALUES (NEW."branch_id", NEW."id", NEW."is_active", NEW."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'insert\', NEW."id"); RETURN NULL;',
                            hash="5229615e465165bb992cce94346374c74d948758",
                            operation="INSERT",
                            pgid="pgtrigger_history_insert_ae88f",
                            table="drawers_drawer",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                            func='INSERT INTO "drawers_drawerhistory" ("branch_id", "id", "is_active", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id") VALUES (NEW."branch_id", NEW."id", NEW."is_active", NEW."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'update\', NEW."id"); RETURN NULL;',
                            hash="2236fcf3b8b3ef95914feaf5681ee7069b3117b0",
                            operation="UPDATE",
                            pgid="pgtrigger_history_update_03168",
                            table="drawers_drawer",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "drawers_drawerhistory" ("branch_id", "id", "is_active", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id") VALUES (OLD."branch_id", OLD."id", OLD."is_active", OLD."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'delete\', OLD."id"); RETURN NULL;',
                            hash="d65aba18d5240bbfa181371db2ff9eafe9bda117",
                            operation="DELETE",
                            pgid="pgtrigger_history_delete_98a76",
                            table="drawers_drawer",
                            when="AFTER",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="DrawerHistory",
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
                        to="drawers.drawer",
                    ),
                ),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("id", models.BigIntegerField()),
                ("name", models.CharField(max_length=60)),
                ("is_active", models.BooleanField(default=True)),
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
                    models.Index(fields=["txid", "pgh_id"], name="drawer_history_seal"),
                    models.Index(fields=["pgh_obj", "-pgh_id"], name="drawer_history_row"),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="7875499a86414ab10cc951bf0695ee90fa8a14f8",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_5ffef",
                            table="drawers_drawerhistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="3036f5278c131a39aa87e8daf26f4c8c6bad4c1c",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_53413",
                            table="drawers_drawerhistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="only_copies",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (pg_trigger_depth() = 0)",
                            func="RAISE EXCEPTION 'pgtrigger: Cannot insert rows from % table', TG_TABLE_NAME;",
                            hash="dceddc45baba5ccd4215fa20b1fe11673cbbe755",
                            operation="INSERT",
                            pgid="pgtrigger_only_copies_3a5b3",
                            table="drawers_drawerhistory",
                            when="BEFORE",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Shift",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "drawer",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="shifts", to="drawers.drawer"
                    ),
                ),
                (
                    "cashier",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                ("opened_at", models.DateTimeField()),
                ("opening", models.BigIntegerField()),
                (
                    "opening_pieces",
                    django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), size=10),
                ),
                ("left_before", models.BigIntegerField(null=True)),
                ("opening_reason", models.CharField(blank=True, max_length=500)),
                (
                    "taken_from",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="handed_to",
                        to="drawers.shift",
                    ),
                ),
                ("closed_at", models.DateTimeField(null=True)),
                (
                    "closed_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("counted", models.BigIntegerField(null=True)),
                (
                    "counted_pieces",
                    django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), null=True, size=10),
                ),
                ("expected", models.BigIntegerField(null=True)),
                ("difference", models.BigIntegerField(null=True)),
                ("reason", models.CharField(blank=True, max_length=500)),
                (
                    "day",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="shifts",
                        to="drawers.drawerday",
                    ),
                ),
                ("first_counted", models.BigIntegerField(null=True)),
                ("correction", models.CharField(blank=True, max_length=500)),
            ],
            options={
                "permissions": [("view_shifts", "Can view shifts")],
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["-opened_at", "-id"], name="shift_newest"),
                    models.Index(fields=["cashier", "-opened_at", "-id"], name="shift_by_cashier"),
                    models.Index(fields=["drawer", "-opened_at", "-id"], name="shift_by_drawer"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("closed_at", None)), fields=("drawer",), name="shift_open_once_a_drawer"
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("closed_at", None)), fields=("cashier",), name="shift_open_once_a_person"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("closed_at__isnull", False),
                                ("closed_by__isnull", False),
                                ("counted__isnull", False),
                                ("counted_pieces__isnull", False),
                                ("day__isnull", False),
                                ("difference__isnull", False),
                                ("expected__isnull", False),
                            ),
                            models.Q(
                                ("closed_at__isnull", True),
                                ("closed_by__isnull", True),
                                ("counted__isnull", True),
                                ("counted_pieces__isnull", True),
                                ("day__isnull", True),
                                ("difference__isnull", True),
                                ("expected__isnull", True),
                                ("reason", ""),
                            ),
                            _connector="OR",
                        ),
                        name="shift_closed_as_a_whole",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "opening",
                                django.db.models.expressions.CombinedExpression(
                                    django.db.models.expressions.CombinedExpression(
                                        django.db.models.expressions.CombinedExpression(
                                            django.db.models.expressions.CombinedExpression(
                                                django.db.models.expressions.CombinedExpression(
                                                    django.db.models.expressions.CombinedExpression(
                                                        django.db.models.expressions.CombinedExpression(
                                                            django.db.models.expressions.CombinedExpression(
                                                                django.db.models.expressions.CombinedExpression(
                                                                    django.db.models.expressions.CombinedExpression(
                                                                        models.F("opening_pieces__0"),
                                                                        "*",
                                                                        models.Value(100000),
                                                                    ),
                                                                    "+",
                                                                    django.db.models.expressions.CombinedExpression(
                                                                        models.F("opening_pieces__1"),
                                                                        "*",
                                                                        models.Value(50000),
                                                                    ),
                                                                ),
                                                                "+",
                                                                django.db.models.expressions.CombinedExpression(
                                                                    models.F("opening_pieces__2"),
                                                                    "*",
                                                                    models.Value(20000),
                                                                ),
                                                            ),
                                                            "+",
                                                            django.db.models.expressions.CombinedExpression(
                                                                models.F("opening_pieces__3"), "*", models.Value(10000)
                                                            ),
                                                        ),
                                                        "+",
                                                        django.db.models.expressions.CombinedExpression(
                                                            models.F("opening_pieces__4"), "*", models.Value(5000)
                                                        ),
                                                    ),
                                                    "+",
                                                    django.db.models.expressions.CombinedExpression(
                                                        models.F("opening_pieces__5"), "*", models.Value(2000)
                                                    ),
                                                ),
                                                "+",
                                                django.db.models.expressions.CombinedExpression(
                                                    models.F("opening_pieces__6"), "*", models.Value(1000)
                                                ),
                                            ),
                                            "+",
                                            django.db.models.expressions.CombinedExpression(
                                                models.F("opening_pieces__7"), "*", models.Value(500)
                                            ),
                                        ),
                                        "+",
                                        django.db.models.expressions.CombinedExpression(
                                            models.F("opening_pieces__8"), "*", models.Value(200)
                                        ),
                                    ),
                                    "+",
                                    django.db.models.expressions.CombinedExpression(
                                        models.F("opening_pieces__9"), "*", models.Value(100)
                                    ),
                                ),
                            ),
                            ("opening_pieces__len", 10),
                            ("opening_pieces__0__gte", 0),
                            ("opening_pieces__1__gte", 0),
                            ("opening_pieces__2__gte", 0),
                            ("opening_pieces__3__gte", 0),
                            ("opening_pieces__4__gte", 0),
                            ("opening_pieces__5__gte", 0),
                            ("opening_pieces__6__gte", 0),
                            ("opening_pieces__7__gte", 0),
                            ("opening_pieces__8__gte", 0),
                            ("opening_pieces__9__gte", 0),
                        ),
                        name="shift_opening_adds_up",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("left_before__isnull", True),
                            ("opening", models.F("left_before")),
                            ("opening_reason__gt", ""),
                            _connector="OR",
                        ),
                        name="shift_opened_otherwise_with_a_reason",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("counted__isnull", True),
                            models.Q(
                                (
                                    "counted",
                                    django.db.models.expressions.CombinedExpression(
                                        django.db.models.expressions.CombinedExpression(
                                            django.db.models.expressions.CombinedExpression(
                                                django.db.models.expressions.CombinedExpression(
                                                    django.db.models.expressions.CombinedExpression(
                                                        django.db.models.expressions.CombinedExpression(
                                                            django.db.models.expressions.CombinedExpression(
                                                                django.db.models.expressions.CombinedExpression(
                                                                    django.db.models.expressions.CombinedExpression(
                                                                        django.db.models.expressions.CombinedExpression(
                                                                            models.F("counted_pieces__0"),
                                                                            "*",
                                                                            models.Value(100000),
                                                                        ),
                                                                        "+",
                                                                        django.db.models.expressions.CombinedExpression(
                                                                            models.F("counted_pieces__1"),
                                                                            "*",
                                                                            models.Value(50000),
                                                                        ),
                                                                    ),
                                                                    "+",
                                                                    django.db.models.expressions.CombinedExpression(
                                                                        models.F("counted_pieces__2"),
                                                                        "*",
                                                                        models.Value(20000),
                                                                    ),
                                                                ),
                                                                "+",
                                                                django.db.models.expressions.CombinedExpression(
                                                                    models.F("counted_pieces__3"),
                                                                    "*",
                                                                    models.Value(10000),
                                                                ),
                                                            ),
                                                            "+",
                                                            django.db.models.expressions.CombinedExpression(
                                                                models.F("counted_pieces__4"), "*", models.Value(5000)
                                                            ),
                                                        ),
                                                        "+",
                                                        django.db.models.expressions.CombinedExpression(
                                                            models.F("counted_pieces__5"), "*", models.Value(2000)
                                                        ),
                                                    ),
                                                    "+",
                                                    django.db.models.expressions.CombinedExpression(
                                                        models.F("counted_pieces__6"), "*", models.Value(1000)
                                                    ),
                                                ),
                                                "+",
                                                django.db.models.expressions.CombinedExpression(
                                                    models.F("counted_pieces__7"), "*", models.Value(500)
                                                ),
                                            ),
                                            "+",
                                            django.db.models.expressions.CombinedExpression(
                                                models.F("counted_pieces__8"), "*", models.Value(200)
                                            ),
                                        ),
                                        "+",
                                        django.db.models.expressions.CombinedExpression(
                                            models.F("counted_pieces__9"), "*", models.Value(100)
                                        ),
                                    ),
                                ),
                                ("counted_pieces__len", 10),
                                ("counted_pieces__0__gte", 0),
                                ("counted_pieces__1__gte", 0),
                                ("counted_pieces__2__gte", 0),
                                ("counted_pieces__3__gte", 0),
                                ("counted_pieces__4__gte", 0),
                                ("counted_pieces__5__gte", 0),
                                ("counted_pieces__6__gte", 0),
                                ("counted_pieces__7__gte", 0),
                                ("counted_pieces__8__gte", 0),
                                ("counted_pieces__9__gte", 0),
                            ),
                            _connector="OR",
                        ),
                        name="shift_count_adds_up",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("counted__isnull", True),
                            (
                                "difference",
                                django.db.models.expressions.CombinedExpression(
                                    models.F("counted"), "-", models.F("expected")
                                ),
                            ),
                            _connector="OR",
                        ),
                        name="shift_difference_is_counted_less_expected",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("difference__isnull", True), ("difference", 0), ("reason__gt", ""), _connector="OR"
                        ),
                        name="shift_difference_has_a_reason",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("correction", ""), ("first_counted__isnull", True)),
                            models.Q(
                                ("correction__gt", ""), ("counted__isnull", False), ("first_counted__isnull", False)
                            ),
                            _connector="OR",
                        ),
                        name="shift_corrected_with_a_reason",
                    ),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="begins_open",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition='WHEN (NEW."closed_at" IS NOT NULL)',
                            func="RAISE EXCEPTION 'pgtrigger: Cannot insert rows from % table', TG_TABLE_NAME;",
                            hash="65fba7c44fca571d8974ebc503416abcf02c2013",
                            operation="INSERT",
                            pgid="pgtrigger_begins_open_474ed",
                            table="drawers_shift",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="how_it_began_never_changes",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition='WHEN (OLD."drawer_id" IS DISTINCT FROM (NEW."drawer_id") OR OLD."cashier_id" IS DISTINCT FROM (NEW."cashier_id") OR OLD."opened_at" IS DISTINCT FROM (NEW."opened_at") OR OLD."opening" IS DISTINCT FROM (NEW."opening") OR OLD."opening_pieces" IS DISTINCT FROM (NEW."opening_pieces") OR OLD."taken_from_id" IS DISTINCT FROM (NEW."taken_from_id") OR OLD."left_before" IS DISTINCT FROM (NEW."left_before") OR OLD."opening_reason" IS DISTINCT FROM (NEW."opening_reason"))',
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                            hash="a5e15f9a6d609a1b626c6a466eaa7c95a56e39e0",
                            operation="UPDATE",
                            pgid="pgtrigger_how_it_began_never_changes_e0421",
                            table="drawers_shift",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="begins_with_what_was_left",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="\n    IF NEW.left_before IS DISTINCT FROM (\n        SELECT counted FROM drawers_shift WHERE drawer_id = NEW.drawer_id ORDER BY opened_at DESC, id DESC LIMIT 1\n    ) THEN\n        RAISE EXCEPTION 'drawer %: its last count left another amount', NEW.drawer_id;\n    END IF;\n    RETURN NEW;\n",
                            hash="d535e48810af0d23fe21058a78ac8fd2d7ab8970",
                            operation="INSERT",
                            pgid="pgtrigger_begins_with_what_was_left_42af1",
                            table="drawers_shift",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="corrected_once",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition='WHEN (OLD."closed_at" IS NOT NULL)',
                            func="\n    IF OLD.first_counted IS NOT NULL OR NEW.first_counted IS DISTINCT FROM OLD.counted\n        OR to_jsonb(NEW) - ARRAY['counted', 'counted_pieces', 'difference', 'reason', 'first_counted', 'correction'] IS DISTINCT FROM to_jsonb(OLD) - ARRAY['counted', 'counted_pieces', 'difference', 'reason', 'first_counted', 'correction'] THEN\n        RAISE EXCEPTION 'shift % is closed', NEW.id;\n    END IF;\n    PERFORM FROM drawers_drawerday WHERE id = NEW.day_id AND signed_at IS NULL FOR NO KEY UPDATE;\n    IF NOT FOUND THEN\n        RAISE EXCEPTION 'shift %: its day is signed', NEW.id;\n    END IF;\n    PERFORM FROM drawers_drawer WHERE id = NEW.drawer_id FOR NO KEY UPDATE;\n    PERFORM FROM drawers_shift WHERE drawer_id = NEW.drawer_id AND (opened_at, id) > (NEW.opened_at, NEW.id);\n    IF FOUND THEN\n        RAISE EXCEPTION 'shift %: a later shift began with its count', NEW.id;\n    END IF;\n    RETURN NEW;\n",
                            hash="69c6b6f3093e184428fa1e4f08222459127ecf94",
                            operation="UPDATE",
                            pgid="pgtrigger_corrected_once_15aa7",
                            table="drawers_shift",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="closes_by_its_entries",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition='WHEN (NEW."closed_at" IS NOT NULL AND OLD."closed_at" IS NULL)',
                            func="\n    IF NEW.expected IS DISTINCT FROM (\n        SELECT coalesce((SELECT sum(amount) FROM drawers_drawerentry WHERE shift_id = NEW.id AND is_cash), 0)\n             + coalesce((SELECT sum(amount) FROM drawers_payment WHERE sold_in_id = NEW.id AND is_cash), 0)\n    ) THEN\n        RAISE EXCEPTION 'shift %: expected is not the sum of its sales and entries', NEW.id;\n    END IF;\n    PERFORM FROM drawers_drawerday WHERE id = NEW.day_id AND signed_at IS NULL FOR NO KEY UPDATE;\n    IF NOT FOUND THEN\n        RAISE EXCEPTION 'shift %: its day is signed', NEW.id;\n    END IF;\n    RETURN NEW;\n",
                            hash="03d326632e863921f7765b928880504425857219",
                            operation="UPDATE",
                            pgid="pgtrigger_closes_by_its_entries_21300",
                            table="drawers_shift",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_deleted",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;",
                            hash="4911cdcbdd1b477110669bd4ac1bcc5fe422d941",
                            operation="DELETE",
                            pgid="pgtrigger_never_deleted_a41fd",
                            table="drawers_shift",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="b08f848dbfab4749566c666ba1a5a04bc50f9850",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_0b6f5",
                            table="drawers_shift",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "drawers_shifthistory" ("cashier_id", "closed_at", "closed_by_id", "correction", "counted", "counted_pieces", "day_id", "difference", "drawer_id", "expected", "first_counted", "id", "left_before", "opened_at", "opening", "opening_pieces", "opening_reason", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "taken_from_id") VALUES (NEW."cashier_id", NEW."closed_at", NEW."closed_by_id", NEW."correction", NEW."counted", NEW."counted_pieces", NEW."day_id", NEW."difference", NEW."drawer_id", NEW."expected", NEW."first_counted", NEW."id", NEW."left_before", NEW."opened_at", NEW."opening", NEW."opening_pieces", NEW."opening_reason", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'insert\', NEW."id", NEW."reason", NEW."taken_from_id"); RETURN NULL;',
                            hash="23e0059de3ac3b74dc0a24265a2e348960b5482a",
                            operation="INSERT",
                            pgid="pgtrigger_history_insert_66ec7",
                            table="drawers_shift",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                            func='INSERT INTO "drawers_shifthistory" ("cashier_id", "closed_at", "closed_by_id", "correction", "counted", "counted_pieces", "day_id", "difference", "drawer_id", "expected", "first_counted", "id", "left_before", "opened_at", "opening", "opening_pieces", "opening_reason", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "taken_from_id") VALUES (NEW."cashier_id", NEW."closed_at", NEW."closed_by_id", NEW."correction", NEW."counted", NEW."counted_pieces", NEW."day_id", NEW."difference", NEW."drawer_id", NEW."expected", NEW."first_counted", NEW."id", NEW."left_before", NEW."opened_at", NEW."opening", NEW."opening_pieces", NEW."opening_reason", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'update\', NEW."id", NEW."reason", NEW."taken_from_id"); RETURN NULL;',
                            hash="503a4e8c8ecd90aafb8d40502b2a0b80e52dc1df",
                            operation="UPDATE",
                            pgid="pgtrigger_history_update_74db6",
                            table="drawers_shift",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "drawers_shifthistory" ("cashier_id", "closed_at", "closed_by_id", "correction", "counted", "counted_pieces", "day_id", "difference", "drawer_id", "expected", "first_counted", "id", "left_before", "opened_at", "opening", "opening_pieces", "opening_reason", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "taken_from_id") VALUES (OLD."cashier_id", OLD."closed_at", OLD."closed_by_id", OLD."correction", OLD."counted", OLD."counted_pieces", OLD."day_id", OLD."difference", OLD."drawer_id", OLD."expected", OLD."first_counted", OLD."id", OLD."left_before", OLD."opened_at", OLD."opening", OLD."opening_pieces", OLD."opening_reason", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'delete\', OLD."id", OLD."reason", OLD."taken_from_id"); RETURN NULL;',
                            hash="441577cd9eeed2748d21876d4f5f1b3be02419de",
                            operation="DELETE",
                            pgid="pgtrigger_history_delete_fc587",
                            table="drawers_shift",
                            when="AFTER",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="DrawerEntry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "shift",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="entries", to="drawers.shift"
                    ),
                ),
                ("kind", models.CharField(max_length=10)),
                ("method", models.CharField(default="cash", max_length=20)),
                ("is_cash", models.BooleanField(default=True)),
                ("amount", models.BigIntegerField()),
                ("ref_id", models.CharField(blank=True, max_length=64)),
                ("reason", models.CharField(blank=True, max_length=500)),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                ("at", models.DateTimeField()),
                (
                    "credit_entry",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="drawer_entry",
                        to="credit.creditentry",
                    ),
                ),
                (
                    "undoes",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="undone_by",
                        to="drawers.drawerentry",
                    ),
                ),
                ("token", models.UUIDField(editable=False, null=True)),
                ("txid", models.BigIntegerField(db_default=core.transactions.TRANSACTION_NUMBER, editable=False)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["shift", "id"], name="drawer_entry_of_shift"),
                    models.Index(fields=["at"], name="drawer_entry_by_time"),
                    models.Index(fields=["txid", "id"], name="drawer_entry_to_seal"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("kind", "refund")),
                        fields=("ref_id",),
                        name="drawer_entry_refund_once_an_order",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("kind__in", ["opening", "handover"])),
                        fields=("shift",),
                        name="drawer_entry_one_opening",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("token__isnull", False)), fields=("token",), name="drawer_entry_once_a_form"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("kind", "refund"), ("ref_id__gt", "")),
                            models.Q(models.Q(("kind", "refund"), _negated=True), ("ref_id", "")),
                            _connector="OR",
                        ),
                        name="drawer_entry_of_an_order_iff_it_names_one",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("kind__in", ["refund", "credit", "credit_out"]), ("is_cash", True), _connector="OR"
                        ),
                        name="drawer_entry_of_no_order_is_cash",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("undoes__isnull", True), ("kind", "credit"), _connector="OR"),
                        name="drawer_entry_only_a_credit_payment_is_undone",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("credit_entry__isnull", False), ("kind__in", ["credit", "credit_out"])),
                            models.Q(
                                models.Q(("kind__in", ["credit", "credit_out"]), _negated=True),
                                ("credit_entry__isnull", True),
                            ),
                            _connector="OR",
                        ),
                        name="drawer_entry_of_a_credit_payment_names_it",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("amount__gte", 0), ("kind__in", ["opening", "handover"])),
                            models.Q(("amount__gt", 0), ("kind", "paid_in"), ("reason__gt", "")),
                            models.Q(("amount__lt", 0), ("kind", "paid_out"), ("reason__gt", "")),
                            models.Q(("amount__gt", 0), ("kind", "credit"), ("undoes__isnull", True)),
                            models.Q(("amount__lt", 0), ("kind", "credit"), ("undoes__isnull", False)),
                            models.Q(("amount__lt", 0), ("kind", "credit_out")),
                            models.Q(("amount__lte", 0), ("kind", "refund")),
                            _connector="OR",
                        ),
                        name="drawer_entry_has_its_sign",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("method", "cash"), _negated=True), ("is_cash", True), _connector="OR"
                        ),
                        name="drawer_entry_cash_is_cash",
                    ),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="8e36fcecc49d0450c2cf2c95a37dabb86b578b3e",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_e04b9",
                            table="drawers_drawerentry",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="85db873d0713376dbfa3d5ec14144da0bfa9ef11",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_0e2e6",
                            table="drawers_drawerentry",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="own_transaction",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (NEW.txid <> transaction_number())",
                            func="NEW.txid = transaction_number(); RETURN NEW;",
                            hash="6ee833d4aba6f677510b747c3e4579aaed76e51f",
                            operation="INSERT",
                            pgid="pgtrigger_own_transaction_a1595",
                            table="drawers_drawerentry",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="enters_open_shift",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="\n    PERFORM FROM drawers_shift WHERE id = NEW.shift_id AND closed_at IS NULL FOR NO KEY UPDATE;\n    IF NOT FOUND THEN\n        RAISE EXCEPTION 'shift % takes no entries', NEW.shift_id;\n    END IF;\n    IF NEW.kind = 'paid_out' AND NEW.amount + coalesce((\n        SELECT sum(amount) FROM drawers_drawerentry WHERE shift_id = NEW.shift_id AND is_cash\n    ), 0) + coalesce((\n        SELECT sum(amount) FROM drawers_payment WHERE sold_in_id = NEW.shift_id AND is_cash\n    ), 0) < 0 THEN\n        RAISE EXCEPTION 'shift % holds less cash than is paid out', NEW.shift_id;\n    END IF;\n    IF NEW.undoes_id IS NOT NULL THEN\n        PERFORM FROM drawers_drawerentry\n          WHERE id = NEW.undoes_id AND shift_id = NEW.shift_id AND kind = NEW.kind AND method = NEW.method\n            AND amount = -NEW.amount AND undoes_id IS NULL;\n        IF NOT FOUND THEN\n            RAISE EXCEPTION 'entry % is not undone so', NEW.undoes_id;\n        END IF;\n    END IF;\n    RETURN NEW;\n",
                            hash="579a0da46348c3431a1d2e5c99666971053b888b",
                            operation="INSERT",
                            pgid="pgtrigger_enters_open_shift_15c59",
                            table="drawers_drawerentry",
                            when="BEFORE",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Payment",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                ("ref_id", models.CharField(max_length=64, unique=True)),
                (
                    "seller",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("at", models.DateTimeField()),
                ("method", models.CharField(default="cash", max_length=20)),
                ("is_cash", models.BooleanField(default=True)),
                ("amount", models.BigIntegerField()),
                ("cash_given", models.BigIntegerField(null=True)),
                ("reference", models.CharField(blank=True, max_length=60)),
                (
                    "debt",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="payment",
                        to="credit.creditentry",
                    ),
                ),
                (
                    "sold_in",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="payments",
                        to="drawers.shift",
                    ),
                ),
                (
                    "agreed_in",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="sold_later",
                        to="drawers.shift",
                    ),
                ),
                ("outcome", models.CharField(default="open", max_length=10)),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "ended_in",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="endings",
                        to="drawers.shift",
                    ),
                ),
                ("cost", models.BigIntegerField(null=True)),
                ("given_at", models.DateTimeField(null=True)),
                (
                    "given_by",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("given_method", models.CharField(blank=True, max_length=20)),
                ("given_note", models.CharField(blank=True, max_length=500)),
                (
                    "refund_entry",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="payment",
                        to="drawers.drawerentry",
                    ),
                ),
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
            options={
                "permissions": [("give_back", "Can give back")],
                "default_permissions": (),
                "indexes": [
                    models.Index(
                        condition=models.Q(("sold_in__isnull", False)),
                        fields=["sold_in", "-at", "-id"],
                        name="payment_of_shift",
                    ),
                    models.Index(
                        condition=models.Q(("agreed_in__isnull", False)), fields=["agreed_in"], name="payment_agreed_in"
                    ),
                    models.Index(
                        condition=models.Q(("ended_in__isnull", False)), fields=["ended_in"], name="payment_ended_in"
                    ),
                    models.Index(
                        condition=models.Q(
                            models.Q(("agreed_in__isnull", False), ("sold_in__isnull", True)),
                            models.Q(
                                ("ended_at__isnull", False), ("ended_in__isnull", True), ("sold_in__isnull", False)
                            ),
                            _connector="OR",
                        ),
                        fields=["seller"],
                        name="payment_to_take_in",
                    ),
                    models.Index(
                        condition=models.Q(("outcome__in", ["owed", "given"])),
                        fields=["-ended_at", "-id"],
                        name="payment_refunds",
                    ),
                    models.Index(
                        condition=models.Q(("outcome", "owed")), fields=["-ended_at", "-id"], name="payment_owed"
                    ),
                    models.Index(
                        condition=models.Q(("debt__isnull", True), ("is_cash", False)),
                        fields=["at"],
                        name="payment_to_the_bank",
                    ),
                    models.Index(
                        condition=models.Q(("given_at__isnull", False)), fields=["given_at"], name="payment_given"
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("amount__gte", 0)), name="payment_amount_not_negative"),
                    models.CheckConstraint(
                        condition=models.Q(("outcome__in", ["open", "kept", "owed", "nothing", "given"])),
                        name="payment_outcome_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("method", "cash"), _negated=True), ("is_cash", True), _connector="OR"
                        ),
                        name="payment_in_cash_is_cash",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("cash_given__isnull", True),
                            models.Q(("cash_given__gte", models.F("amount")), ("is_cash", True)),
                            _connector="OR",
                        ),
                        name="payment_cash_given_is_enough",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("debt__isnull", True),
                            models.Q(("cash_given__isnull", True), ("is_cash", False)),
                            _connector="OR",
                        ),
                        name="payment_debt_no_cash",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("sold_in__isnull", True),
                            ("agreed_in__isnull", True),
                            models.Q(("sold_in", models.F("agreed_in")), _negated=True),
                            _connector="OR",
                        ),
                        name="payment_agreed_in_another",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("cost__isnull", True),
                                ("ended_at__isnull", True),
                                ("ended_in__isnull", True),
                                ("outcome", "open"),
                            ),
                            models.Q(models.Q(("outcome", "open"), _negated=True), ("ended_at__isnull", False)),
                            _connector="OR",
                        ),
                        name="payment_ended_iff_not_open",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("outcome", "kept"), _negated=True), ("cost__gte", 0), _connector="OR"
                        ),
                        name="payment_kept_has_its_cost",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("given_at__isnull", False),
                                ("given_by__isnull", False),
                                ("outcome", "given"),
                                models.Q(("given_method__gt", ""), ("given_note__gt", ""), _connector="OR"),
                            ),
                            models.Q(
                                models.Q(("outcome", "given"), _negated=True),
                                ("given_at__isnull", True),
                                ("given_by__isnull", True),
                                ("given_method", ""),
                                ("given_note", ""),
                                ("refund_entry__isnull", True),
                            ),
                            _connector="OR",
                        ),
                        name="payment_given_as_a_whole",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("given_method", "cash"), _negated=True),
                            ("refund_entry__isnull", False),
                            _connector="OR",
                        ),
                        name="payment_given_in_cash_out_of_a_drawer",
                    ),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="whose_never_changes",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition='WHEN (OLD."ref_id" IS DISTINCT FROM (NEW."ref_id") OR OLD."seller_id" IS DISTINCT FROM (NEW."seller_id") OR OLD."branch_id" IS DISTINCT FROM (NEW."branch_id") OR OLD."at" IS DISTINCT FROM (NEW."at") OR OLD."agreed_in_id" IS DISTINCT FROM (NEW."agreed_in_id"))',
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                            hash="96d6e3697bde6610bd8c9e870f14f7aaa8b5faca",
                            operation="UPDATE",
                            pgid="pgtrigger_whose_never_changes_26251",
                            table="drawers_payment",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="moves_as_money_does",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            declare="DECLARE _is_valid_transition BOOLEAN;",
                            func='SELECT CONCAT(OLD."outcome", \':\', NEW."outcome") = ANY(\'{open:kept,open:owed,open:nothing,kept:owed,owed:given,nothing:given}\'::text[]) INTO _is_valid_transition; IF (_is_valid_transition IS FALSE AND OLD."outcome" IS DISTINCT FROM NEW."outcome") THEN RAISE EXCEPTION \'pgtrigger: Invalid transition of field "outcome" from "%" to "%" on table %\', OLD."outcome", NEW."outcome", TG_TABLE_NAME; ELSE RETURN NEW; END IF;',
                            hash="72f939bf1f89a8fc295d900940a229f68551f47f",
                            operation="UPDATE",
                            pgid="pgtrigger_moves_as_money_does_677bf",
                            table="drawers_payment",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="keeps_closed_shifts",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="\n    IF TG_OP = 'UPDATE' AND OLD.sold_in_id IS NOT NULL AND (\n        OLD.sold_in_id IS DISTINCT FROM NEW.sold_in_id\n        OR ROW(OLD.method, OLD.is_cash, OLD.amount, OLD.cash_given, OLD.reference)\n            IS DISTINCT FROM ROW(NEW.method, NEW.is_cash, NEW.amount, NEW.cash_given, NEW.reference)\n    ) THEN\n        PERFORM FROM drawers_shift WHERE id = OLD.sold_in_id AND closed_at IS NULL FOR SHARE;\n        IF NOT FOUND OR OLD.sold_in_id IS DISTINCT FROM NEW.sold_in_id THEN\n            RAISE EXCEPTION 'payment %: what its shift sold never changes', NEW.ref_id;\n        END IF;\n    END IF;\n    IF NEW.sold_in_id IS NOT NULL AND (TG_OP = 'INSERT' OR OLD.sold_in_id IS NULL) THEN\n        PERFORM FROM drawers_shift WHERE id = NEW.sold_in_id AND closed_at IS NULL FOR SHARE;\n        IF NOT FOUND THEN\n            RAISE EXCEPTION 'shift % takes no payments', NEW.sold_in_id;\n        END IF;\n    END IF;\n    IF NEW.ended_in_id IS NOT NULL AND (TG_OP = 'INSERT' OR OLD.ended_in_id IS DISTINCT FROM NEW.ended_in_id) THEN\n        PERFORM FROM drawers_shift WHERE id = NEW.ended_in_id AND closed_at IS NULL FOR SHARE;\n        IF NOT FOUND THEN\n            RAISE EXCEPTION 'shift % takes no endings', NEW.ended_in_id;\n        END IF;\n    END IF;\n    RETURN NEW;\n",
                            hash="444704de112749c5da853173ad06e2c01c83fb7c",
                            operation="INSERT OR UPDATE",
                            pgid="pgtrigger_keeps_closed_shifts_1629c",
                            table="drawers_payment",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="given_once",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.outcome = 'given' AND to_jsonb(OLD) - ARRAY['sold_in_id', 'ended_in_id'] <> to_jsonb(NEW) - ARRAY['sold_in_id', 'ended_in_id'])",
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                            hash="f06a1f105756abf5ffda81941ba5270f07a1203d",
                            operation="UPDATE",
                            pgid="pgtrigger_given_once_fc0a5",
                            table="drawers_payment",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_deleted",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;",
                            hash="233e8e583e0caae598ddf112c01fbfd038d747aa",
                            operation="DELETE",
                            pgid="pgtrigger_never_deleted_89223",
                            table="drawers_payment",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="0d091bed616a2432ec6654e0c7dfcd65a77685f9",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_b16ea",
                            table="drawers_payment",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "drawers_paymenthistory" ("agreed_in_id", "amount", "at", "branch_id", "cash_given", "cost", "debt_id", "ended_at", "ended_in_id", "given_at", "given_by_id", "given_method", "given_note", "id", "is_cash", "method", "outcome", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "ref_id", "reference", "refund_entry_id", "seller_id", "sold_in_id") VALUES (NEW."agreed_in_id", NEW."amount", NEW."at", NEW."branch_id", NEW."cash_given", NEW."cost", NEW."debt_id", NEW."ended_at", NEW."ended_in_id", NEW."given_at", NEW."given_by_id", NEW."given_method", NEW."given_note", NEW."id", NEW."is_cash", NEW."method", NEW."outcome", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'insert\', NEW."id", NEW."ref_id", NEW."reference", NEW."refund_entry_id", NEW."seller_id", NEW."sold_in_id"); RETURN NULL;',
                            hash="ba36be15c82382089a3b0951cab3bc8f89d0dbfb",
                            operation="INSERT",
                            pgid="pgtrigger_history_insert_f72bc",
                            table="drawers_payment",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                            func='INSERT INTO "drawers_paymenthistory" ("agreed_in_id", "amount", "at", "branch_id", "cash_given", "cost", "debt_id", "ended_at", "ended_in_id", "given_at", "given_by_id", "given_method", "given_note", "id", "is_cash", "method", "outcome", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "ref_id", "reference", "refund_entry_id", "seller_id", "sold_in_id") VALUES (NEW."agreed_in_id", NEW."amount", NEW."at", NEW."branch_id", NEW."cash_given", NEW."cost", NEW."debt_id", NEW."ended_at", NEW."ended_in_id", NEW."given_at", NEW."given_by_id", NEW."given_method", NEW."given_note", NEW."id", NEW."is_cash", NEW."method", NEW."outcome", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'update\', NEW."id", NEW."ref_id", NEW."reference", NEW."refund_entry_id", NEW."seller_id", NEW."sold_in_id"); RETURN NULL;',
                            hash="eb299e0accbeb5a3ac07070222b54ebb4e9cf0a9",
                            operation="UPDATE",
                            pgid="pgtrigger_history_update_e0f63",
                            table="drawers_payment",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "drawers_paymenthistory" ("agreed_in_id", "amount", "at", "branch_id", "cash_given", "cost", "debt_id", "ended_at", "ended_in_id", "given_at", "given_by_id", "given_method", "given_note", "id", "is_cash", "method", "outcome", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "ref_id", "reference", "refund_entry_id", "seller_id", "sold_in_id") VALUES (OLD."agreed_in_id", OLD."amount", OLD."at", OLD."branch_id", OLD."cash_given", OLD."cost", OLD."debt_id", OLD."ended_at", OLD."ended_in_id", OLD."given_at", OLD."given_by_id", OLD."given_method", OLD."given_note", OLD."id", OLD."is_cash", OLD."method", OLD."outcome", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'delete\', OLD."id", OLD."ref_id", OLD."reference", OLD."refund_entry_id", OLD."seller_id", OLD."sold_in_id"); RETURN NULL;',
                            hash="95665000dbf47d29ab533b020b5ee93142836b05",
                            operation="DELETE",
                            pgid="pgtrigger_history_delete_1915e",
                            table="drawers_payment",
                            when="AFTER",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="PaymentHistory",
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
                        to="drawers.payment",
                    ),
                ),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("id", models.BigIntegerField()),
                ("ref_id", models.CharField(max_length=64)),
                (
                    "seller",
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
                ("at", models.DateTimeField()),
                ("method", models.CharField(default="cash", max_length=20)),
                ("is_cash", models.BooleanField(default=True)),
                ("amount", models.BigIntegerField()),
                ("cash_given", models.BigIntegerField(null=True)),
                ("reference", models.CharField(blank=True, max_length=60)),
                (
                    "debt",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="credit.creditentry",
                    ),
                ),
                (
                    "sold_in",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="drawers.shift",
                    ),
                ),
                (
                    "agreed_in",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="drawers.shift",
                    ),
                ),
                ("outcome", models.CharField(default="open", max_length=10)),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "ended_in",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="drawers.shift",
                    ),
                ),
                ("cost", models.BigIntegerField(null=True)),
                ("given_at", models.DateTimeField(null=True)),
                (
                    "given_by",
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
                ("given_method", models.CharField(blank=True, max_length=20)),
                ("given_note", models.CharField(blank=True, max_length=500)),
                (
                    "refund_entry",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="drawers.drawerentry",
                    ),
                ),
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
                    models.Index(fields=["txid", "pgh_id"], name="payment_history_seal"),
                    models.Index(fields=["pgh_obj", "-pgh_id"], name="payment_history_row"),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="2b98bd65b21be7fc81d41d326c815ab1d93c87d0",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_2e7ce",
                            table="drawers_paymenthistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="7ede82acf6bb1b98783b8734b7d3b4d6ffbbe6c8",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_ee12f",
                            table="drawers_paymenthistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="only_copies",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (pg_trigger_depth() = 0)",
                            func="RAISE EXCEPTION 'pgtrigger: Cannot insert rows from % table', TG_TABLE_NAME;",
                            hash="0f8553b82746907294bef3c7d6ac0ae0189f5b63",
                            operation="INSERT",
                            pgid="pgtrigger_only_copies_ef842",
                            table="drawers_paymenthistory",
                            when="BEFORE",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ShiftHistory",
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
                        to="drawers.shift",
                    ),
                ),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("id", models.BigIntegerField()),
                (
                    "drawer",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="drawers.drawer",
                    ),
                ),
                (
                    "cashier",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("opened_at", models.DateTimeField()),
                ("opening", models.BigIntegerField()),
                (
                    "opening_pieces",
                    django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), size=10),
                ),
                ("left_before", models.BigIntegerField(null=True)),
                ("opening_reason", models.CharField(blank=True, max_length=500)),
                (
                    "taken_from",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="drawers.shift",
                    ),
                ),
                ("closed_at", models.DateTimeField(null=True)),
                (
                    "closed_by",
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
                ("counted", models.BigIntegerField(null=True)),
                (
                    "counted_pieces",
                    django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), null=True, size=10),
                ),
                ("expected", models.BigIntegerField(null=True)),
                ("difference", models.BigIntegerField(null=True)),
                ("reason", models.CharField(blank=True, max_length=500)),
                ("first_counted", models.BigIntegerField(null=True)),
                ("correction", models.CharField(blank=True, max_length=500)),
                (
                    "day",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="drawers.drawerday",
                    ),
                ),
            ],
            options={
                "abstract": False,
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["txid", "pgh_id"], name="shift_history_seal"),
                    models.Index(fields=["pgh_obj", "-pgh_id"], name="shift_history_row"),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="71c7a045355ee0abef3dcebcd5d7e434fff07723",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_11f42",
                            table="drawers_shifthistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="22a8a7425cc1b8ee1f0c4f336adcdea702691da1",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_bbce7",
                            table="drawers_shifthistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="only_copies",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (pg_trigger_depth() = 0)",
                            func="RAISE EXCEPTION 'pgtrigger: Cannot insert rows from % table', TG_TABLE_NAME;",
                            hash="fcfb02a589f98e349ceb960e0ad21b975fa274e3",
                            operation="INSERT",
                            pgid="pgtrigger_only_copies_558d3",
                            table="drawers_shifthistory",
                            when="BEFORE",
                        ),
                    ),
                ],
            },
        ),
    ]
