import django.contrib.auth.models
import django.contrib.auth.validators
import django.db.models.deletion
import django.db.models.functions.text
import django.utils.timezone
import pghistory.utils
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models

import core.transactions
import staff.models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("branches", "0001_initial"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("core", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="SpentChallenge",
            fields=[
                ("digest", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("expires_at", models.DateTimeField(db_index=True)),
            ],
        ),
        migrations.CreateModel(
            name="Throttle",
            fields=[
                ("key", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("failures", models.PositiveIntegerField()),
                ("blocked_until", models.DateTimeField()),
                ("expires_at", models.DateTimeField(db_index=True)),
            ],
        ),
        migrations.CreateModel(
            name="RolePermission",
            fields=[],
            options={"proxy": True, "default_permissions": (), "indexes": [], "constraints": []},
            bases=("auth.group_permissions",),
        ),
        migrations.CreateModel(
            name="RolePermissionHistory",
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
                        to="staff.rolepermission",
                    ),
                ),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("id", models.IntegerField()),
                (
                    "group",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        db_tablespace="",
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="auth.group",
                    ),
                ),
                (
                    "permission",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        db_tablespace="",
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="auth.permission",
                    ),
                ),
            ],
            options={
                "abstract": False,
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["txid", "pgh_id"], name="role_permission_history_seal"),
                    models.Index(fields=["pgh_obj", "-pgh_id"], name="role_permission_history_row"),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="861eb1804888e76f9ffd1e6d0401bcd3077063ca",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_c9de6",
                            table="staff_rolepermissionhistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="210daa6eb2c898966632e8cb4784c150bb11c79f",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_80713",
                            table="staff_rolepermissionhistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="only_copies",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (pg_trigger_depth() = 0)",
                            func="RAISE EXCEPTION 'pgtrigger: Cannot insert rows from % table', TG_TABLE_NAME;",
                            hash="91a878bd3f46f86f25a3d74b7dcd164aa33cb097",
                            operation="INSERT",
                            pgid="pgtrigger_only_copies_bea78",
                            table="staff_rolepermissionhistory",
                            when="BEFORE",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="RoleGroup",
            fields=[],
            options={"proxy": True, "default_permissions": (), "indexes": [], "constraints": []},
            bases=("auth.group",),
            managers=[("objects", django.contrib.auth.models.GroupManager())],
        ),
        migrations.CreateModel(
            name="RoleGroupHistory",
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
                        to="staff.rolegroup",
                    ),
                ),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("id", models.IntegerField()),
                ("name", models.CharField(max_length=150)),
            ],
            options={
                "abstract": False,
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["txid", "pgh_id"], name="role_group_history_seal"),
                    models.Index(fields=["pgh_obj", "-pgh_id"], name="role_group_history_row"),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="b19a9f269405d14de57e6ff3505cadd5c4ed36ae",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_06104",
                            table="staff_rolegrouphistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="e1179354c6601d30b1dac741e78120df9236ddbe",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_e3ca9",
                            table="staff_rolegrouphistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="only_copies",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (pg_trigger_depth() = 0)",
                            func="RAISE EXCEPTION 'pgtrigger: Cannot insert rows from % table', TG_TABLE_NAME;",
                            hash="153875af070a5d4b8a705045cc8f5dba8a5bb6e2",
                            operation="INSERT",
                            pgid="pgtrigger_only_copies_b6530",
                            table="staff_rolegrouphistory",
                            when="BEFORE",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="User",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                ("password", models.CharField(max_length=128)),
                ("last_login", models.DateTimeField(blank=True, null=True)),
                ("is_superuser", models.BooleanField(default=False)),
                (
                    "username",
                    models.CharField(
                        error_messages={"unique": "A user with that username already exists."},
                        max_length=150,
                        unique=True,
                        validators=[django.contrib.auth.validators.UnicodeUsernameValidator()],
                    ),
                ),
                ("first_name", models.CharField(blank=True, max_length=150)),
                ("last_name", models.CharField(blank=True, max_length=150)),
                ("email", models.EmailField(blank=True, max_length=254)),
                ("is_staff", models.BooleanField(default=False)),
                ("is_active", models.BooleanField(default=True)),
                ("date_joined", models.DateTimeField(default=django.utils.timezone.now)),
                ("language", models.CharField(blank=True, max_length=10)),
                ("theme", models.CharField(default="auto", max_length=5)),
                ("endings", models.CharField(default="off", max_length=6)),
                ("note", models.CharField(blank=True, max_length=300)),
                ("is_oidc", models.BooleanField(default=False)),
                ("is_demo", models.BooleanField(default=False)),
                ("has_tips", models.BooleanField(default=False)),
                (
                    "password_mark",
                    models.GeneratedField(
                        db_persist=True,
                        expression=models.Func("password", template="encode(sha256(%(expressions)s::bytea), 'hex')"),
                        output_field=models.CharField(max_length=64),
                    ),
                ),
                ("device_epoch", models.PositiveIntegerField(default=0)),
                ("own_per_order", models.BigIntegerField(blank=True, null=True)),
                ("own_per_day", models.BigIntegerField(blank=True, null=True)),
                ("own_approval_above", models.BigIntegerField(blank=True, null=True)),
                (
                    "groups",
                    models.ManyToManyField(
                        blank=True, related_name="user_set", related_query_name="user", to="auth.group"
                    ),
                ),
                (
                    "user_permissions",
                    models.ManyToManyField(
                        blank=True, related_name="user_set", related_query_name="user", to="auth.permission"
                    ),
                ),
                (
                    "branch",
                    models.ForeignKey(
                        db_default=1,
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="people",
                        to="branches.branch",
                    ),
                ),
            ],
            options={
                "db_table": "staff_user",
                "permissions": [
                    ("sell_by_password", "Can sell by password"),
                    ("manage_staff", "Can manage staff"),
                    ("change_limits", "Can change limits"),
                    ("change_roles", "Can change roles"),
                ],
                "default_permissions": (),
                "constraints": [
                    models.UniqueConstraint(
                        django.db.models.functions.text.Upper("username"), name="staff_user_name_in_any_case"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("own_per_order", None), ("own_per_order__gte", 0), _connector="OR"),
                            models.Q(("own_per_day", None), ("own_per_day__gte", 0), _connector="OR"),
                            models.Q(("own_approval_above", None), ("own_approval_above__gte", 0), _connector="OR"),
                        ),
                        name="staff_user_limits_not_negative",
                    ),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="history_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "staff_userhistory" ("branch_id", "date_joined", "device_epoch", "email", "first_name", "id", "is_active", "is_demo", "is_oidc", "is_staff", "is_superuser", "last_name", "note", "own_approval_above", "own_per_day", "own_per_order", "password_mark", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "username") VALUES (NEW."branch_id", NEW."date_joined", NEW."device_epoch", NEW."email", NEW."first_name", NEW."id", NEW."is_active", NEW."is_demo", NEW."is_oidc", NEW."is_staff", NEW."is_superuser", NEW."last_name", NEW."note", NEW."own_approval_above", NEW."own_per_day", NEW."own_per_order", NEW."password_mark", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'insert\', NEW."id", NEW."username"); RETURN NULL;',
                            hash="75b339119d80e944fdfa8f4cf5244cbe7121d6fc",
                            operation="INSERT",
                            pgid="pgtrigger_history_insert_455c5",
                            table="staff_user",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition='WHEN (OLD."branch_id" IS DISTINCT FROM (NEW."branch_id") OR OLD."date_joined" IS DISTINCT FROM (NEW."date_joined") OR OLD."device_epoch" IS DISTINCT FROM (NEW."device_epoch") OR OLD."email" IS DISTINCT FROM (NEW."email") OR OLD."first_name" IS DISTINCT FROM (NEW."first_name") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."is_active" IS DISTINCT FROM (NEW."is_active") OR OLD."is_demo" IS DISTINCT FROM (NEW."is_demo") OR OLD."is_oidc" IS DISTINCT FROM (NEW."is_oidc") OR OLD."is_staff" IS DISTINCT FROM (NEW."is_staff") OR OLD."is_superuser" IS DISTINCT FROM (NEW."is_superuser") OR OLD."last_name" IS DISTINCT FROM (NEW."last_name") OR OLD."note" IS DISTINCT FROM (NEW."note") OR OLD."own_approval_above" IS DISTINCT FROM (NEW."own_approval_above") OR OLD."own_per_day" IS DISTINCT FROM (NEW."own_per_day") OR OLD."own_per_order" IS DISTINCT FROM (NEW."own_per_order") OR OLD."password_mark" IS DISTINCT FROM (NEW."password_mark") OR OLD."username" IS DISTINCT FROM (NEW."username"))',
                            func='INSERT INTO "staff_userhistory" ("branch_id", "date_joined", "device_epoch", "email", "first_name", "id", "is_active", "is_demo", "is_oidc", "is_staff", "is_superuser", "last_name", "note", "own_approval_above", "own_per_day", "own_per_order", "password_mark", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "username") VALUES (NEW."branch_id", NEW."date_joined", NEW."device_epoch", NEW."email", NEW."first_name", NEW."id", NEW."is_active", NEW."is_demo", NEW."is_oidc", NEW."is_staff", NEW."is_superuser", NEW."last_name", NEW."note", NEW."own_approval_above", NEW."own_per_day", NEW."own_per_order", NEW."password_mark", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'update\', NEW."id", NEW."username"); RETURN NULL;',
                            hash="b3673e1e1a95113ea89903e16708d646ab63e024",
                            operation="UPDATE",
                            pgid="pgtrigger_history_update_c3d26",
                            table="staff_user",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "staff_userhistory" ("branch_id", "date_joined", "device_epoch", "email", "first_name", "id", "is_active", "is_demo", "is_oidc", "is_staff", "is_superuser", "last_name", "note", "own_approval_above", "own_per_day", "own_per_order", "password_mark", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "username") VALUES (OLD."branch_id", OLD."date_joined", OLD."device_epoch", OLD."email", OLD."first_name", OLD."id", OLD."is_active", OLD."is_demo", OLD."is_oidc", OLD."is_staff", OLD."is_superuser", OLD."last_name", OLD."note", OLD."own_approval_above", OLD."own_per_day", OLD."own_per_order", OLD."password_mark", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'delete\', OLD."id", OLD."username"); RETURN NULL;',
                            hash="5d122cddf6b04cfed9cb0f5bdd2bc251b3131de8",
                            operation="DELETE",
                            pgid="pgtrigger_history_delete_8356d",
                            table="staff_user",
                            when="AFTER",
                        ),
                    ),
                ],
            },
            managers=[("objects", staff.models.StaffManager())],
        ),
        migrations.CreateModel(
            name="Session",
            fields=[
                ("session_key", models.CharField(max_length=40, primary_key=True, serialize=False)),
                ("session_data", models.TextField()),
                ("expire_date", models.DateTimeField(db_index=True)),
                (
                    "person",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="sessions",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={"db_table": "staff_session"},
        ),
        migrations.CreateModel(
            name="UserHistory",
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
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("id", models.BigIntegerField()),
                ("is_superuser", models.BooleanField(default=False)),
                (
                    "username",
                    models.CharField(
                        error_messages={"unique": "A user with that username already exists."},
                        max_length=150,
                        validators=[django.contrib.auth.validators.UnicodeUsernameValidator()],
                    ),
                ),
                ("first_name", models.CharField(blank=True, max_length=150)),
                ("last_name", models.CharField(blank=True, max_length=150)),
                ("email", models.EmailField(blank=True, max_length=254)),
                ("is_staff", models.BooleanField(default=False)),
                ("is_active", models.BooleanField(default=True)),
                ("date_joined", models.DateTimeField(default=django.utils.timezone.now)),
                ("note", models.CharField(blank=True, max_length=300)),
                ("is_oidc", models.BooleanField(default=False)),
                ("is_demo", models.BooleanField(default=False)),
                ("password_mark", models.CharField(max_length=64)),
                ("device_epoch", models.PositiveIntegerField(default=0)),
                ("own_per_order", models.BigIntegerField(blank=True, null=True)),
                ("own_per_day", models.BigIntegerField(blank=True, null=True)),
                ("own_approval_above", models.BigIntegerField(blank=True, null=True)),
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
                    models.Index(fields=["txid", "pgh_id"], name="user_history_seal"),
                    models.Index(fields=["pgh_obj", "-pgh_id"], name="user_history_row"),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="464d47e144f901bf6656f107d7dca3b63c36b24a",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_c112a",
                            table="staff_userhistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="c68f7afc44eb568cd8b12339027cf84f75dbadaf",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_d187b",
                            table="staff_userhistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="only_copies",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (pg_trigger_depth() = 0)",
                            func="RAISE EXCEPTION 'pgtrigger: Cannot insert rows from % table', TG_TABLE_NAME;",
                            hash="8fa77a513bdd445574cd1224983c6d1996806ea6",
                            operation="INSERT",
                            pgid="pgtrigger_only_copies_e919d",
                            table="staff_userhistory",
                            when="BEFORE",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="AccessLink",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="links", to=settings.AUTH_USER_MODEL
                    ),
                ),
                ("purpose", models.CharField(max_length=6)),
                ("digest", models.CharField(max_length=64, unique=True)),
                (
                    "made_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("made_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField()),
                ("used_at", models.DateTimeField(null=True)),
                ("withdrawn_at", models.DateTimeField(null=True)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("used_at__isnull", True), ("withdrawn_at__isnull", True)),
                        fields=("person",),
                        name="access_link_one_open",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("used_at__isnull", True), ("withdrawn_at__isnull", True), _connector="OR"),
                        name="access_link_ends_once",
                    ),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="history_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "staff_accesslinkhistory" ("expires_at", "id", "made_at", "made_by_id", "person_id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "purpose", "used_at", "withdrawn_at") VALUES (NEW."expires_at", NEW."id", NEW."made_at", NEW."made_by_id", NEW."person_id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'insert\', NEW."id", NEW."purpose", NEW."used_at", NEW."withdrawn_at"); RETURN NULL;',
                            hash="b552bd9f6ada3d07679cf51f4003dec698f9d5f3",
                            operation="INSERT",
                            pgid="pgtrigger_history_insert_c2ced",
                            table="staff_accesslink",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition='WHEN (OLD."expires_at" IS DISTINCT FROM (NEW."expires_at") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."made_at" IS DISTINCT FROM (NEW."made_at") OR OLD."made_by_id" IS DISTINCT FROM (NEW."made_by_id") OR OLD."person_id" IS DISTINCT FROM (NEW."person_id") OR OLD."purpose" IS DISTINCT FROM (NEW."purpose") OR OLD."used_at" IS DISTINCT FROM (NEW."used_at") OR OLD."withdrawn_at" IS DISTINCT FROM (NEW."withdrawn_at"))',
                            func='INSERT INTO "staff_accesslinkhistory" ("expires_at", "id", "made_at", "made_by_id", "person_id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "purpose", "used_at", "withdrawn_at") VALUES (NEW."expires_at", NEW."id", NEW."made_at", NEW."made_by_id", NEW."person_id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'update\', NEW."id", NEW."purpose", NEW."used_at", NEW."withdrawn_at"); RETURN NULL;',
                            hash="eb5f19c2bdb058bd487ee49371e6b23f68c557c4",
                            operation="UPDATE",
                            pgid="pgtrigger_history_update_b6fe1",
                            table="staff_accesslink",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "staff_accesslinkhistory" ("expires_at", "id", "made_at", "made_by_id", "person_id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "purpose", "used_at", "withdrawn_at") VALUES (OLD."expires_at", OLD."id", OLD."made_at", OLD."made_by_id", OLD."person_id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'delete\', OLD."id", OLD."purpose", OLD."used_at", OLD."withdrawn_at"); RETURN NULL;',
                            hash="b5f5b87515bc162c78cc18cf697a69b7c36a6d2b",
                            operation="DELETE",
                            pgid="pgtrigger_history_delete_ce533",
                            table="staff_accesslink",
                            when="AFTER",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="AccessLinkHistory",
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
                        to="staff.accesslink",
                    ),
                ),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("id", models.BigIntegerField()),
                (
                    "person",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("purpose", models.CharField(max_length=6)),
                (
                    "made_by",
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
                ("made_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField()),
                ("used_at", models.DateTimeField(null=True)),
                ("withdrawn_at", models.DateTimeField(null=True)),
            ],
            options={
                "abstract": False,
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["txid", "pgh_id"], name="access_link_history_seal"),
                    models.Index(fields=["pgh_obj", "-pgh_id"], name="access_link_history_row"),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="1a7bb5e78fac65f360af7736f9c558dff4408d0c",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_51c5b",
                            table="staff_accesslinkhistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="7f95726894df02d5a2ff39e82bf9acaecf2b252d",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_de007",
                            table="staff_accesslinkhistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="only_copies",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (pg_trigger_depth() = 0)",
                            func="RAISE EXCEPTION 'pgtrigger: Cannot insert rows from % table', TG_TABLE_NAME;",
                            hash="19b60c48f8c909b60c20ced94d2444845955c463",
                            operation="INSERT",
                            pgid="pgtrigger_only_copies_c79d0",
                            table="staff_accesslinkhistory",
                            when="BEFORE",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="RoleLimits",
            fields=[
                ("role", models.CharField(max_length=20, primary_key=True, serialize=False)),
                ("per_order", models.BigIntegerField(blank=True, null=True)),
                ("per_day", models.BigIntegerField(blank=True, null=True)),
                ("approval_above", models.BigIntegerField(blank=True, null=True)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("per_order", None), ("per_order__gte", 0), _connector="OR"),
                            models.Q(("per_day", None), ("per_day__gte", 0), _connector="OR"),
                            models.Q(("approval_above", None), ("approval_above__gte", 0), _connector="OR"),
                        ),
                        name="role_limits_not_negative",
                    )
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="history_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "staff_rolelimitshistory" ("approval_above", "per_day", "per_order", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "role") VALUES (NEW."approval_above", NEW."per_day", NEW."per_order", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'insert\', NEW."role", NEW."role"); RETURN NULL;',
                            hash="858b9885ec4b8a35360acaf64390c9ca87d9d9b8",
                            operation="INSERT",
                            pgid="pgtrigger_history_insert_03073",
                            table="staff_rolelimits",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                            func='INSERT INTO "staff_rolelimitshistory" ("approval_above", "per_day", "per_order", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "role") VALUES (NEW."approval_above", NEW."per_day", NEW."per_order", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'update\', NEW."role", NEW."role"); RETURN NULL;',
                            hash="0610c5a524b7620e0cbc0d85d5445708b7b268a6",
                            operation="UPDATE",
                            pgid="pgtrigger_history_update_b56a4",
                            table="staff_rolelimits",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "staff_rolelimitshistory" ("approval_above", "per_day", "per_order", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "role") VALUES (OLD."approval_above", OLD."per_day", OLD."per_order", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'delete\', OLD."role", OLD."role"); RETURN NULL;',
                            hash="4341714d666c2c991893321d11c61fc20b1f8298",
                            operation="DELETE",
                            pgid="pgtrigger_history_delete_c7093",
                            table="staff_rolelimits",
                            when="AFTER",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="RoleLimitsHistory",
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
                        to="staff.rolelimits",
                    ),
                ),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("role", models.CharField(max_length=20, serialize=False)),
                ("per_order", models.BigIntegerField(blank=True, null=True)),
                ("per_day", models.BigIntegerField(blank=True, null=True)),
                ("approval_above", models.BigIntegerField(blank=True, null=True)),
            ],
            options={
                "abstract": False,
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["txid", "pgh_id"], name="role_limits_history_seal"),
                    models.Index(fields=["pgh_obj", "-pgh_id"], name="role_limits_history_row"),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="8b25ab501729100f8317ea218ee669dbf106068d",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_a6648",
                            table="staff_rolelimitshistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="c654a4385942de634b339859e52995fe17d91796",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_4abca",
                            table="staff_rolelimitshistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="only_copies",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (pg_trigger_depth() = 0)",
                            func="RAISE EXCEPTION 'pgtrigger: Cannot insert rows from % table', TG_TABLE_NAME;",
                            hash="d4e8009355923ede74c24fae9c14a53bf0c96e82",
                            operation="INSERT",
                            pgid="pgtrigger_only_copies_10fea",
                            table="staff_rolelimitshistory",
                            when="BEFORE",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Membership",
            fields=[],
            options={"proxy": True, "default_permissions": (), "indexes": [], "constraints": []},
            bases=("staff.user_groups",),
        ),
        migrations.CreateModel(
            name="MembershipHistory",
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
                        to="staff.membership",
                    ),
                ),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("id", models.BigIntegerField()),
                (
                    "user",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        db_tablespace="",
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "group",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        db_tablespace="",
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="auth.group",
                    ),
                ),
            ],
            options={
                "abstract": False,
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["txid", "pgh_id"], name="membership_history_seal"),
                    models.Index(fields=["pgh_obj", "-pgh_id"], name="membership_history_row"),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="6c988ba8e20eb51648d902aaf7a3b6d091e7c705",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_32301",
                            table="staff_membershiphistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="22982966ee86f40e094737f5950d53787d605102",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_35844",
                            table="staff_membershiphistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="only_copies",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (pg_trigger_depth() = 0)",
                            func="RAISE EXCEPTION 'pgtrigger: Cannot insert rows from % table', TG_TABLE_NAME;",
                            hash="43c96d33a451942d444883bcac45404b3fbe0e77",
                            operation="INSERT",
                            pgid="pgtrigger_only_copies_6110c",
                            table="staff_membershiphistory",
                            when="BEFORE",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="OwnPermission",
            fields=[],
            options={"proxy": True, "default_permissions": (), "indexes": [], "constraints": []},
            bases=("staff.user_user_permissions",),
        ),
        migrations.CreateModel(
            name="OwnPermissionHistory",
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
                        to="staff.ownpermission",
                    ),
                ),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("id", models.BigIntegerField()),
                (
                    "user",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        db_tablespace="",
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "permission",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        db_tablespace="",
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="auth.permission",
                    ),
                ),
            ],
            options={
                "abstract": False,
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["txid", "pgh_id"], name="own_permission_history_seal"),
                    models.Index(fields=["pgh_obj", "-pgh_id"], name="own_permission_history_row"),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="98b8b9060196ebd21871fc4b745bd4e230195eb9",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_c77aa",
                            table="staff_ownpermissionhistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="3434cf1ac9be0d481992fb1b2e0aa36b4166856a",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_9edd0",
                            table="staff_ownpermissionhistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="only_copies",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (pg_trigger_depth() = 0)",
                            func="RAISE EXCEPTION 'pgtrigger: Cannot insert rows from % table', TG_TABLE_NAME;",
                            hash="d9a1301557a51833b41a48f3f79c12fe8f773c49",
                            operation="INSERT",
                            pgid="pgtrigger_only_copies_79ab7",
                            table="staff_ownpermissionhistory",
                            when="BEFORE",
                        ),
                    ),
                ],
            },
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="rolepermission",
            trigger=pgtrigger.compiler.Trigger(
                name="history_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "staff_rolepermissionhistory" ("group_id", "id", "permission_id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id") VALUES (NEW."group_id", NEW."id", NEW."permission_id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'insert\', NEW."id"); RETURN NULL;',
                    hash="a389832128748a9e66c929292c36c8578cb260fa",
                    operation="INSERT",
                    pgid="pgtrigger_history_insert_cbdd6",
                    table="auth_group_permissions",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="rolepermission",
            trigger=pgtrigger.compiler.Trigger(
                name="history_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "staff_rolepermissionhistory" ("group_id", "id", "permission_id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id") VALUES (NEW."group_id", NEW."id", NEW."permission_id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'update\', NEW."id"); RETURN NULL;',
                    hash="fd505e8c8b0e2f99efe38bd38e728d14f9f30020",
                    operation="UPDATE",
                    pgid="pgtrigger_history_update_54bb4",
                    table="auth_group_permissions",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="rolepermission",
            trigger=pgtrigger.compiler.Trigger(
                name="history_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "staff_rolepermissionhistory" ("group_id", "id", "permission_id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id") VALUES (OLD."group_id", OLD."id", OLD."permission_id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'delete\', OLD."id"); RETURN NULL;',
                    hash="cffbc1e4383d542b8069f4fa232200b9f599c46a",
                    operation="DELETE",
                    pgid="pgtrigger_history_delete_08f8d",
                    table="auth_group_permissions",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="rolegroup",
            trigger=pgtrigger.compiler.Trigger(
                name="history_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "staff_rolegrouphistory" ("id", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id") VALUES (NEW."id", NEW."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'insert\', NEW."id"); RETURN NULL;',
                    hash="cee64c6ae86ac9f58a3a79b9b81697d4e733d6fe",
                    operation="INSERT",
                    pgid="pgtrigger_history_insert_321eb",
                    table="auth_group",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="rolegroup",
            trigger=pgtrigger.compiler.Trigger(
                name="history_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "staff_rolegrouphistory" ("id", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id") VALUES (NEW."id", NEW."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'update\', NEW."id"); RETURN NULL;',
                    hash="15a00a61b22751280d86d43faf7fb62303683212",
                    operation="UPDATE",
                    pgid="pgtrigger_history_update_08ed4",
                    table="auth_group",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="rolegroup",
            trigger=pgtrigger.compiler.Trigger(
                name="history_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "staff_rolegrouphistory" ("id", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id") VALUES (OLD."id", OLD."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'delete\', OLD."id"); RETURN NULL;',
                    hash="5df84fdefb02c495f3a4e03bc11af634330e12b4",
                    operation="DELETE",
                    pgid="pgtrigger_history_delete_41eb7",
                    table="auth_group",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="membership",
            trigger=pgtrigger.compiler.Trigger(
                name="history_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "staff_membershiphistory" ("group_id", "id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "user_id") VALUES (NEW."group_id", NEW."id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'insert\', NEW."id", NEW."user_id"); RETURN NULL;',
                    hash="acce22ae69d2f16cfff5b036b109fc269c8fa054",
                    operation="INSERT",
                    pgid="pgtrigger_history_insert_a1e95",
                    table="staff_user_groups",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="membership",
            trigger=pgtrigger.compiler.Trigger(
                name="history_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "staff_membershiphistory" ("group_id", "id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "user_id") VALUES (NEW."group_id", NEW."id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'update\', NEW."id", NEW."user_id"); RETURN NULL;',
                    hash="25a7bc4be500c5016bba2345964cb9ae972bf730",
                    operation="UPDATE",
                    pgid="pgtrigger_history_update_403cf",
                    table="staff_user_groups",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="membership",
            trigger=pgtrigger.compiler.Trigger(
                name="history_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "staff_membershiphistory" ("group_id", "id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "user_id") VALUES (OLD."group_id", OLD."id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'delete\', OLD."id", OLD."user_id"); RETURN NULL;',
                    hash="a6328f591bcdc1532897986847578f06549e4417",
                    operation="DELETE",
                    pgid="pgtrigger_history_delete_ab00a",
                    table="staff_user_groups",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="ownpermission",
            trigger=pgtrigger.compiler.Trigger(
                name="history_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "staff_ownpermissionhistory" ("id", "permission_id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "user_id") VALUES (NEW."id", NEW."permission_id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'insert\', NEW."id", NEW."user_id"); RETURN NULL;',
                    hash="c86f5e2889ad0f8927b58ef9146251798bac8ec1",
                    operation="INSERT",
                    pgid="pgtrigger_history_insert_71e0c",
                    table="staff_user_user_permissions",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="ownpermission",
            trigger=pgtrigger.compiler.Trigger(
                name="history_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "staff_ownpermissionhistory" ("id", "permission_id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "user_id") VALUES (NEW."id", NEW."permission_id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'update\', NEW."id", NEW."user_id"); RETURN NULL;',
                    hash="94a020bdbd4aa01f067f827e0d05c0dd72dff6a1",
                    operation="UPDATE",
                    pgid="pgtrigger_history_update_26af4",
                    table="staff_user_user_permissions",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="ownpermission",
            trigger=pgtrigger.compiler.Trigger(
                name="history_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "staff_ownpermissionhistory" ("id", "permission_id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "user_id") VALUES (OLD."id", OLD."permission_id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'delete\', OLD."id", OLD."user_id"); RETURN NULL;',
                    hash="4fa27e8caf9e15fdace8a0a1c398f20f6e188e6e",
                    operation="DELETE",
                    pgid="pgtrigger_history_delete_b985d",
                    table="staff_user_user_permissions",
                    when="AFTER",
                ),
            ),
        ),
    ]
