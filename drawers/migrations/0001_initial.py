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
        ("core", "0001_initial"),
        ("credit", "0001_initial"),
        ("purchases", "0001_initial"),
        ("staff", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="DrawerDay",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
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
                ("facts", models.JSONField(default=dict, help_text="The closing as it was signed; rupiah.")),
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
                ("pgh_label", models.CharField(help_text="insert, update or delete.", max_length=6)),
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
                ("facts", models.JSONField(default=dict, help_text="The closing as it was signed; rupiah.")),
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
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=60, verbose_name="name")),
                ("is_active", models.BooleanField(default=True)),
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
                            func='INSERT INTO "drawers_drawerhistory" ("id", "is_active", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id") VALUES (NEW."id", NEW."is_active", NEW."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'insert\', NEW."id"); RETURN NULL;',
                            hash="a2d15826ff1c5240614ec0bfb07b28f8e352506a",
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
                            func='INSERT INTO "drawers_drawerhistory" ("id", "is_active", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id") VALUES (NEW."id", NEW."is_active", NEW."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'update\', NEW."id"); RETURN NULL;',
                            hash="f1c43eca05b9a87e480b809ab1f5f271461e30ff",
                            operation="UPDATE",
                            pgid="pgtrigger_history_update_03168",
                            table="drawers_drawer",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "drawers_drawerhistory" ("id", "is_active", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id") VALUES (OLD."id", OLD."is_active", OLD."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'delete\', OLD."id"); RETURN NULL;',
                            hash="883c595a2f8afc52dc1361c4444f7407ceb1f6cf",
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
                ("pgh_label", models.CharField(help_text="insert, update or delete.", max_length=6)),
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
                ("name", models.CharField(max_length=60, verbose_name="name")),
                ("is_active", models.BooleanField(default=True)),
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
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
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
                ("opening", models.BigIntegerField(help_text="Rupiah that were counted when it began.")),
                (
                    "opening_pieces",
                    django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), size=10),
                ),
                (
                    "left_before",
                    models.BigIntegerField(
                        help_text="Rupiah that the drawer's last count had left; empty for its first shift.", null=True
                    ),
                ),
                (
                    "opening_reason",
                    models.CharField(blank=True, help_text="Why the opening is not what was left.", max_length=500),
                ),
                (
                    "taken_from",
                    models.OneToOneField(
                        help_text="Whose count it began with.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="handed_to",
                        to="drawers.shift",
                    ),
                ),
                ("first_no", models.BigIntegerField(help_text="Its orders have higher keys.")),
                ("last_no", models.BigIntegerField(help_text="Its orders have lower keys.", null=True)),
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
                ("expected", models.BigIntegerField(help_text="Rupiah: the sum of its entries in cash.", null=True)),
                ("difference", models.BigIntegerField(help_text="Counted less expected.", null=True)),
                ("reason", models.CharField(blank=True, help_text="Why it differs.", max_length=500)),
                (
                    "day",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="shifts",
                        to="drawers.drawerday",
                    ),
                ),
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
                                ("last_no__isnull", False),
                            ),
                            models.Q(
                                ("closed_at__isnull", True),
                                ("closed_by__isnull", True),
                                ("counted__isnull", True),
                                ("counted_pieces__isnull", True),
                                ("day__isnull", True),
                                ("difference__isnull", True),
                                ("expected__isnull", True),
                                ("last_no__isnull", True),
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
                            condition='WHEN (OLD."drawer_id" IS DISTINCT FROM (NEW."drawer_id") OR OLD."cashier_id" IS DISTINCT FROM (NEW."cashier_id") OR OLD."opened_at" IS DISTINCT FROM (NEW."opened_at") OR OLD."opening" IS DISTINCT FROM (NEW."opening") OR OLD."opening_pieces" IS DISTINCT FROM (NEW."opening_pieces") OR OLD."taken_from_id" IS DISTINCT FROM (NEW."taken_from_id") OR OLD."first_no" IS DISTINCT FROM (NEW."first_no") OR OLD."left_before" IS DISTINCT FROM (NEW."left_before") OR OLD."opening_reason" IS DISTINCT FROM (NEW."opening_reason"))',
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                            hash="a3a366fa52913b9efc242a135507f40bd4ea4a6a",
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
                        name="closed_once",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition='WHEN (OLD."closed_at" IS NOT NULL)',
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                            hash="0890cc5ff9bee0af9715201760fe323aa53c0124",
                            operation="UPDATE",
                            pgid="pgtrigger_closed_once_ce585",
                            table="drawers_shift",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="closes_by_its_entries",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition='WHEN (NEW."closed_at" IS NOT NULL AND OLD."closed_at" IS NULL)',
                            func="\n    IF NEW.expected IS DISTINCT FROM (\n        SELECT coalesce(sum(amount), 0) FROM drawers_drawerentry WHERE shift_id = NEW.id AND method = 'cash'\n    ) THEN\n        RAISE EXCEPTION 'shift %: expected is not the sum of its entries', NEW.id;\n    END IF;\n    PERFORM FROM drawers_drawerday WHERE id = NEW.day_id AND signed_at IS NULL FOR NO KEY UPDATE;\n    IF NOT FOUND THEN\n        RAISE EXCEPTION 'shift %: its day is signed', NEW.id;\n    END IF;\n    RETURN NEW;\n",
                            hash="a458cddfd0f6a1107da8a4adc669e80371274bf5",
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
                            func='INSERT INTO "drawers_shifthistory" ("cashier_id", "closed_at", "closed_by_id", "counted", "counted_pieces", "day_id", "difference", "drawer_id", "expected", "first_no", "id", "last_no", "left_before", "opened_at", "opening", "opening_pieces", "opening_reason", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "taken_from_id") VALUES (NEW."cashier_id", NEW."closed_at", NEW."closed_by_id", NEW."counted", NEW."counted_pieces", NEW."day_id", NEW."difference", NEW."drawer_id", NEW."expected", NEW."first_no", NEW."id", NEW."last_no", NEW."left_before", NEW."opened_at", NEW."opening", NEW."opening_pieces", NEW."opening_reason", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'insert\', NEW."id", NEW."reason", NEW."taken_from_id"); RETURN NULL;',
                            hash="c5c3227714d48d356497b517725f379156b1c905",
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
                            func='INSERT INTO "drawers_shifthistory" ("cashier_id", "closed_at", "closed_by_id", "counted", "counted_pieces", "day_id", "difference", "drawer_id", "expected", "first_no", "id", "last_no", "left_before", "opened_at", "opening", "opening_pieces", "opening_reason", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "taken_from_id") VALUES (NEW."cashier_id", NEW."closed_at", NEW."closed_by_id", NEW."counted", NEW."counted_pieces", NEW."day_id", NEW."difference", NEW."drawer_id", NEW."expected", NEW."first_no", NEW."id", NEW."last_no", NEW."left_before", NEW."opened_at", NEW."opening", NEW."opening_pieces", NEW."opening_reason", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'update\', NEW."id", NEW."reason", NEW."taken_from_id"); RETURN NULL;',
                            hash="3d26a0545ff73c1a4fc099d9f6536abceda94328",
                            operation="UPDATE",
                            pgid="pgtrigger_history_update_74db6",
                            table="drawers_shift",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "drawers_shifthistory" ("cashier_id", "closed_at", "closed_by_id", "counted", "counted_pieces", "day_id", "difference", "drawer_id", "expected", "first_no", "id", "last_no", "left_before", "opened_at", "opening", "opening_pieces", "opening_reason", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "taken_from_id") VALUES (OLD."cashier_id", OLD."closed_at", OLD."closed_by_id", OLD."counted", OLD."counted_pieces", OLD."day_id", OLD."difference", OLD."drawer_id", OLD."expected", OLD."first_no", OLD."id", OLD."last_no", OLD."left_before", OLD."opened_at", OLD."opening", OLD."opening_pieces", OLD."opening_reason", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'delete\', OLD."id", OLD."reason", OLD."taken_from_id"); RETURN NULL;',
                            hash="45ab6c070e5809d54c658b7b3ad2c48e2950dc34",
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
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "shift",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="entries", to="drawers.shift"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("opening", "Opening count"),
                            ("handover", "Taken over"),
                            ("sale", "Sale"),
                            ("refund", "Given back"),
                            ("paid_in", "Paid in"),
                            ("paid_out", "Paid out"),
                            ("credit", "Credit payment"),
                            ("credit_out", "Credit paid out"),
                        ],
                        max_length=10,
                    ),
                ),
                (
                    "method",
                    models.CharField(
                        choices=[("cash", "Cash"), ("transfer", "Transfer"), ("qris", "QRIS"), ("credit", "On credit")],
                        default="cash",
                        max_length=10,
                    ),
                ),
                ("amount", models.BigIntegerField(help_text="Rupiah, below zero when it goes out.")),
                (
                    "ref_id",
                    models.CharField(
                        blank=True, help_text="The order that was sold, or whose money went back.", max_length=64
                    ),
                ),
                ("reason", models.CharField(blank=True, max_length=500)),
                (
                    "person",
                    models.ForeignKey(
                        help_text="Who did it.",
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("at", models.DateTimeField()),
                (
                    "cash_given",
                    models.BigIntegerField(
                        help_text="Rupiah that the customer gave, where somebody said it.", null=True
                    ),
                ),
                (
                    "sold_in",
                    models.ForeignKey(
                        help_text="The earlier shift in which it was sold; empty when that is this one, or none.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="later_entries",
                        to="drawers.shift",
                    ),
                ),
                (
                    "credit_entry",
                    models.OneToOneField(
                        help_text="The customer's payment of what was owed, or its undoing; or what the shop paid out.",
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
                (
                    "replaces",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="replaced_by",
                        to="drawers.drawerentry",
                    ),
                ),
                (
                    "token",
                    models.UUIDField(
                        editable=False,
                        help_text="Of the form that entered it: sent twice, it is entered once.",
                        null=True,
                    ),
                ),
                ("txid", models.BigIntegerField(db_default=core.transactions.TRANSACTION_NUMBER, editable=False)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["shift", "id"], name="drawer_entry_of_shift"),
                    models.Index(
                        condition=models.Q(("ref_id__gt", "")), fields=["ref_id"], name="drawer_entry_by_order"
                    ),
                    models.Index(fields=["txid", "id"], name="drawer_entry_to_seal"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("ref_id__gt", ""), ("replaces", None), ("undoes", None)),
                        fields=("ref_id", "kind"),
                        name="drawer_entry_once_an_order",
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
                            models.Q(("kind__in", ["sale", "refund"]), ("ref_id__gt", "")),
                            models.Q(models.Q(("kind__in", ["sale", "refund"]), _negated=True), ("ref_id", "")),
                            _connector="OR",
                        ),
                        name="drawer_entry_of_an_order_iff_it_names_one",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("kind__in", ["sale", "refund"]),
                            models.Q(("kind", "credit"), ("replaces__isnull", True), ("sold_in__isnull", True)),
                            models.Q(
                                ("kind", "credit_out"),
                                ("replaces__isnull", True),
                                ("sold_in__isnull", True),
                                ("undoes__isnull", True),
                            ),
                            models.Q(
                                ("method", "cash"),
                                ("replaces__isnull", True),
                                ("sold_in__isnull", True),
                                ("undoes__isnull", True),
                            ),
                            _connector="OR",
                        ),
                        name="drawer_entry_of_no_order_is_cash",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("credit_entry__isnull", False),
                                ("kind__in", ["credit", "credit_out"]),
                                ("method__in", ("cash", "transfer", "qris")),
                            ),
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
                            models.Q(("amount__gte", 0), ("kind", "sale"), ("undoes__isnull", True)),
                            models.Q(("amount__lte", 0), ("kind", "sale"), ("undoes__isnull", False)),
                            models.Q(("amount__lte", 0), ("kind", "refund"), ("undoes__isnull", True)),
                            models.Q(("amount__gte", 0), ("kind", "refund"), ("undoes__isnull", False)),
                            _connector="OR",
                        ),
                        name="drawer_entry_has_its_sign",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("cash_given__isnull", True),
                            models.Q(
                                ("cash_given__gte", models.F("amount")),
                                ("kind", "sale"),
                                ("method", "cash"),
                                ("undoes__isnull", True),
                            ),
                            _connector="OR",
                        ),
                        name="drawer_entry_cash_given_is_enough",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("undoes__isnull", True), ("replaces__isnull", True), _connector="OR"),
                        name="drawer_entry_undoes_or_replaces",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("method__in", ["cash", "transfer", "qris", "credit"])),
                        name="drawer_entry_method_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("sold_in__isnull", True),
                            models.Q(("sold_in", models.F("shift")), _negated=True),
                            _connector="OR",
                        ),
                        name="drawer_entry_sold_in_another",
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
                            func="\n    PERFORM FROM drawers_shift WHERE id = NEW.shift_id AND closed_at IS NULL FOR NO KEY UPDATE;\n    IF NOT FOUND THEN\n        RAISE EXCEPTION 'shift % takes no entries', NEW.shift_id;\n    END IF;\n    IF NEW.kind = 'paid_out' AND NEW.amount + (\n        SELECT coalesce(sum(amount), 0) FROM drawers_drawerentry WHERE shift_id = NEW.shift_id AND method = 'cash'\n    ) < 0 THEN\n        RAISE EXCEPTION 'shift % holds less cash than is paid out', NEW.shift_id;\n    END IF;\n    IF NEW.undoes_id IS NOT NULL THEN\n        PERFORM FROM drawers_drawerentry\n          WHERE id = NEW.undoes_id AND shift_id = NEW.shift_id AND kind = NEW.kind AND method = NEW.method\n            AND ref_id = NEW.ref_id AND amount = -NEW.amount AND undoes_id IS NULL;\n        IF NOT FOUND THEN\n            RAISE EXCEPTION 'entry % is not undone so', NEW.undoes_id;\n        END IF;\n    END IF;\n    IF NEW.replaces_id IS NOT NULL THEN\n        PERFORM FROM drawers_drawerentry former JOIN drawers_drawerentry undoing ON undoing.undoes_id = former.id\n          WHERE former.id = NEW.replaces_id AND former.shift_id = NEW.shift_id AND former.kind = NEW.kind\n            AND former.ref_id = NEW.ref_id;\n        IF NOT FOUND THEN\n            RAISE EXCEPTION 'entry % is not replaced so', NEW.replaces_id;\n        END IF;\n    END IF;\n    RETURN NEW;\n",
                            hash="41e9243490dca7e44d315d77d45b4ed0e2956e59",
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
            name="Refund",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "order",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT, related_name="refund", to="purchases.order"
                    ),
                ),
                ("amount", models.BigIntegerField(help_text="Rupiah: what the customer paid.")),
                ("since", models.DateTimeField(help_text="When the order ended.")),
                ("given_at", models.DateTimeField(null=True)),
                (
                    "given_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "method",
                    models.CharField(
                        blank=True,
                        choices=[("cash", "Cash"), ("transfer", "Transfer"), ("qris", "QRIS"), ("credit", "On credit")],
                        help_text="Empty while it is not given; then the note says.",
                        max_length=10,
                    ),
                ),
                ("note", models.CharField(blank=True, max_length=500, verbose_name="note")),
                (
                    "entry",
                    models.OneToOneField(
                        help_text="Where it came out of a shift; empty of a transfer that no drawer made.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="drawers.drawerentry",
                    ),
                ),
            ],
            options={
                "permissions": [("give_back", "Can give back")],
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["-since", "-id"], name="refund_newest"),
                    models.Index(condition=models.Q(("given_at", None)), fields=["-since", "-id"], name="refund_open"),
                ],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("amount__gte", 0)), name="refund_amount_not_negative"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("given_at__isnull", False),
                                ("given_by__isnull", False),
                                models.Q(("method__gt", ""), ("note__gt", ""), _connector="OR"),
                            ),
                            models.Q(
                                ("entry__isnull", True),
                                ("given_at__isnull", True),
                                ("given_by__isnull", True),
                                ("method", ""),
                                ("note", ""),
                            ),
                            _connector="OR",
                        ),
                        name="refund_given_as_a_whole",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("method", "cash"), _negated=True), ("entry__isnull", False), _connector="OR"
                        ),
                        name="refund_in_cash_out_of_a_drawer",
                    ),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="what_is_owed_for_never_changes",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition='WHEN (OLD."order_id" IS DISTINCT FROM (NEW."order_id") OR OLD."since" IS DISTINCT FROM (NEW."since"))',
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                            hash="06ccd40f2f4d5b8e1062e20bc7d228fdfd0fa8c0",
                            operation="UPDATE",
                            pgid="pgtrigger_what_is_owed_for_never_changes_e0d29",
                            table="drawers_refund",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="given_once",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition='WHEN (OLD."given_at" IS NOT NULL)',
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                            hash="26f59efd4a58f5a898ae4dcb3e3a53e2081cb000",
                            operation="UPDATE",
                            pgid="pgtrigger_given_once_83733",
                            table="drawers_refund",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_deleted",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;",
                            hash="c64e21bb0f36a549c4dd07ba12dc526f862d78be",
                            operation="DELETE",
                            pgid="pgtrigger_never_deleted_c0150",
                            table="drawers_refund",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="927e7b439592f54739cfa96f28ff0cae93f86baf",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_7e6cf",
                            table="drawers_refund",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "drawers_refundhistory" ("amount", "entry_id", "given_at", "given_by_id", "id", "method", "note", "order_id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "since") VALUES (NEW."amount", NEW."entry_id", NEW."given_at", NEW."given_by_id", NEW."id", NEW."method", NEW."note", NEW."order_id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'insert\', NEW."id", NEW."since"); RETURN NULL;',
                            hash="f682ffc8ef2fd7f2527fe2fcadf89b21c62cfc2a",
                            operation="INSERT",
                            pgid="pgtrigger_history_insert_39cf8",
                            table="drawers_refund",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                            func='INSERT INTO "drawers_refundhistory" ("amount", "entry_id", "given_at", "given_by_id", "id", "method", "note", "order_id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "since") VALUES (NEW."amount", NEW."entry_id", NEW."given_at", NEW."given_by_id", NEW."id", NEW."method", NEW."note", NEW."order_id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'update\', NEW."id", NEW."since"); RETURN NULL;',
                            hash="7d1528231ad14c0275f22556abc23dfc8404213f",
                            operation="UPDATE",
                            pgid="pgtrigger_history_update_daf39",
                            table="drawers_refund",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "drawers_refundhistory" ("amount", "entry_id", "given_at", "given_by_id", "id", "method", "note", "order_id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "since") VALUES (OLD."amount", OLD."entry_id", OLD."given_at", OLD."given_by_id", OLD."id", OLD."method", OLD."note", OLD."order_id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'delete\', OLD."id", OLD."since"); RETURN NULL;',
                            hash="d3918370bbbe2921835d9ebc7c8602e0b78a647e",
                            operation="DELETE",
                            pgid="pgtrigger_history_delete_a673a",
                            table="drawers_refund",
                            when="AFTER",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="RefundHistory",
            fields=[
                ("pgh_id", models.BigAutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField()),
                ("pgh_label", models.CharField(help_text="insert, update or delete.", max_length=6)),
                ("txid", models.BigIntegerField(db_default=core.transactions.TRANSACTION_NUMBER, editable=False)),
                (
                    "pgh_obj",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="history",
                        to="drawers.refund",
                    ),
                ),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("id", models.BigIntegerField()),
                (
                    "order",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="purchases.order",
                    ),
                ),
                ("amount", models.BigIntegerField(help_text="Rupiah: what the customer paid.")),
                ("since", models.DateTimeField(help_text="When the order ended.")),
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
                (
                    "method",
                    models.CharField(
                        blank=True,
                        choices=[("cash", "Cash"), ("transfer", "Transfer"), ("qris", "QRIS"), ("credit", "On credit")],
                        help_text="Empty while it is not given; then the note says.",
                        max_length=10,
                    ),
                ),
                ("note", models.CharField(blank=True, max_length=500, verbose_name="note")),
                (
                    "entry",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        help_text="Where it came out of a shift; empty of a transfer that no drawer made.",
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="drawers.drawerentry",
                    ),
                ),
            ],
            options={
                "abstract": False,
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["txid", "pgh_id"], name="refund_history_seal"),
                    models.Index(fields=["pgh_obj", "-pgh_id"], name="refund_history_row"),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="db2ef2b20f816f670fde8624c09175e04fc81e3f",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_16bfb",
                            table="drawers_refundhistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="d27af77f14a277fb3e065520c63fd81a2fe68611",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_7a199",
                            table="drawers_refundhistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="only_copies",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (pg_trigger_depth() = 0)",
                            func="RAISE EXCEPTION 'pgtrigger: Cannot insert rows from % table', TG_TABLE_NAME;",
                            hash="d77fd873e32ac007318507386ce063c027006989",
                            operation="INSERT",
                            pgid="pgtrigger_only_copies_e7656",
                            table="drawers_refundhistory",
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
                ("pgh_label", models.CharField(help_text="insert, update or delete.", max_length=6)),
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
                ("opening", models.BigIntegerField(help_text="Rupiah that were counted when it began.")),
                (
                    "opening_pieces",
                    django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), size=10),
                ),
                (
                    "left_before",
                    models.BigIntegerField(
                        help_text="Rupiah that the drawer's last count had left; empty for its first shift.", null=True
                    ),
                ),
                (
                    "opening_reason",
                    models.CharField(blank=True, help_text="Why the opening is not what was left.", max_length=500),
                ),
                (
                    "taken_from",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        help_text="Whose count it began with.",
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="drawers.shift",
                    ),
                ),
                ("first_no", models.BigIntegerField(help_text="Its orders have higher keys.")),
                ("last_no", models.BigIntegerField(help_text="Its orders have lower keys.", null=True)),
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
                ("expected", models.BigIntegerField(help_text="Rupiah: the sum of its entries in cash.", null=True)),
                ("difference", models.BigIntegerField(help_text="Counted less expected.", null=True)),
                ("reason", models.CharField(blank=True, help_text="Why it differs.", max_length=500)),
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
