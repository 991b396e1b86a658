import django.core.validators
import django.db.models.deletion
import pgtrigger.compiler
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("bills", "0001_initial"),
        ("customers", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="FollowedNumber",
            fields=[
                (
                    "number",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="followed",
                        serialize=False,
                        to="customers.savednumber",
                    ),
                ),
                (
                    "day",
                    models.PositiveSmallIntegerField(
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(31),
                        ]
                    ),
                ),
                (
                    "fine_day",
                    models.PositiveSmallIntegerField(
                        blank=True,
                        null=True,
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(31),
                        ],
                    ),
                ),
                ("first_month", models.DateField()),
                ("is_kept", models.BooleanField(default=False)),
            ],
            options={
                "default_permissions": (),
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="f25796f25cdfd781d9a8a7f7af231472ddf5bd9d",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_9e9a9",
                            table="dues_followednumber",
                            when="BEFORE",
                        ),
                    )
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("day__gte", 1), ("day__lte", 31)), name="followed_on_a_day"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("fine_day__isnull", True),
                            models.Q(("fine_day__gte", 1), ("fine_day__lte", 31)),
                            _connector="OR",
                        ),
                        name="followed_fine_on_a_day",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="DueBill",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                ("month", models.DateField()),
                ("due_on", models.DateField()),
                ("fine_on", models.DateField(null=True)),
                ("ask_at", models.DateTimeField()),
                ("asked_at", models.DateTimeField(null=True)),
                ("was_unpaid", models.BooleanField(default=False)),
                ("closed_at", models.DateTimeField(null=True)),
                ("outcome", models.CharField(blank=True, max_length=10)),
                (
                    "bill_check",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="bills.billcheck"
                    ),
                ),
                (
                    "number",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="due_bills",
                        to="customers.savednumber",
                    ),
                ),
            ],
            options={
                "default_permissions": (),
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="closed_once",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition='WHEN (OLD."closed_at" IS NOT NULL)',
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                            hash="ca56805f4effbf7f7cb16fb868bcacdeaa4acf29",
                            operation="UPDATE",
                            pgid="pgtrigger_closed_once_bb7ed",
                            table="dues_duebill",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="9cd73c1eb300a74021801b599b30426725187340",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_64836",
                            table="dues_duebill",
                            when="BEFORE",
                        ),
                    ),
                ],
                "indexes": [
                    models.Index(
                        condition=models.Q(("closed_at", None)), fields=["due_on", "id"], name="due_bill_open"
                    ),
                    models.Index(fields=["outcome", "-due_on", "-id"], name="due_bill_ended"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("number", "month"), name="due_bill_once_a_month"),
                    models.UniqueConstraint(
                        condition=models.Q(("closed_at", None)), fields=("number",), name="due_bill_one_open"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("closed_at", None), ("outcome", "")),
                            models.Q(("closed_at__isnull", False), models.Q(("outcome", ""), _negated=True)),
                            _connector="OR",
                        ),
                        name="due_bill_closed_with_outcome",
                    ),
                ],
            },
        ),
    ]
