import django.db.models.deletion
import django.utils.timezone
import pgtrigger.compiler
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [("staff", "0001_initial")]

    operations = [
        migrations.CreateModel(
            name="Evaluation",
            fields=[
                ("only", models.BooleanField(default=True, editable=False, primary_key=True, serialize=False)),
                ("turn_until", models.DateTimeField()),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("only", True)), name="evaluation_is_one_row")
                ]
            },
        ),
        migrations.CreateModel(
            name="Alert",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                ("kind", models.CharField(max_length=30)),
                ("key", models.CharField(blank=True, max_length=100)),
                ("severity", models.IntegerField()),
                ("facts", models.JSONField(default=dict)),
                ("opened_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("closed_at", models.DateTimeField(null=True)),
            ],
            options={
                "ordering": ["-pk"],
                "permissions": [("view_alert", "Can view alert")],
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["-opened_at", "-id"], name="alert_newest"),
                    models.Index(fields=["closed_at"], name="alert_by_end"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("closed_at__isnull", True)), fields=("kind", "key"), name="alert_open_once"
                    )
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="what_it_is_about_never_changes",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition='WHEN (OLD."kind" IS DISTINCT FROM (NEW."kind") OR OLD."key" IS DISTINCT FROM (NEW."key") OR OLD."opened_at" IS DISTINCT FROM (NEW."opened_at"))',
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                            hash="d912fdc87e25f316ff5f54bce32d3993a10c9754",
                            operation="UPDATE",
                            pgid="pgtrigger_what_it_is_about_never_changes_95b07",
                            table="alerts_alert",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="closed_once",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition='WHEN (OLD."closed_at" IS NOT NULL)',
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                            hash="80aaafdd3cdea654148787e66bf68cb4d582d215",
                            operation="UPDATE",
                            pgid="pgtrigger_closed_once_adc84",
                            table="alerts_alert",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_deleted",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;",
                            hash="0e6b7f85acaab8dc92501e8c0dcb40798bc7deb3",
                            operation="DELETE",
                            pgid="pgtrigger_never_deleted_d982e",
                            table="alerts_alert",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="89c2115fde947e8cbc96a3a2bf90c5b43a0ac7ef",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_343de",
                            table="alerts_alert",
                            when="BEFORE",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="AlertNotice",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "alert",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="notices", to="alerts.alert"
                    ),
                ),
                ("way", models.CharField(max_length=16)),
                ("service", models.CharField(max_length=100)),
                ("notified_at", models.DateTimeField(null=True)),
                ("end_notified_at", models.DateTimeField(null=True)),
                ("not_before", models.DateTimeField(null=True)),
                ("failures", models.PositiveSmallIntegerField(default=0)),
                ("fault", models.CharField(blank=True, max_length=10)),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("end_notified_at__isnull", True)),
                        fields=["way"],
                        name="alert_notice_unfinished",
                    )
                ],
                "constraints": [models.UniqueConstraint(fields=("alert", "way"), name="alert_notice_once")],
            },
        ),
        migrations.CreateModel(
            name="AlertSnooze",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "alert",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="snoozes", to="alerts.alert"
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("at", models.DateTimeField()),
                ("until", models.DateTimeField()),
                ("severity", models.IntegerField()),
                ("grade", models.IntegerField()),
            ],
            options={
                "indexes": [models.Index(fields=["person", "-at"], name="alert_snooze_of_person")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("until__gte", models.F("at"))), name="alert_snooze_ends_after_it_began"
                    )
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="546a9c853c6ea3a31aabe8d0a1842a4965bb06ca",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_d4052",
                            table="alerts_alertsnooze",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="941c96b4255588764e1e5c3686992b6c8f2ded6c",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_dcabe",
                            table="alerts_alertsnooze",
                            when="BEFORE",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ResultChoice",
            fields=[
                (
                    "person",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("evening", models.BooleanField(default=False)),
                ("weekly", models.BooleanField(default=False)),
                ("chosen_at", models.DateTimeField()),
            ],
            options={"default_permissions": ()},
        ),
        migrations.CreateModel(
            name="ResultMessage",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                ("span", models.CharField(max_length=7)),
                ("day", models.DateField()),
                ("way", models.CharField(max_length=16)),
                ("service", models.CharField(max_length=100)),
                ("state", models.CharField(max_length=7)),
                ("at", models.DateTimeField()),
                ("tries", models.PositiveSmallIntegerField(default=1)),
            ],
            options={
                "default_permissions": (),
                "constraints": [models.UniqueConstraint(fields=("span", "day", "way"), name="result_message_once")],
            },
        ),
    ]
